"""The Python API available through `import omibench`, one module per subject."""
