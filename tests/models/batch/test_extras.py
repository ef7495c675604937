"""A batch API whose SDK is not installed: one line that names the command that installs it."""

from __future__ import annotations

import pytest
from pydantic import SecretStr
from tests.models.apis import provider

from omibench.errors import MissingExtraError


@pytest.mark.parametrize(("api", "sdk"), [("chat", "openai"), ("messages", "anthropic")])
def test_a_missing_sdk_is_one_line(api: str, sdk: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("omibench.extras.missing_modules", list)
    with (
        pytest.raises(MissingExtraError, match=rf"model 'm' needs {sdk}, .*omibench\[api\]"),
        provider(None, api, batch=True).connect_batches(SecretStr("no key")),
    ):
        pass
