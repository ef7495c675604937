"""Experts: small models of vision that carry out tools, behind one local server."""
