"""Parts of the block `filter:`: presets of reasons, and judging models."""
