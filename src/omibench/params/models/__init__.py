"""The blocks under `models:` in params.yaml: the common base, and one module per provider."""
