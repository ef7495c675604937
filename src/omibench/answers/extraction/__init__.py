"""Extraction of answers from responses: boxes, cue phrases, option letters, structured output."""
