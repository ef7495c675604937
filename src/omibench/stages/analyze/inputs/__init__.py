"""Inputs of the report that are not results of stages: people's answers, other scores."""
