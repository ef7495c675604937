"""Rows and documents that omibench reads and writes, and their files."""
