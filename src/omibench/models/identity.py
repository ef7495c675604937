"""What the answers of a model behind an API depend on beside the request: it enters the key.

Apart from the clients of these APIs: how they ask and read is in the store once it is bought, and
a change of it makes no job run again (`graph/code_hash.py`); a change here does.
"""

from __future__ import annotations

from typing import Any

from omibench.params.model import AnthropicModel, OpenAIModel


def openai_identity(model: OpenAIModel) -> dict[str, Any]:
    """As `Provider.identity`."""
    switches = {
        "revision": model.revision,
        "endpoint": model.endpoint if model.endpoint != "default" else None,
        "api": model.api if model.api != "chat" else None,
        "effort": model.effort,
        "detail": model.detail,
        "extra_body": model.extra_body or None,
        "sampling": None if model.can.temperature else "provider_default",
    }
    known = {name: value for name, value in switches.items() if value is not None}
    return {"provider": "openai", "id": model.id, **known}


def anthropic_identity(model: AnthropicModel) -> dict[str, Any]:
    """As `Provider.identity`."""
    switches = {
        "revision": model.revision,
        "endpoint": model.endpoint if model.endpoint != "default" else None,
        "thinking": model.thinking,
        "effort": model.effort,
    }
    known = {name: value for name, value in switches.items() if value is not None}
    return {"provider": "anthropic", "id": model.id, **known}
