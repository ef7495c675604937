"""The live log of a review: events, what they make of tasks, drafts, claims, passwords."""
