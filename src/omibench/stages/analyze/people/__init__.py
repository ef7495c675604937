"""People as respondents: their answers, scored as responses are."""
