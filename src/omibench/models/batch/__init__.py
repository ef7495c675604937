"""Requests through the providers' batch APIs: submitted once, collected even after a crash."""
