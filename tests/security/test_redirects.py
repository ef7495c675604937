"""A server that sends requests on: keys and problems go to the address of the model alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from pydantic import SecretStr
from tests.models.apis import KEY_ENV, anthropic_model, ask, openai_model
from tests.models.batch.conftest import FAST
from tests.security.hostile import Answer, Got, Hostile, hostile

from model_server.handle import KEY
from omibench.errors import ModelError
from omibench.models.anthropic.provider import AnthropicProvider
from omibench.models.api.hooks import CrossOriginRedirect, Hooks
from omibench.models.openai.provider import OpenAIProvider
from omibench.params.reevaluate import EndpointWatch
from omibench.stages.ocr.engines.mathpix import Client, read_image, read_pdf
from omibench.study.reevaluate.changes import post
from omibench.study.reevaluate.poll import list_models

CHOICE = b'{"choices":[{"message":{"content":"7"},"finish_reason":"stop"}]}'
redirects = pytest.mark.parametrize("status", [302, 307])


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
@pytest.mark.parametrize("api", ["chat", "messages"])
def test_of_a_model(thief: Hostile, api: str, status: int) -> None:
    with hostile(lambda got: sends_on(thief.url, status)) as server:
        base = {"base_url": server.url}
        asked = (
            AnthropicProvider("m", anthropic_model(**base))
            if api == "messages"
            else OpenAIProvider("m", openai_model(api=api, **base))
        )
        with pytest.raises(ModelError, match=f"it redirects to {thief.url}") as caught:
            list(asked.answer([ask("Problem")]))
    assert "base_url" in str(caught.value)
    assert KEY not in str(caught.value)
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


@redirects
def test_of_a_batch_when_it_is_made(thief: Hostile, status: int, tmp_path: Path) -> None:
    with hostile(lambda got: sends_on(thief.url, status)) as server:
        for made in (
            OpenAIProvider("m", openai_model(base_url=server.url, batch=True), tmp_path),
            AnthropicProvider("m", anthropic_model(base_url=server.url, batch=True), tmp_path),
        ):
            made.poll_interval = FAST
            with pytest.raises(ModelError, match="redirects to"):
                list(made.answer([ask("Problem")]))


@redirects
def test_of_a_list_of_models(thief: Hostile, status: int) -> None:
    with hostile(lambda got: sends_on(thief.url, status)) as server:
        for provider in ("openai", "anthropic"):
            block = {"provider": provider, "base_url": server.url, "key_env": KEY_ENV}
            watch = EndpointWatch.model_validate(
                {"kind": "endpoint", "match": ["*"], "model": block}
            )
            with pytest.raises(ModelError, match="redirects to"):
                list_models("lab", watch)


@redirects
def test_of_mathpix(thief: Hostile, status: int, tmp_path: Path) -> None:
    with hostile(lambda got: sends_on(thief.url, status)) as server:
        client = Client(server.url, "an-app-id", KEY, tmp_path, pause=0.0)
        with pytest.raises(ModelError, match=f"it redirects to {thief.url}"):
            read_pdf(client, b"%PDF-1.7", "abc")
        with pytest.raises(ModelError, match=f"it redirects to {thief.url}"):
            read_image(client, b"png", "def")


@redirects
def test_of_a_webhook(thief: Hostile, status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with hostile(lambda got: sends_on(thief.url, status)) as server:
        monkeypatch.setenv("HOOK", f"{server.url}/planted-secret-path")
        with pytest.raises(ModelError, match=f"HTTP {status}: it redirects") as caught:
            post({"text": "news"}, "HOOK")
    assert "planted" not in str(caught.value)
    assert thief.url not in str(caught.value)


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
