"""Files of words that a study names: its folder of prompts, and where each file is used."""
