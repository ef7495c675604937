"""A batch API whose SDK is not installed: one line that names the command that installs it."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from omibench.errors import MissingExtraError
from omibench.models.anthropic.provider import AnthropicProvider
from omibench.models.openai.provider import OpenAIProvider
from omibench.params.models.providers import AnthropicModel, OpenAIModel

BLOCK = {"id": "model", "batch": True}


@pytest.mark.parametrize("sdk", ["openai", "anthropic"])
def test_a_missing_sdk_is_one_line(
    sdk: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("omibench.extras.missing_modules", list)
    provider = {
        "openai": lambda: OpenAIProvider(
            "m", OpenAIModel.model_validate(BLOCK | {"provider": sdk}), tmp_path
        ),
        "anthropic": lambda: AnthropicProvider(
            "m", AnthropicModel.model_validate(BLOCK | {"provider": sdk}), tmp_path
        ),
    }[sdk]()
    with (
        pytest.raises(MissingExtraError, match=rf"model 'm' needs {sdk}, .*omibench\[api\]"),
        provider.connect_batches(SecretStr("no key")),
    ):
        pass
