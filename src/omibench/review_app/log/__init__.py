"""The live log of a review: events, task states, drafts, claims, passwords."""
