"""Answer comparison: what a response answered, and whether that equals a gold."""
