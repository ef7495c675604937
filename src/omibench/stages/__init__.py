"""The stages of the graph, one folder each."""
