"""Applications served to browsers: addresses, limits and protection from other sites."""
