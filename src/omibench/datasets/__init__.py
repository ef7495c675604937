"""Published benchmarks, each read by a small adapter."""
