"""Request handlers, one function per address."""
