"""Asking through providers' batch APIs: submitted once, collected after any death."""
