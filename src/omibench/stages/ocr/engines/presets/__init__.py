"""Presets for document readers served as models: their requests and replies."""
