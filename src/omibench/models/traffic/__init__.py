"""Sending requests: retries, adaptive concurrency, rate caps and the main loop."""
