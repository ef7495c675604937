"""Pages of the documentation site generated from the code, and links between all pages."""
