"""Releases of `omibench release build`, read as untrusted files: bounded and contained."""
