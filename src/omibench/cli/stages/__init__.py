"""The verbs of the stages, which the jobs of the graph are."""
