"""Clients of APIs: connections, limits, retries, batches and the loop that sends requests."""
