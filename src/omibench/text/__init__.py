"""Untrusted text made safe to show: secrets masked, terminals protected, prompts fenced."""
