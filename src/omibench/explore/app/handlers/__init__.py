"""Request handlers of the explorer, one function per address."""
