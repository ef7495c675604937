"""What the block `filter:` is made of: presets of reasons, and the models that judge."""
