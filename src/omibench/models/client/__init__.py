"""Spending outside `ask`: budget accounting, and settling lost attempts with provider bills."""
