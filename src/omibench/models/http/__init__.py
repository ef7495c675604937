"""The common parts of all API clients: bounded exchanges, replies, secrets, pictures."""
