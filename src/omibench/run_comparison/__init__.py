"""Two runs compared: which share of a difference each change between them has."""
