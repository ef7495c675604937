"""The `recorded` provider: published responses, replayed."""
