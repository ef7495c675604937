"""The store of responses: a request is bought once (design, section 5)."""
