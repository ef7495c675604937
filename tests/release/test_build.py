"""A release is whole, the same each time, and refuses what may not be released."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from omibench.datasets.release.build import ReleaseRefusedError, build_release
from omibench.datasets.release.splits import ReleaseOptions, SplitPlan
from omibench.datasets.release.verify import verify_release
from omibench.datasets.release_folder import read_manifest_rows
from omibench.errors import OutputError, ParamsError
from omibench.schemas.problem import Answer, Question
from omibench.schemas.tables import (
    FrozenManifest,
    content_hash,
    read_jsonl,
    read_typed_json,
    write_json,
    write_jsonl,
)
from small_freeze import write_freeze, write_sources


def read_rows(out: Path, split: str = "test") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(
        out / f"data/{split}-00000-of-00001.parquet"
    ).to_pylist()
    return rows


def test_a_row_holds_pictures_gold_original_and_attributes(
    freeze: Path, sources: Path, tmp_path: Path
) -> None:
    build_release(freeze, tmp_path / "out", ReleaseOptions(sources=sources))
    first, second, *_ = read_rows(tmp_path / "out")
    frozen = (freeze / f"images/{first['figures'][0]['sha256']}.png").read_bytes()
    assert first["images"][0]["bytes"] == frozen
    assert (first["answer"], first["rationale"]) == (["5"], "Step 1: measure rod 0.")
    assert (first["original_language"], first["original_question"]) == ("es", "¿Cuánto mide?")
    assert (first["attribute_grade"], first["attribute_skills"]) == ("low", ["a", "b"])
    assert (first["licence"], first["source"]) == ("CC BY 4.0", "alpha")
    assert second["choices"][1] == {"label": "B", "text": None, "image": 1}
    assert verify_release(tmp_path / "out") == ([], False)


def test_the_card_names_the_data_files_and_what_print_says(
    freeze: Path, sources: Path, tmp_path: Path
) -> None:
    printed = tmp_path / "printed.csv"
    printed.write_text("statistic,value,percent\nproblems,1322,\nsolar_rods,7,\n")
    build_release(freeze, tmp_path / "out", ReleaseOptions(sources=sources, printed=str(printed)))
    card = (tmp_path / "out/README.md").read_text("utf-8")
    header = yaml.safe_load(card.split("---\n")[1])
    assert [config["config_name"] for config in header["configs"]] == ["default", "sample"]
    assert header["license"] == "cc-by-4.0"
    assert header["tags"] == ["multi-image", "benchmark", "reasoning"]
    assert "| problems | all | 1322 | 6 | items |  |" in card
    assert "| solar rods | all | 7 | - | - | not measured: not available in any item |" in card
    assert "| grade | high | 4 | 66.7 % |" in card


def test_unstated_redistribution_refuses_a_release(freeze: Path, tmp_path: Path) -> None:
    sources = write_sources(tmp_path / "sources.yaml", beta=None)
    with pytest.raises(ReleaseRefusedError, match=r"redistribute.*sources\.yaml: beta"):
        build_release(freeze, tmp_path / "out", ReleaseOptions(sources=sources))
    assert not (tmp_path / "out").exists()


def test_an_item_without_a_rationale_stops_a_release_unless_it_is_allowed(
    freeze: Path, sources: Path, tmp_path: Path
) -> None:
    answers = read_jsonl(freeze / "answers.jsonl", Answer)
    answers[1] = answers[1].model_copy(update={"solution": None})
    write_jsonl(freeze / "answers.jsonl", answers)
    manifest = read_typed_json(freeze / "manifest.json", FrozenManifest).model_copy(
        update={"answers_sha256": content_hash(answers), "without_rationale": 1}
    )
    write_json(freeze / "manifest.json", manifest)
    with pytest.raises(ReleaseRefusedError, match="1 items without a rationale: item-1"):
        build_release(freeze, tmp_path / "refused", ReleaseOptions(sources=sources))
    options = ReleaseOptions(sources=sources, without_rationale=True)
    build_release(freeze, tmp_path / "allowed", options)
    allowed = manifest.model_copy(update={"without_rationale_allowed": True})
    write_json(freeze / "manifest.json", allowed)
    build_release(freeze, tmp_path / "by-study", ReleaseOptions(sources=sources))


def test_a_draft_lists_its_findings(freeze: Path, tmp_path: Path) -> None:
    provenance = build_release(freeze, tmp_path / "out", ReleaseOptions(draft=True))
    assert provenance.version == "1.0.0-draft"
    assert len(provenance.findings) == 2
    card = (tmp_path / "out/README.md").read_text("utf-8")
    assert "> **DRAFT**" in card
    assert "items without a licence" in card
    assert verify_release(tmp_path / "out") == ([], True)


def test_a_source_that_is_not_given_on_leaves_metadata(freeze: Path, tmp_path: Path) -> None:
    sources = write_sources(tmp_path / "sources.yaml", beta=False)
    out = tmp_path / "out"
    build_release(freeze, out, ReleaseOptions(sources=sources))
    full, withheld, *_ = read_rows(out)
    assert full["question"]
    assert (withheld["access"], withheld["question"], withheld["images"]) == ("metadata", None, [])
    assert (withheld["choices"], withheld["rationale"], withheld["answer"]) == (None, None, ["A"])
    assert withheld["figures"][0]["page"] == 1
    assert "beta.pdf" in (out / "EXTRACTION.md").read_text("utf-8")
    assert "rod 1" not in "".join(
        path.read_bytes().decode("latin-1") for path in out.rglob("*") if path.is_file()
    )
    assert verify_release(out) == ([], False)


def test_items_without_a_source_are_those_of_their_dataset(freeze: Path, tmp_path: Path) -> None:
    questions = [
        question.model_copy(update={"source": None})
        for question in read_jsonl(freeze / "questions.jsonl", Question)
    ]
    write_jsonl(freeze / "questions.jsonl", questions)
    manifest = read_typed_json(freeze / "manifest.json", FrozenManifest)
    hashes = {"questions_sha256": content_hash(questions)}
    write_json(freeze / "manifest.json", manifest.model_copy(update=hashes))
    with pytest.raises(ReleaseRefusedError, match=r"in sources\.yaml: rods"):
        build_release(freeze, tmp_path / "refused", ReleaseOptions())
    sources = tmp_path / "sources.yaml"
    entry = "{name: rods, format: folder, folder: rods, licence: CC0, redistribute: false}"
    sources.write_text(f"sources: []\nbenchmarks: [{entry}]\n")
    out = tmp_path / "out"
    build_release(freeze, out, ReleaseOptions(sources=sources))
    assert {(row["source"], row["access"]) for row in read_rows(out)} == {("rods", "metadata")}
    assert "The release contains no pictures." in (out / "README.md").read_text("utf-8")
    assert not (out / "questions.jsonl").exists()
    assert verify_release(out) == ([], False)


def test_a_withheld_item_has_the_hashes_of_its_texts(
    freeze: Path, sources: Path, tmp_path: Path
) -> None:
    build_release(freeze, tmp_path / "full", ReleaseOptions(sources=sources))
    withheld = write_sources(tmp_path / "withheld.yaml", beta=False)
    build_release(freeze, tmp_path / "meta", ReleaseOptions(sources=withheld))
    hashes = [
        [(row.question_sha256, row.image_sha256) for row in read_manifest_rows(tmp_path / name)]
        for name in ("full", "meta")
    ]
    assert hashes[0] == hashes[1]


def test_a_split_is_in_proportion_to_attributes(sources: Path, tmp_path: Path) -> None:
    freeze = write_freeze(tmp_path / "results/freeze", items=30)
    options = ReleaseOptions(sources=sources, split=SplitPlan("testmini", 9, ("grade",)))
    build_release(freeze, tmp_path / "out", options)
    mini = read_rows(tmp_path / "out", "testmini")
    assert [row["attribute_grade"] for row in mini].count("low") == 3
    assert (len(mini), len(read_rows(tmp_path / "out"))) == (9, 21)
    card = (tmp_path / "out/README.md").read_text("utf-8")
    assert "`testmini` was drawn in proportion to grade, with the seed 0." in card
    assert "| Attribute | Value | Items | Share | testmini | test |" in card
    assert "| grade | high | 20 | 66.7 % | 6 | 14 |" in card
    assert verify_release(tmp_path / "out") == ([], False)


def test_a_release_never_changes(freeze: Path, sources: Path, tmp_path: Path) -> None:
    build_release(freeze, tmp_path / "out", ReleaseOptions(sources=sources))
    with pytest.raises(OutputError, match="releases never change"):
        build_release(freeze, tmp_path / "out", ReleaseOptions(sources=sources))


def test_a_release_is_no_result_of_a_job(freeze: Path, sources: Path) -> None:
    with pytest.raises(OutputError, match="results folder"):
        build_release(freeze, freeze.parent / "release", ReleaseOptions(sources=sources))


def test_a_changed_gold_asks_for_a_new_major_version(
    freeze: Path, sources: Path, tmp_path: Path
) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    build_release(freeze, before, ReleaseOptions(sources=sources))
    other = write_freeze(tmp_path / "other/freeze", items=7, version="1.1.0", gold="6")
    with pytest.raises(ParamsError, match="new major version"):
        build_release(other, after, ReleaseOptions(sources=sources, previous=before))
    build_release(other, after, ReleaseOptions(sources=sources, previous=before, version="2.0.0"))
    changelog = (after / "CHANGELOG.md").read_text("utf-8")
    assert changelog.index("## 2.0.0") < changelog.index("## 1.0.0")
    assert "- changed gold: 3 (item-0, item-2, item-4)" in changelog
    assert "- added: 1 (item-6)" in changelog
