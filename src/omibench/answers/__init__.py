"""Answer comparison: extract answers from responses and compare them with gold answers."""
