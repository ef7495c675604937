"""The stage reads a file of problems and splits it into survivors and rejects."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.accessibility import list_violations

from omibench.errors import FileFormatError, MissingInputError
from omibench.params.stages.filter import FilterParams
from omibench.params.study import Study
from omibench.schemas.curation import Reject
from omibench.schemas.problem import Problem
from omibench.schemas.tables import read_jsonl, read_parquet, write_jsonl
from omibench.stages.filter import filter_problems

if TYPE_CHECKING:
    from playwright.sync_api import Browser

Make = Callable[..., Problem]


def test_survivors_keep_their_order_and_find_their_pictures(make: Make, tmp_path: Path) -> None:
    problems = [
        make(id="p-10", answer=["12 m"]),
        make(id="p-2", answer=None, question="Figures 1 and 2 show a wheel. How fast is its rim?"),
        make(id="p-1", question="Figures 1 and 2 show a wheel. How fast is its rim?"),
        make(id="p-11"),
    ]
    write_jsonl(tmp_path / "problems.jsonl", problems)
    out = tmp_path / "deep" / "filter"
    summary = filter_problems(tmp_path / "problems.jsonl", out, Study())

    kept = read_jsonl(out / "problems.jsonl", Problem)
    assert [problem.id for problem in kept] == ["p-10", "p-1"]
    assert all((out / figure.file).is_file() for p in kept for figure in p.images)
    assert kept[0].images[0].file == "../../speed.png"

    rejects = read_parquet(out / "rejects.parquet", Reject)
    assert rejects["id"].to_list() == ["p-2", "p-11"]
    assert rejects["reason"].to_list() == ["answer_missing", "exact_duplicate"]
    assert set(rejects["stage"]) == {"filter"}
    assert "same text as p-10" in rejects["evidence"][1]
    told = "4 problems, 3 with an answer; 2 kept, 2 rejected (1 answer_missing, 1 exact_duplicate)"
    assert str(summary) == told


def test_all_reasons_of_a_rejection_are_kept(make: Make, tmp_path: Path) -> None:
    broken = make(answer=None, images=[make().images[0]], question="Wheel \ufffd [IMAGE0]")
    gone = make().images[1].model_copy(update={"file": "gone.png", "sha256": "1" * 64})
    missing = make(id="p-2", answer=None, images=[make().images[0], gone])
    write_jsonl(tmp_path / "problems.jsonl", [make(id="p-0"), broken, missing])
    study = Study(filter=FilterParams(reasons=["image_not_referred_to"]))
    filter_problems(tmp_path / "problems.jsonl", tmp_path / "out", study)
    first, second = read_parquet(tmp_path / "out/rejects.parquet", Reject).to_dicts()
    assert first["reasons"] == [
        "statement_incomplete", "answer_missing", "too_few_images", "image_not_referred_to",
        "ocr_error",
    ]  # fmt: skip
    assert (first["reason"], first["evidence"]) == (first["reasons"][0], first["evidences"][0])
    assert "1 distinct of 1 images" in first["evidences"][2]
    assert second["reasons"] == ["answer_missing"], "what a lost picture hides is left open"


def test_a_reason_that_is_omitted_rejects_nothing(
    make: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_jsonl(tmp_path / "problems.jsonl", [make(id="p-0"), make(id="p-1", answer=None)])
    lax = FilterParams(omitted_reasons=["exact_duplicate", "near_duplicate", "answer_missing"])
    assert filter_problems(tmp_path / "problems.jsonl", tmp_path, Study(filter=lax)).survivors == 2
    assert not caplog.messages
    emma = Study(filter=FilterParams(preset="emma"))
    assert filter_problems(tmp_path / "problems.jsonl", tmp_path, emma).survivors == 2
    assert "rejects by captions_suffice too: set models in filter.captions" in caplog.text


def test_the_page_of_the_rejects_shows_their_pictures_and_escapes_their_words(
    make: Make, tmp_path: Path
) -> None:
    hostile = make(id="<b>x", answer=None, question="<script>alert(1)</script> [IMAGE1] & [IMAGE0]")
    (tmp_path / "a b").mkdir()
    write_jsonl(tmp_path / "problems.jsonl", [hostile, make()])
    filter_problems(tmp_path / "problems.jsonl", tmp_path / "a b", Study())
    page = (tmp_path / "a b/rejects.html").read_text("utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "&lt;b&gt;x" in page
    assert "default-src &#39;none&#39;" in page
    pictures = re.findall(r'<img src="([^"]+)"', page)
    assert [(tmp_path / "a b" / picture).resolve().name for picture in pictures] == [
        "road.png", "speed.png"
    ]  # fmt: skip
    assert "no key gives an answer" in page
    assert "2 problems, 1 with an answer" in page


def test_formulas_of_rejects_are_set_by_files_beside_the_page(make: Make, tmp_path: Path) -> None:
    formula = make(answer=None, question=r"Find $\frac{a}{b}$ of [IMAGE0] and [IMAGE1].")
    write_jsonl(tmp_path / "problems.jsonl", [formula])
    filter_problems(tmp_path / "problems.jsonl", tmp_path / "out", Study())
    page = (tmp_path / "out/rejects.html").read_text("utf-8")
    assert r"$\frac{a}{b}$" in page
    addresses = re.findall(r'(?:src|href)="(formulas/[^"]+)"', page)
    assert "formulas/formulas.js" in addresses
    assert all((tmp_path / "out" / address).is_file() for address in addresses)


@pytest.mark.slow
def test_the_page_of_rejects_keeps_the_rules_of_accessibility(
    make: Make, tmp_path: Path, browser: Browser, root: Path
) -> None:
    formula = make(answer=None, question=r"Find $\frac{a}{b}$ of [IMAGE0] and [IMAGE1].")
    write_jsonl(tmp_path / "problems.jsonl", [formula])
    filter_problems(tmp_path / "problems.jsonl", tmp_path / "out", Study())
    page = browser.new_page()
    page.goto((tmp_path / "out/rejects.html").as_uri())
    page.wait_for_selector(".katex")
    assert list_violations(page, root) == []
    page.close()


def test_a_copy_of_a_rejected_problem_survives(make: Make, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "p.jsonl", [make(id="x-1", answer=None), make(id="x-2")])
    filter_problems(tmp_path / "p.jsonl", tmp_path / "out", Study())
    kept = read_jsonl(tmp_path / "out/problems.jsonl", Problem)
    assert [problem.id for problem in kept] == ["x-2"]


def test_nothing_in_nothing_out(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text("")
    summary = filter_problems(tmp_path / "p.jsonl", tmp_path / "out", Study())
    assert str(summary) == "0 problems, 0 with an answer; 0 kept, 0 rejected"
    assert read_parquet(tmp_path / "out/rejects.parquet", Reject).is_empty()


def test_bad_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match=r"none\.jsonl"):
        filter_problems(tmp_path / "none.jsonl", tmp_path / "out", Study())
    (tmp_path / "bad.jsonl").write_text('{"id": 3}\n')
    with pytest.raises(FileFormatError, match=r"bad\.jsonl, line 1"):
        filter_problems(tmp_path / "bad.jsonl", tmp_path / "out", Study())
