"""Chemical formulas and reactions in any notation."""
