"""Attacks: hostile replies, files and addresses, and what holds against each."""
