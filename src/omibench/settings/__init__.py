"""Settings: how a problem is put to a model (design, section 6)."""
