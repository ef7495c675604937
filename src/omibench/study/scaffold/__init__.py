"""Templates of new plug-ins with tests."""
