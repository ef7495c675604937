"""infer: every question of the frozen dataset, put to one model under one setting."""
