"""The stage commands, which the jobs of the graph run."""
