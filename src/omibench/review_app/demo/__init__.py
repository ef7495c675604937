"""A demonstration: invented tasks of every kind, invented people, nothing that is kept."""
