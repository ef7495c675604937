"""One part of each kind that a plug-in of omibench can bring."""
