"""Names and texts of a stranger's freeze do nothing in the files of its release."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from omibench.datasets.registry import load_benchmark
from omibench.datasets.release.build import build_release
from omibench.datasets.release.splits import ReleaseOptions
from omibench.datasets.release.verify import verify_release
from omibench.datasets.release_folder import read_sums
from omibench.errors import FileFormatError
from omibench.params.benchmark import BenchmarkParams
from omibench.schemas.problem import Answer, Question
from omibench.schemas.tables import content_hash, read_jsonl
from small_freeze import write_freeze

MARKUP = (
    "<img src=x onerror=alert(1)>", "![x](http://evil.example/p.png)", "[x](javascript:alert(1))",
    "`` ` <b>", "a | b", "a\n\n# Head\n<script>", "\u202eevil", "\x1b[31mred", "a\u2028# b",
    "<!-- x -->",
)  # fmt: skip


@pytest.fixture
def freeze(tmp_path: Path) -> Path:
    return write_freeze(tmp_path / "results/freeze", items=2)


def change_manifest(folder: Path, **changes: object) -> None:
    file = folder / "manifest.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


@pytest.mark.parametrize("field", ["name", "version"])
def test_a_name_that_is_markup_is_refused(freeze: Path, tmp_path: Path, field: str) -> None:
    for text in (*MARKUP, "x" * 300):
        change_manifest(freeze, **{field: text})
        with pytest.raises(FileFormatError, match=rf"manifest\.json: {field}: must be one line"):
            build_release(freeze, tmp_path / "out", ReleaseOptions(draft=True))
        with pytest.raises(FileFormatError, match=rf"{field}: must be one line"):
            load_benchmark(BenchmarkParams(name="frozen"), str(freeze), tmp_path)
    change_manifest(freeze, **{field: "Rods & more (2024), ß"})
    build_release(freeze, tmp_path / "out", ReleaseOptions(draft=True))


def test_other_texts_are_escaped_in_every_document(freeze: Path, tmp_path: Path) -> None:
    text = " ".join(MARKUP)
    for name, fields in (
        ("questions.jsonl", {"source": text, "licence": text, "language": text, "subset": text}),
        ("answers.jsonl", {"topic": text, "attributes": {"k": text[:150]}}),
    ):
        rows = [json.loads(line) | fields for line in (freeze / name).read_text().splitlines()]
        (freeze / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    hashes = {
        "questions_sha256": content_hash(read_jsonl(freeze / "questions.jsonl", Question)),
        "answers_sha256": content_hash(read_jsonl(freeze / "answers.jsonl", Answer)),
    }
    change_manifest(freeze, **hashes, simulated={text: 1}, synthetic=text)
    out = tmp_path / "out"
    build_release(freeze, out, ReleaseOptions(draft=True))
    for document in out.glob("*.md"):
        body = document.read_text("utf-8")
        if document.name == "README.md":
            head, body = body.removeprefix("---\n").split("\n---\n", 1)
            assert yaml.safe_load(head)["language"] == [text]
        assert not re.search(r"<(img|script|b>|!--)|(?<!\\)\[x|^# Head", body, re.MULTILINE)
        assert not set("\x1b\u202e\u2028") & set(body)
    croissant = json.loads((out / "croissant.json").read_text("utf-8"))
    listed = {entry.get("contentUrl") for entry in croissant["distribution"]} - {None}
    assert listed == read_sums(out).keys() - {"croissant.json"}
    assert verify_release(out).findings == []
