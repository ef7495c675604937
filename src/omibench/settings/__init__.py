"""Settings: how a problem is presented to a model (design, section 6)."""
