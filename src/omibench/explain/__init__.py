"""Why responses are right or wrong, for a person: `omibench score --explain ID`."""
