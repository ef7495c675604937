"""Templates of new parts, with their tests: in a checkout of omibench, or as a plug-in's file."""
