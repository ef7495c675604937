"""Agreement beyond chance between annotators who rate the same units."""
