"""One example of each part that a plug-in of omibench can provide."""
