"""The blocks under `models:` in params.yaml: what all share, and one module a provider."""
