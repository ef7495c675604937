"""Sources of papers: the manifest, downloads, and checks before a file is opened."""
