"""Templates of new parts with tests, in a checkout of omibench or as a plug-in file."""
