"""Text of others, made safe to show: secrets masked, terminals protected, prompts fenced."""
