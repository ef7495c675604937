"""Chemical formulas and reactions, however they are spelt."""
