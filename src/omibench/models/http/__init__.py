"""What all clients of APIs share: bounded exchanges, replies, secrets, pictures."""
