"""A new study outside the repository."""
