"""The ledger: what studies have spent and reserved, and what lost attempts are charged."""
