"""How far people who rate the same units agree, beyond chance."""
