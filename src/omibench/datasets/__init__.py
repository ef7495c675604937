"""Benchmarks that others published, each read by one small adapter."""
