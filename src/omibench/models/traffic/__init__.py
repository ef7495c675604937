"""How requests travel: retries, adaptive concurrency, rate caps and the loop that runs them."""
