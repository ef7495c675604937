"""Document readers that are served as models: how each is asked for pages, and what it replies."""
