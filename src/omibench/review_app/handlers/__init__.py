"""What the application answers, one function an address."""
