"""The Python API: what `import omibench` offers, one module a subject."""
