"""Rule books: published and own rules of scoring, one pure function each."""
