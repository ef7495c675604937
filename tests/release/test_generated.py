"""Releases of generated problems: how they are made again, and keys that are withheld."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from omibench.datasets.release.build import build_release
from omibench.datasets.release.splits import ReleaseOptions
from omibench.datasets.release.verify import verify_release
from omibench.datasets.unpack import unpack_release
from omibench.errors import MissingInputError
from omibench.schemas.problem import Answer
from omibench.schemas.tables import (
    FrozenManifest,
    content_hash,
    read_jsonl,
    read_typed_json,
    write_json,
    write_jsonl,
)

SEED = 918273645546372819012345


def build(freeze: Path, keys: str) -> Path:
    """Release a freeze whose source `beta` a generator made."""
    answers = [
        answer.model_copy(
            update={"attributes": {"generator": "circuit 3", "fresh": "yes", "template": "t"}}
        )
        if answer.answer_type == "mcq"
        else answer
        for answer in read_jsonl(freeze / "answers.jsonl", Answer)
    ]
    write_jsonl(freeze / "answers.jsonl", answers)
    manifest = read_typed_json(freeze / "manifest.json", FrozenManifest)
    changes = {"answers_sha256": content_hash(answers)}
    write_json(freeze / "manifest.json", manifest.model_copy(update=changes))
    terms = {"licence": "CC0-1.0", "redistribute": True}
    made = {"name": "beta", "generator": "circuit", "seed": SEED, "counts": {"lamps": 3}}
    sources = freeze / "../../sources.yaml"
    listing = {
        "sources": [{"name": "alpha", "paper": "a.pdf", **terms}],
        "generators": [{**made, "keys": keys, **terms}],
    }
    sources.write_text(yaml.safe_dump(listing))
    out = freeze / "../../release"
    build_release(freeze, out, ReleaseOptions(sources=sources))
    assert not verify_release(out).findings
    return out


def test_the_generator_is_in_the_provenance(freeze: Path, tmp_path: Path) -> None:
    out = build(freeze, "released")
    sources = json.loads((out / "provenance.json").read_text())["sources"]
    assert [source.get("generator") for source in sources] == [
        None,
        {
            "name": "circuit 3",
            "seed": SEED,
            "counts": {"lamps": 3},
            "difficulty": 3,
            "keys": "released",
        },
    ]
    (tmp_path / "unpacked").mkdir()
    unpack_release(out, tmp_path / "unpacked")
    answers = read_jsonl(tmp_path / "unpacked/answers.jsonl", Answer)
    assert all(answer.answer for answer in answers)
    assert not any("fresh" in answer.attributes for answer in answers)
    assert answers[1].attributes["template"] == "t"


def test_withheld_keys_are_nowhere(freeze: Path, tmp_path: Path) -> None:
    out = build(freeze, "withheld")
    assert str(SEED).encode() not in b"".join(
        path.read_bytes() for path in out.rglob("*") if path.is_file()
    )
    rows = [json.loads(line) for line in (out / "answers.jsonl").read_text().splitlines()]
    withheld = [row for row in rows if row["answer_type"] == "mcq"]
    assert withheld
    assert all(row["answer"] == [] and row["solution"] is None for row in withheld)
    assert all(row["answer"] for row in rows if row not in withheld)
    lines = [json.loads(line) for line in (out / "manifest.jsonl").read_text().splitlines()]
    hashes = {line["answer_sha256"] for line in lines if line["source"] == "beta"}
    assert len(hashes) == 1, "a hash of a letter would give it"
    with pytest.raises(MissingInputError, match="the keys of beta are withheld"):
        unpack_release(out, tmp_path / "unpacked")
