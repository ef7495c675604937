"""Signs on the page around a formula that it may have been misread."""
