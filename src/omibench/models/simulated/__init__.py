"""Seeded simulations of models in every role."""
