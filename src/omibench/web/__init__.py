"""Pages that omibench writes: templates whose every value is escaped."""
