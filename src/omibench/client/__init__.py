"""The budget by hand: what is booked, and settling what was lost by what the provider billed."""
