"""The blocks of params.yaml that belong to a stage, one module per stage."""
