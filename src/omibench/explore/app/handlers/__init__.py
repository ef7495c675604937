"""What the explorer answers, one function an address."""
