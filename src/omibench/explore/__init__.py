"""Browser for single items: the requests to models, their responses, and the scoring."""
