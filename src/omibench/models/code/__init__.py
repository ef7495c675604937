"""The tool `python`: code of a model, run in a sandbox."""
