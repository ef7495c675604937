"""Custom prompt files of a study: its folder of prompts, and the use of each file."""
