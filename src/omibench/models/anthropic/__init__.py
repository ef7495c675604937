"""The `anthropic` provider: the messages API and its batches."""
