"""Messages about an endpoint that cannot be asked name model, address, key and remedy."""

from __future__ import annotations

import pytest
from tests.asks import ask
from tests.models.apis import KEY_ENV, anthropic_model, openai_model, provider

from model_server.handle import KEY, ServerHandle
from omibench.errors import ModelError
from omibench.models.api.failures import Failure
from omibench.models.api.http import explain_failure, resolve_address


@pytest.mark.parametrize(
    ("failure", "remedy"),
    [
        (Failure("HTTP 401", 401), f"the key from {KEY_ENV} is not accepted"),
        (Failure("HTTP 402", 402), f"the account of the key from {KEY_ENV} has no credit left"),
        (Failure("HTTP 403", 403), f"the key from {KEY_ENV} has no access to this model"),
        (Failure("HTTP 404: 404: Not Found", 404), "check that `id` matches the provider's list"),
        (Failure("the reply is a page of HTML (9 bytes)", 200), "a login page"),
        (Failure("ConnectError: All connection attempts failed"), "nothing listens there"),
        (Failure("ConnectError: [Errno -2] Name or service not known"), "host not found"),
        (Failure("ConnectError: [SSL: CERTIFICATE_VERIFY_FAILED]"), "no trusted TLS connection"),
    ],
)
def test_what_and_where_and_what_to_do(failure: Failure, remedy: str) -> None:
    found = explain_failure(failure, "mine", openai_model(base_url="https://host.org/v1"))
    assert found.message.startswith(failure.message)
    assert "model 'mine', id 'stub-model', at https://host.org/v1" in found.message
    assert remedy in found.message
    assert (found.status, found.transient) == (failure.status, failure.transient)


def test_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert resolve_address(openai_model()) == "https://api.openai.com/v1"
    assert resolve_address(anthropic_model()) == "https://api.anthropic.com"
    monkeypatch.setenv("OPENAI_BASE_URL", "https://else.org/v1")
    assert resolve_address(openai_model()) == "https://else.org/v1"


@pytest.mark.parametrize("api", ["chat", "messages"])
def test_a_wrong_key_and_a_wrong_model(server: ServerHandle, api: str) -> None:
    server.configure(api_keys=["another"])
    with pytest.raises(ModelError, match=f"the key from {KEY_ENV} is not accepted") as caught:
        list(provider(server, api).answer([ask("q")]))
    assert "HTTP 401" in str(caught.value)
    assert KEY not in str(caught.value)
    server.configure(api_keys=None, any_model=False, models=["other"])
    with pytest.raises(ModelError, match="check that `id` matches the provider's list"):
        list(provider(server, api).answer([ask("q")]))
