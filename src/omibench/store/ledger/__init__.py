"""The ledger: the spending and reservations of studies, and the charges of lost attempts."""
