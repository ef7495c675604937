"""Response files of other tools, recognised by their content and read row by row."""
