"""Applications that are served to browsers: where they listen, and what no other site may do."""
