"""Releases of `omibench release build`, read as files of others: bounded and contained."""
