"""Models that run on this machine: the providers `transformers` and `vllm`."""
