"""A local server that speaks the OpenAI and Anthropic APIs and misbehaves on demand.

It stands in for a provider in tests and benchmarks: answers follow from the request alone, faults
are drawn from the request and its attempt, and every answer that a provider would bill is counted.
Start it with `model_server.handle.running_server`, or by hand from the root of the checkout with
`python -m tests.model_server --config '{"latency_s": 0.2}'`.
"""
