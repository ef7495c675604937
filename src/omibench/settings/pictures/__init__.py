"""Derived pictures: files that some conditions show instead of the originals."""
