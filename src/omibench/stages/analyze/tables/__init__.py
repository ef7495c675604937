"""From verdicts to tables: numbers only, worded elsewhere."""
