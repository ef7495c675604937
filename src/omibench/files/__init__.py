"""Input and output: files of others read within bounds, our own written whole."""
