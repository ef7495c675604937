"""What other packages log is masked, also that of an SDK that omibench has never heard of."""

from __future__ import annotations

import logging

import pytest

from omibench.text import masking

KEY = "made-up-key-4711-for-this-test"


@pytest.fixture(autouse=True)
def _secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(masking, "_secrets", {})
    monkeypatch.setattr(masking, "_long", {})
    masking.remember(KEY)


@pytest.mark.parametrize("name", ["openai._base_client", "httpx2", "some_new_sdk.wire", "root"])
def test_records_of_other_packages_are_masked(name: str, caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger(name).warning("sent %s to %s", KEY, "host")
    assert caplog.messages == ["sent *** to host"]


def test_arguments_that_do_not_fit_are_masked_too(caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("some_new_sdk").warning("sent %s %d", KEY)  # noqa: PLE1206
    (message,) = caplog.messages
    assert KEY not in message
    assert "***" in message


def test_our_own_records_stay_as_they_are(caplog: pytest.LogCaptureFixture) -> None:
    logging.getLogger("omibench.models").warning("token: %s", "four words are here")
    assert caplog.messages == ["token: four words are here"]
