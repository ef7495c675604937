"""The `simulated` provider: seeded stand-ins for models in every role."""
