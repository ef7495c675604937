"""A second reading of doubtful formulas by a model that sees their crops."""
