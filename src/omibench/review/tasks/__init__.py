"""Review tasks made from a study's results, written by `omibench review assign`."""
