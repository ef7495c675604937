"""Look at single items: what models were asked, what they said, and how that was scored."""
