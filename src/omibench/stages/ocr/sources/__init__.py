"""Papers on their way in: the manifest, downloads, checks before a file is opened."""
