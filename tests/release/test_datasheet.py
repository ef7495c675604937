"""The datasheet says what is recorded, what its authors say, and how far people agree."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.review.builders import decide, make_task, write_lines

from omibench.datasets.release.build import ReleaseRefusedError, build_release
from omibench.datasets.release.card import ReleaseFacts
from omibench.datasets.release.datasheet import (
    UNSTATED,
    AuthorStatements,
    write_datasheet,
)
from omibench.datasets.release.splits import ReleaseOptions
from omibench.errors import FileFormatError, MissingInputError
from omibench.review.folder import compute_head
from omibench.review.report import AgreementFigure, KindProgress, ReviewReport
from omibench.schemas.review import ReviewCounts
from omibench.schemas.tables import FrozenManifest, read_typed_json, write_json

SECTIONS = (
    "Motivation",
    "Composition",
    "Collection",
    "Preprocessing and labelling",
    "Human review",
    "Uses",
    "Distribution",
    "Maintenance",
)


def read_sheet(out: Path) -> str:
    return (out / "datasheet.md").read_text("utf-8")


def test_every_section_says_what_is_recorded(freeze: Path, sources: Path, tmp_path: Path) -> None:
    build_release(freeze, tmp_path / "out", ReleaseOptions(sources=sources))
    sheet = read_sheet(tmp_path / "out")
    places = [sheet.index(f"\n## {section}\n") for section in SECTIONS]
    assert places == sorted(places)
    assert "6 items: 3 multiple-choice, 3 open; physics 6." in sheet
    assert "Items with a reference solution: 6." in sheet
    assert "Translated items, with their original text: 1." in sheet
    assert "alpha, CC BY 4.0: 3 items" in sheet
    assert "Licences: CC BY 4.0 6" in sheet
    assert "No review decisions were given" in sheet
    assert "Translators, with their items: sim 1." in sheet
    assert sheet.count(UNSTATED) == 7


def test_authors_say_what_no_record_holds(freeze: Path, sources: Path, tmp_path: Path) -> None:
    path = tmp_path / "statements.yaml"
    path.write_text("motivation: To measure rods.\ncontact: rods@example.org\n")
    options = ReleaseOptions(sources=sources, statements=path)
    build_release(freeze, tmp_path / "out", options)
    sheet = read_sheet(tmp_path / "out")
    assert "## Motivation\n\nTo measure rods.\n" in sheet
    assert "- Contact: rods@example.org." in sheet
    assert sheet.count(UNSTATED) == 6


def test_a_section_that_does_not_exist_is_one_line(
    freeze: Path, sources: Path, tmp_path: Path
) -> None:
    path = tmp_path / "statements.yaml"
    path.write_text("motivations: To measure rods.\n")
    options = ReleaseOptions(sources=sources, statements=path)
    with pytest.raises(FileFormatError, match=r"statements\.yaml: motivations: unknown key"):
        build_release(freeze, tmp_path / "out", options)


def test_agreement_stands_with_its_interval(freeze: Path, sources: Path, tmp_path: Path) -> None:
    provenance = build_release(freeze, tmp_path / "out", ReleaseOptions(sources=sources))
    report = ReviewReport(
        kinds=(KindProgress("item", settled=5, escalated=1, people=3),),
        decisions=12,
        head="a" * 64,
        people=("Ada", "Ben"),
        agreement=(
            AgreementFigure("item", "quality", "cohen kappa", 0.71, 0.5, 0.9, 6, 2, True),
            AgreementFigure("item", "valid", "agreement", None),
        ),
    )
    facts = ReleaseFacts([], report, AuthorStatements(), 0, {}, [], {}, [], "")
    sheet = write_datasheet(provenance, facts)
    assert "12 decisions of 2 people, of whom 0 are simulated" in sheet
    assert "| item | 6 | 5 | 1 | 3 |" in sheet
    assert "| item | quality | cohen kappa | - | 0.710 | 0.500 to 0.900 | 6 | 2 | yes |" in sheet
    assert "| item | valid | agreement | - | - | - | 0 | 0 | no |" in sheet
    assert "Ada" not in sheet


def write_review(folder: Path) -> Path:
    """One settled task, one with a stale decision, one that waits for a senior; a fourth is on a
    problem that is not in the release."""
    good, stale, open_task, other = (
        make_task(problem) for problem in ("item-0", "item-1", "item-2", "gone")
    )
    decisions = [
        decide(1, "Ada", "annotator", good),
        decide(2, "Ben", "auditor", good),
        decide(3, "Ada", "annotator", stale, content_hash="0" * 64),
        decide(4, "Ada", "annotator", open_task),
        decide(5, "Ben", "auditor", open_task, {"valid": "invalid", "quality": 1}),
        decide(6, "Ada", "annotator", other, content_hash="0" * 64),
    ]
    write_lines(folder / "tasks.jsonl", good, stale, open_task, other)
    write_lines(folder / "decisions.jsonl", *decisions)
    return folder


def test_stale_decisions_and_open_escalations_refuse_a_release(
    freeze: Path, sources: Path, tmp_path: Path
) -> None:
    review = write_review(tmp_path / "review")
    with pytest.raises(ReleaseRefusedError) as raised:
        build_release(freeze, tmp_path / "out", ReleaseOptions(sources=sources, review=review))
    text = str(raised.value)
    assert "1 review tasks with decisions on other content; decide them again: item:item-1" in text
    assert "1 review tasks that wait for a senior: item:item-2" in text
    assert "gone" not in text


def test_a_draft_lists_what_is_open_in_the_review(
    freeze: Path, sources: Path, tmp_path: Path
) -> None:
    review = write_review(tmp_path / "review")
    options = ReleaseOptions(sources=sources, review=review, draft=True)
    provenance = build_release(freeze, tmp_path / "out", options)
    assert len(provenance.findings) == 2
    assert provenance.review_head not in (None, compute_head([]))
    assert provenance.review_sha256
    sheet = read_sheet(tmp_path / "out")
    assert "This is a draft." in sheet
    assert f"the head hash of the log is `{provenance.review_head}`" in sheet
    assert "| item | 3 | 1 | 1 | 2 |" in sheet
    assert "| item | valid | agreement |" in sheet


def test_programs_that_stand_in_for_people_are_a_finding(
    freeze: Path, sources: Path, tmp_path: Path
) -> None:
    task = make_task("item-0")
    write_lines(tmp_path / "review/tasks.jsonl", task)
    event = decide(1, "Bot", "annotator", task, simulated=True)
    write_lines(tmp_path / "review/decisions.jsonl", event)
    options = ReleaseOptions(sources=sources, review=tmp_path / "review")
    with pytest.raises(ReleaseRefusedError, match="1 of 1 people of the review are simulated"):
        build_release(freeze, tmp_path / "out", options)


def test_half_a_record_is_no_record(freeze: Path, sources: Path, tmp_path: Path) -> None:
    review = write_review(tmp_path / "review")
    with (review / "decisions.jsonl").open("a") as file:
        file.write("{}\n")
    options = ReleaseOptions(sources=sources, review=review, draft=True)
    with pytest.raises(FileFormatError, match=r"decisions\.jsonl, line 7"):
        build_release(freeze, tmp_path / "out", options)


def test_a_review_may_be_a_file_of_decisions(freeze: Path, sources: Path, tmp_path: Path) -> None:
    path = tmp_path / "review.yaml"
    path.write_text("[]\n")
    options = ReleaseOptions(sources=sources, review=path)
    provenance = build_release(freeze, tmp_path / "out", options)
    assert (provenance.review_head, bool(provenance.review_sha256)) == (None, True)
    missing = ReleaseOptions(sources=sources, review=tmp_path / "nowhere")
    with pytest.raises(MissingInputError, match=r"nowhere: tasks\.jsonl not found"):
        build_release(freeze, tmp_path / "other", missing)


def name_review(freeze: Path, **counts: Any) -> None:
    """Have the freeze say that it was reviewed."""
    manifest = read_typed_json(freeze / "manifest.json", FrozenManifest)
    values = {"reviewers": 2, "kinds": ["item"], "problems": 6, "dropped": 1, "people": 3}
    review = ReviewCounts.model_validate(
        values | {"simulated_people": 0, "unsettled": 0, "head": "a" * 64} | counts
    )
    write_json(freeze / "manifest.json", manifest.model_copy(update={"review": review}))


def test_what_the_freeze_says_of_its_review_is_in_the_datasheet(
    freeze: Path, sources: Path, tmp_path: Path
) -> None:
    name_review(freeze)
    provenance = build_release(freeze, tmp_path / "out", ReleaseOptions(sources=sources))
    assert provenance.review_head == "a" * 64
    sheet = read_sheet(tmp_path / "out")
    assert "Items reviewed before the freeze: 6, by 3 people (0 of them" in sheet
    assert "Problems removed by reviewers: 1." in sheet


@pytest.mark.parametrize(
    ("counts", "finding"),
    [
        ({"unsettled": 2}, "review tasks that were open at the freeze: 2"),
        ({"simulated_people": 3}, "3 of 3 people of the review are simulated"),
    ],
)
def test_what_a_freeze_lets_pass_refuses_a_release(
    freeze: Path, sources: Path, tmp_path: Path, counts: dict[str, int], finding: str
) -> None:
    name_review(freeze, **counts)
    with pytest.raises(ReleaseRefusedError, match=finding):
        build_release(freeze, tmp_path / "out", ReleaseOptions(sources=sources))


def test_decisions_after_the_freeze_refuse_a_release(
    freeze: Path, sources: Path, tmp_path: Path
) -> None:
    task = make_task("item-0")
    event = decide(1, "Ada", "annotator", task)
    review = tmp_path / "review"
    write_lines(review / "tasks.jsonl", task)
    write_lines(review / "decisions.jsonl", event)
    name_review(freeze)
    options = ReleaseOptions(sources=sources, review=review)
    with pytest.raises(ReleaseRefusedError, match="was frozen at aaaaaaaaaaaa; freeze again"):
        build_release(freeze, tmp_path / "refused", options)
    name_review(freeze, head=compute_head([event]))
    assert not build_release(freeze, tmp_path / "out", options).findings
