"""Keys: no part of one is printed, logged or kept, whoever repeats it and wherever it is cut."""

from __future__ import annotations

import json
import logging
from base64 import b64encode
from pathlib import Path

import pytest
from tests.asks import ask
from tests.mathpix_server import ID, Mathpix, running
from tests.models.apis import KEY_ENV, openai_model
from tests.models.batch.conftest import FAST
from tests.security.hostile import Answer, hostile
from tests.store.filling import fill

from model_server.handle import KEY, ServerHandle
from omibench.errors import ModelError, ParamsError
from omibench.graph.job_hash import slice_study
from omibench.models.api.failures import Failure, failure_of_connection, failure_of_status
from omibench.models.client.ask import ask as ask_once
from omibench.models.openai import OpenAIProvider
from omibench.models.provider import Folders
from omibench.params.runtime import dump_runtime
from omibench.params.setting import Cell
from omibench.params.study import parse_study
from omibench.stages.ocr.engines.mathpix import Client, read_image
from omibench.store.share import export
from omibench.store.store import Store
from omibench.study.status.rows import clean, read_last_lines
from omibench.text.masking import (
    literal_secret,
    mask,
    mask_keys,
    mask_line,
    masked_values,
    remember,
    with_secrets,
)

OTHER = "another-planted-word-42"


@pytest.mark.parametrize(
    "secret",
    [
        "AIzaSyA1234567890abcdefghijklmnopqrstuv", "AIza-SyA1234567890abcdef",
        "sk-proj-abcDEF123456xyz", "sk-ant-api03-abcDEF123456xyz", "rk_live_abcDEF123456",
        "gsk_abcDEF123456xyz", "xai-abcDEF123456xyz", "hf_abcDEF123456xyz", "r8_abcDEF123456xyz",
        "nvapi-abcDEF123456xyz", "pplx-abcDEF123456xyz", "csk-abcDEF123456xyz",
        "tgp_v1_abcDEF123456xyz", "fw_abcDEF123456xyz",
        "ghp_abcDEF123456xyz", "github_pat_11ABC_abcDEF123456", "glpat-abcDEF123456xyz",
        "xoxb-1234-abcDEF123456", "AKIAABCDEF1234567890", "ya29.a0AbcDEF123456xyz",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcDEF123456",
    ],
)  # fmt: skip
def test_common_forms_are_known(secret: str) -> None:
    assert mask(f"the key '{secret}' is wrong") == "the key '***' is wrong"


def test_a_part_that_another_key_ends_with_leaves_nothing_of_an_unknown_one() -> None:
    remember("a-known-key-1234567890abcdefghij")
    assert mask("no AIzaSyA1234567890abcdefghijklmnopqrstuv here") == "no *** here"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("https://h/v1?api_key=abcd1234&x=1", "https://h/v1?api_key=***&x=1"),
        ("https://h/v1?key=abcd1234", "https://h/v1?key=***"),
        ('{"x-api-key": "abcd1234"}', '{"x-api-key": "***"}'),
        ("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic ***"),
        ("Authorization: Bearer abc.def-123", "Authorization: Bearer ***"),
        ("a Bearer abc.def-123 was sent", "a Bearer *** was sent"),
        ("https://user:word@h/v1", "https://***@h/v1"),
    ],
)
def test_common_places_are_known(text: str, masked: str) -> None:
    assert mask(text) == masked
    assert mask(masked) == masked


@pytest.mark.parametrize(
    "text",
    [
        "task-specific-instructions, HTTP 429 (rate_limit): EMPTY sk-8",
        "Basic geometry; a Bearer token is needed; tokens: 8000; max_tokens=4096",
        "the key OPENAI_API_KEY is missing: set the environment variable OPENAI_API_KEY",
        "Key: (A), key figures, a secret-sharing scheme",
    ],
)
def test_other_words_stay(text: str) -> None:
    assert mask(text) == text


def test_a_secret_comes_back_in_other_spellings() -> None:
    remember('odd"word/with+signs=7')
    for spelling in (
        json.dumps('odd"word/with+signs=7'),
        "odd%22word%2Fwith%2Bsigns%3D7",
        "odd%22word/with%2Bsigns%3D7",
    ):
        assert "word" not in mask(f"got {spelling} here")
    remember(OTHER)
    assert mask(f"got {b64encode(OTHER.encode()).decode().rstrip('=')}") == "got ***"


def test_the_beginning_of_a_secret_is_one() -> None:
    remember(OTHER)
    assert mask(f"got {OTHER[:14]}... instead") == "got ***... instead"
    assert mask(f"got {OTHER}{OTHER[:11]}") == "got ******"


def test_the_end_of_a_secret_is_one() -> None:
    remember(OTHER)
    assert mask(f"got ...{OTHER[9:]} instead") == "got ...*** instead"


@pytest.mark.parametrize("before", range(270, 301, 3))
def test_what_is_cut_was_masked_before(before: int) -> None:
    remember(OTHER)
    text = "x" * before + " " + OTHER + " tail" * 50
    body = json.dumps({"error": {"message": text}})
    shown = [
        mask_line(text),
        failure_of_status(400, {}, body, 0.0).message,
        failure_of_status(502, {}, f"<html>{text}</html>", 0.0).message,
        failure_of_connection(OSError(text)).message,
        Failure("y" * 300 + text).message,
        clean("z" * 100 + text),
    ]
    for words in shown:
        for end in range(4, len(OTHER)):
            assert f" {OTHER[:end]}" not in words, words


def test_a_code_may_hold_a_key_as_well() -> None:
    remember(OTHER)
    failure = failure_of_status(400, {}, json.dumps({"error": {"code": OTHER}}), 0.0)
    assert "planted" not in failure.message


def test_the_tail_of_a_log_begins_with_a_whole_line(tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    log.write_text("key=AIzaSyA1234567890abcdefghijklmnopqrstuv" + "z" * 8180 + "\nomibench: no\n")
    assert read_last_lines(log) == ["omibench: no"]
    log.write_text("omibench: HTTP 401: AIzaSyA1234567890abcdefghijklmnopqrstuv\n")
    assert read_last_lines(log) == ["omibench: HTTP 401: ***"]


@pytest.mark.parametrize("before", [280, 295])
@pytest.mark.parametrize("batch", [False, True])
def test_an_endpoint_that_repeats_the_key(
    before: int, batch: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_ENV, KEY)
    body = json.dumps({"error": {"message": "x" * before + f" {KEY} " + "y" * 999}}).encode()
    with hostile(lambda got: Answer(400, {}, [body])) as server:
        block = openai_model(base_url=server.url, batch=batch)
        model = OpenAIProvider("m", block)
        if batch:
            model = OpenAIProvider("m", block, Folders(batches=tmp_path / "batches"))
            model.poll_interval = FAST
        with Store(tmp_path / "store") as store:
            (response,) = ask_once([ask("q")], model, store)
    assert response.outcome == "provider_error"
    assert "HTTP 400" in (response.error or "")
    assert "planted" not in (response.error or "")
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or b"planted" not in path.read_bytes(), path


@pytest.mark.parametrize("field", ["content", "model", "id", "system_fingerprint"])
def test_an_answer_that_repeats_the_key(
    field: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gateway that reflects headers: the answer is kept, and the key in it is not."""
    monkeypatch.setenv(KEY_ENV, KEY)
    reply = {"id": "x", "object": "chat.completion", "created": 1, "model": "m"} | {field: KEY}
    message = {"role": "assistant", "content": f"{KEY if field == 'content' else ''} sk-like B"}
    reply["choices"] = [{"index": 0, "message": message, "finish_reason": "stop"}]
    with (
        hostile(lambda got: Answer(200, {}, [json.dumps(reply).encode()])) as server,
        Store(tmp_path / "store") as store,
    ):
        model = OpenAIProvider("m", openai_model(base_url=server.url))
        (response,) = ask_once([ask("q")], model, store)
    assert response.outcome == "answered"
    assert response.text.endswith(" sk-like B")
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or b"planted" not in path.read_bytes(), path


def test_a_word_as_a_key_stays_in_answers() -> None:
    remember("not-needed")
    assert mask_keys(["it is not-needed"], b'["it is not-needed"]') == ["it is not-needed"]


def test_mathpix_repeats_the_key(tmp_path: Path) -> None:
    remember(KEY)
    with running(Mathpix(text={"error": "x" * 285 + f" {KEY} is wrong"})) as server:
        client = Client(server.url, ID, "a-secret-key", tmp_path, pause=0.0)
        with pytest.raises(ModelError) as caught:
            read_image(client, b"png", "abc")
    assert "xxx" in str(caught.value)
    assert "plan" not in str(caught.value)


@pytest.mark.parametrize("logger", ["openai.resources.chat", "httpcore2.http11", "httpx2._client"])
def test_logs_of_the_children_of_libraries_are_masked(
    caplog: pytest.LogCaptureFixture, logger: str
) -> None:
    remember(OTHER)
    with caplog.at_level(logging.DEBUG, logger=logger):
        logging.getLogger(logger).debug("sent %s", {"x-api-key": OTHER})
    assert "planted" not in caplog.text
    assert "***" in caplog.text


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ({"base_url": "https://h/v1?api_key=planted-word-77"}, "base_url: contains a key"),
        ({"base_url": "https://h/AIzaSyA1234567890abcdefghij/v1"}, "base_url: contains a key"),
        ({"extra_body": {"api_key": "planted-word-77"}}, "contains a key in `api_key`"),
        (
            {"extra_body": {"headers": [{"Authorization": "Bearer planted-word-77"}]}},
            "contains a key in `headers.Authorization`",
        ),
        ({"extra_body": {"note": "sk-planted-word-77-abc"}}, "contains a key in `note`"),
        (
            {"extra_body": {"token": "planted-word-77"}},
            "contains a key in `token`; write `${NAME}`",
        ),
        ({"extra_body": {"headers": {"X-My-Auth": "planted-word"}}}, "`headers.X-My-Auth`"),
    ],
)
def test_a_key_in_a_block_is_refused_and_not_shown(block: dict[str, object], words: str) -> None:
    model = {"provider": "openai", "id": "x", **block}
    with pytest.raises(ParamsError) as caught:
        parse_study({"study": {"name": "s"}, "models": {"m": model}}, "params.yaml")
    assert words in str(caught.value)
    assert "environment variable" in str(caught.value)
    assert "planted" not in str(caught.value)


def test_other_fields_are_no_keys() -> None:
    assert literal_secret({"stop_token": "</s>", "special_tokens": ["<a>"], "key": "value"}) is None
    assert literal_secret({"api_key": "${MY_KEY}", "headers": {"a": ["b"]}}) is None
    assert literal_secret({"token": "${MY_KEY}", "prompt_cache_key": "planted-word-77"}) is None


def test_a_key_under_a_common_name_is_sent_as_well() -> None:
    body = {"token": "${MY_KEY}", "note": "${MY_KEY}"}
    assert with_secrets(body, str.lower) == {"token": "my_key", "note": "${MY_KEY}"}


@pytest.mark.parametrize("address", ["http://h/\r\nX: y", "http://h/a b", "http://h/\u202ev1"])
def test_an_address_with_odd_characters_is_none(address: str) -> None:
    model = {"provider": "openai", "id": "x", "base_url": address}
    with pytest.raises(ParamsError, match="base_url: is not an address"):
        parse_study({"study": {"name": "s"}, "models": {"m": model}}, "params.yaml")


def test_a_key_that_is_named_is_sent_and_kept_nowhere(
    server: ServerHandle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GATEWAY_KEY", OTHER)
    named = {"metadata": {"api_key": "${GATEWAY_KEY}", "note": "${GATEWAY_KEY}"}}
    reply = b'{"choices": [{"message": {"content": "A"}}]}'
    with hostile(lambda got: Answer(pieces=[reply])) as gateway:
        model = openai_model(base_url=gateway.url, extra_body=named)
        with Store(tmp_path / "store") as store:
            ask_once([ask("q")], OpenAIProvider("m", model), store)
    sent = json.loads(gateway.got[0].body)
    assert sent["metadata"] == {"api_key": OTHER, "note": "${GATEWAY_KEY}"}
    assert model.store_identity["extra_body"] == named
    files = [path for path in (tmp_path / "store").rglob("*") if path.is_file()]
    assert files
    assert not any(b"planted" in path.read_bytes() for path in files)
    monkeypatch.delenv("GATEWAY_KEY")
    with pytest.raises(ModelError, match="the key GATEWAY_KEY is missing"):
        list(OpenAIProvider("m", model).answer([ask("q")]))


def test_jobs_are_given_the_names_of_keys() -> None:
    block = {
        "provider": "openai", "id": "x", "base_url": "https://h/v1",
        "extra_body": {"api_key": "${GATEWAY_KEY}"},
    }  # fmt: skip
    values = {
        "study": {"name": "s"}, "models": {"m": block}, "settings": {"cot": {}},
        "infer": {"models": ["m"], "settings": ["cot"]},
    }  # fmt: skip
    study = parse_study(values, "params.yaml")
    given = json.dumps(slice_study(study, "infer", Cell("m", "cot")))
    assert "${GATEWAY_KEY}" in given
    assert "key_env" in dump_runtime({"models": {"m": block | {"key_env": "X"}}}, Path())


def test_a_key_that_an_older_card_holds_is_shown_to_nobody(tmp_path: Path) -> None:
    identity = {"provider": "openai", "id": "x", "extra_body": {"api_key": "planted-word-77"}}
    fill(tmp_path, range(2), identity)
    (folder,) = (path.parent for path in tmp_path.glob("*/*.jsonl"))
    assert export([folder], tmp_path / "out" / "all.jsonl").rows == 2
    text = (tmp_path / "out" / "all.jsonl").read_text("utf-8")
    assert "planted" not in text
    assert '"api_key": "***"' in text


def test_an_error_with_half_an_emoji_is_a_line_like_others() -> None:
    assert mask_line("no \ud83d way") == "no \ufffd way"


def test_what_is_shown_of_parameters_is_masked() -> None:
    shown = masked_values(
        {"models": {"m": {"base_url": "https://u:p@h/?api_key=abcd1", "extra": [{"token": "t"}]}},
         "password": "abc", "api_key": "${NAME}", "n": 1}
    )  # fmt: skip
    assert shown == {
        "models": {"m": {"base_url": "https://***@h/?api_key=***", "extra": [{"token": "t"}]}},
        "password": "***", "api_key": "${NAME}", "n": 1,
    }  # fmt: skip
