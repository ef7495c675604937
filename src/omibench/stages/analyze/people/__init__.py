"""People as respondents: their answers scored as responses are, on the problems they were given."""
