"""A server that sends requests on: keys and problems go to the address of the model alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from pydantic import SecretStr
from tests.asks import ask
from tests.models.apis import KEY_ENV, openai_model
from tests.security.hostile import Answer, Got, Hostile, hostile
from tests.security.surfaces import SURFACES, find_error

from model_server.handle import KEY
from omibench.errors import ModelError
from omibench.models.api.hooks import CrossOriginRedirect, Hooks
from omibench.models.openai import OpenAIProvider

CHOICE = b'{"choices":[{"message":{"content":"7"},"finish_reason":"stop"}]}'


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_ENV, KEY)


@pytest.fixture
def thief() -> Iterator[Hostile]:
    """Where requests are sent on to: nothing may ever arrive."""
    with hostile(lambda got: Answer(pieces=[CHOICE])) as server:
        yield server
        assert server.got == []


def sends_on(to: str, status: int) -> Answer:
    return Answer(status, {"location": f"{to}/v1/chat/completions", "content-length": "0"})


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("surface", SURFACES)
def test_no_surface_follows_to_another_server(
    thief: Hostile, surface: str, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with hostile(lambda got: sends_on(thief.url, status)) as server:
        monkeypatch.setenv("HOOK", f"{server.url}/planted-secret-path")
        error = find_error(surface, server.url, tmp_path)
    # Each later request would be sent on as well, so the run ends.
    assert type(error) is ModelError
    said = str(error)
    # The address of a webhook is a secret, as is where it leads.
    told = f"HTTP {status}: it redirects" if surface == "webhook" else f"redirects to {thief.url}"
    assert told in said
    assert (thief.url in said) is (surface != "webhook")
    assert KEY not in said
    assert "planted" not in said
    if surface in {"chat", "messages"}:
        assert "base_url" in said
        assert len(server.got) == 1


def test_within_the_same_origin_is_followed() -> None:
    def reply(got: Got) -> Answer:
        if got.path.endswith("/"):
            return Answer(pieces=[CHOICE])
        return Answer(307, {"location": f"{got.path}/", "content-length": "0"})

    with hostile(reply) as server:
        model = OpenAIProvider("m", openai_model(base_url=server.url))
        ((_, response),) = model.answer([ask("Problem")])
    assert response.text == "7"
    assert [b"Problem" in got.body for got in server.got] == [True, True]


@pytest.mark.parametrize(
    "to", ["http://a.org/v1", "https://a.org:8443/v1", "https://b.org/v1", "https://a.org.b.org/"]
)
def test_another_scheme_host_or_port_is_another_origin(to: str) -> None:
    hooks = Hooks()
    (check,) = hooks.of_client()["request"]
    check(httpx2.Request("POST", "https://a.org/v1/x"))
    check(httpx2.Request("POST", "https://a.org:443/v2"))
    with pytest.raises(CrossOriginRedirect):
        check(httpx2.Request("POST", to))


def test_files_of_a_batch_that_lie_elsewhere_are_fetched_by_tls_alone(thief: Hostile) -> None:
    from io import BytesIO

    from omibench.models.api.failures import Failure

    with hostile(lambda got: sends_on(thief.url, 302)) as server:
        model = OpenAIProvider("m", openai_model(base_url=server.url, batch=True))
        with (
            model.connect_batches(SecretStr(KEY)) as api,
            pytest.raises(Failure, match="without TLS"),
        ):
            api.download("file-1", BytesIO())
