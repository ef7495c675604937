"""The explorer as a web application."""
