"""Models that run on this machine: vLLM, transformers, sentence-transformers."""
