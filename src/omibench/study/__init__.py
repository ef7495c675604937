"""A study from outside: its plan, runs, status and schedule, and the folder it is made in."""
