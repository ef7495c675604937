"""Prefect flows: what is bound by APIs, scheduled with retries; Snakemake builds the rest."""
