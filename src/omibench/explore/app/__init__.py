"""The explorer as a web application: what it answers, and from which files."""
