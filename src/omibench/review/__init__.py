"""Human review of problems: decisions in plain files, applied when a dataset is frozen."""
