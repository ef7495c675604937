"""What an endpoint or a hub lists, and how it fails: one line, and whether it may pass."""

from __future__ import annotations

from typing import Any

import pytest

from model_server.handle import ServerHandle
from omibench.errors import ModelError, PassingError
from omibench.params.reevaluate import EndpointWatch, HubWatch
from omibench.study.reevaluate.poll import list_models

SECRET = "sk-planted-Q7xK2mZ9vB4nW8tR"
LOCAL: dict[str, Any] = {"provider": "vllm"}


@pytest.fixture(scope="module")
def server_config() -> dict[str, Any]:
    return {
        "models": ["one", "two words", "two"], "api_keys": [SECRET],
        "hub_models": ["Lab/New-VL-7B", "Lab/Old", "Other/x"],
    }  # fmt: skip


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_KEY", SECRET)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)


def endpoint(url: str, **more: Any) -> EndpointWatch:
    known = {"kind": "endpoint", "base_url": url, "key_env": "LAB_KEY", "match": ["*"]}
    return EndpointWatch.model_validate(known | {"model": LOCAL} | more)


def test_both_apis_list_their_models(
    server: ServerHandle, caplog: pytest.LogCaptureFixture
) -> None:
    assert list_models("lab", endpoint(server.openai_url)) == ["one", "two"]
    assert list_models("lab", endpoint(server.anthropic_url, api="anthropic")) == ["one", "two"]
    assert "'lab': 1 ids are not valid model ids" in caplog.text
    server.add_model("three")
    assert list_models("lab", endpoint(server.openai_url)) == ["one", "two", "three"]


def test_a_hub_lists_an_authors_models(server: ServerHandle) -> None:
    watch = HubWatch.model_validate(
        {"kind": "hub", "url": server.base_url, "author": "Lab", "token_env": "LAB_KEY"}
        | {"match": ["*"], "model": LOCAL}
    )
    assert list_models("hub", watch) == ["Lab/New-VL-7B", "Lab/Old"]
    assert list_models("hub", watch.model_copy(update={"newest": 1})) == ["Lab/New-VL-7B"]
    assert list_models("hub", watch.model_copy(update={"search": "VL", "author": None})) == [
        "Lab/New-VL-7B"
    ]
    with pytest.raises(ModelError, match="watch 'hub': its models cannot be listed: HTTP 401"):
        list_models("hub", watch.model_copy(update={"token_env": None}))


def test_a_hub_is_not_asked_offline(server: ServerHandle, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    watch = HubWatch.model_validate(
        {"kind": "hub", "url": server.base_url, "author": "Lab", "match": ["*"], "model": LOCAL}
    )
    with pytest.raises(ModelError, match="watch 'hub': HF_HUB_OFFLINE is set") as found:
        list_models("hub", watch)
    assert not isinstance(found.value, PassingError)


@pytest.mark.parametrize("api", ["openai", "anthropic"])
def test_a_wrong_key_and_a_wrong_path_do_not_pass(
    server: ServerHandle, api: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_KEY", "sk-planted-wrong-one-1234567890")
    url = server.openai_url if api == "openai" else server.anthropic_url
    with pytest.raises(ModelError, match=r"watch 'lab': .* HTTP 401") as found:
        list_models("lab", endpoint(url, api=api))
    assert not isinstance(found.value, PassingError)
    assert "planted" not in str(found.value)
    with pytest.raises(ModelError, match="HTTP 404") as found:
        list_models("lab", endpoint(f"{server.base_url}/nowhere", api=api))
    assert not isinstance(found.value, PassingError)


def test_an_endpoint_that_is_down_may_come_back() -> None:
    with pytest.raises(PassingError, match=r"watch 'lab': .* the connection failed"):
        list_models("lab", endpoint("http://127.0.0.1:9/v1"))


def test_a_missing_key_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LAB_KEY")
    with pytest.raises(ModelError, match="the key LAB_KEY is missing"):
        list_models("lab", endpoint("http://127.0.0.1:9/v1"))
