"""status: the progress of a study, read from its files while other processes write them."""
