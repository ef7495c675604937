"""The code of a tiny model with `chat`, as it lies beside its weights."""
