"""The reasons for which the filter rejects a problem: `one_problem` alone, or for `duplicates`."""
