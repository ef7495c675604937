"""What people have responses in: files of other tools, told by their content, read row by row."""
