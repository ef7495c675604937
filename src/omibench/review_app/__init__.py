"""The application in which people decide: a server, and pages that run without any other host."""
