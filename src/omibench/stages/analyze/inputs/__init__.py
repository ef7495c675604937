"""Files of others that the report reads beside the stages': people's answers, other scores."""
