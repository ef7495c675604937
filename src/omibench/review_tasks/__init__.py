"""Tasks for people, made from a study's results: what `omibench review assign` writes."""
