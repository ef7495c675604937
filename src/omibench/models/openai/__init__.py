"""The `openai` provider: chat completions, Responses and their batches."""
