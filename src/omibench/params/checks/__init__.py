"""What is checked over several blocks of params.yaml."""
