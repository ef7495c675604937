"""The store of responses: each request is sent and billed once (design, section 5)."""
