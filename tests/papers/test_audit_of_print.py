"""What the audit finds by itself in the tables that four studies printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench.papers.checks import Audit, Finding, audit_tables

PUBLISHED = Path(__file__).parents[2] / "published"


@pytest.fixture(scope="module")
def audit() -> Audit:
    return audit_tables(PUBLISHED)


def select(findings: list[Finding], file: str, kind: str, cell: str = "") -> list[Finding]:
    return [f for f in findings if (f.file, f.kind) == (f"{file}.csv", kind) and cell in f.cell]


def test_every_table_is_read(audit: Audit) -> None:
    assert not audit.errors
    assert audit.tables == len(list(PUBLISHED.glob("*.csv")))


@pytest.mark.parametrize(
    ("file", "total"),
    [("main", 29.29), ("single_image_control", 29.14), ("external_tools", 29.14)],
)
def test_a_total_that_its_subjects_cannot_give(audit: Audit, file: str, total: float) -> None:
    found = select(audit.contradictions, f"omibench_{file}", "total", "total acc")
    (finding,) = [f for f in found if f.model == "GPT-4o"]
    assert (finding.printed, finding.n) == (24.05, 1322)
    assert finding.recomputed == pytest.approx(total, abs=0.005)


def test_scores_that_no_count_gives(audit: Audit) -> None:
    found = select(audit.contradictions, "omibench_main", "count", "gptscore")
    totals = [f for f in found if "total" in f.cell]
    assert (len(found) - len(totals), len(totals)) == (10, 9)


@pytest.mark.parametrize("file", ["single_image_control", "sft", "external_tools"])
def test_biology_fits_another_number_of_problems(audit: Audit, file: str) -> None:
    found = select(audit.contradictions, f"omibench_{file}", "count", "biology")
    assert found
    assert all("of 249 would" in finding.note for finding in found)
    assert not [f for f in found if f.model == "GPT-5"]


def test_intervals_that_are_wilsons_and_intervals_that_are_not(audit: Audit) -> None:
    confirmed = select(audit.findings, "usnco_v_open", "interval")
    assert len(confirmed) == 2 * 56
    assert all(finding.agrees for finding in confirmed)
    (boundary,) = [f for f in confirmed if "boundary" in f.note]
    assert boundary.printed == 30.5
    assert boundary.recomputed == pytest.approx(30.4496, abs=2e-4)
    other = select(audit.findings, "usnco_v_proprietary", "interval")
    assert len(other) == 2 * 24
    assert not any(finding.agrees for finding in other)


def test_a_correlation_that_the_table_does_not_give(audit: Audit) -> None:
    (finding,) = select(audit.findings, "omibench_correlations", "correlation")
    assert (finding.printed, finding.recomputed, finding.agrees) == (0.93, 0.921, False)


def test_differences_averages_and_sums_agree(audit: Audit) -> None:
    kinds = {finding.kind for finding in audit.contradictions}
    assert not kinds & {"difference", "average", "sum"}


def test_one_value_is_printed_differently_in_two_tables(audit: Audit) -> None:
    found = select(audit.contradictions, "omibench_sft", "repeat")
    assert {finding.model for finding in found} == {"InternVL3.5-8B", "Qwen3-VL-8B-Instruct"}


@pytest.mark.parametrize(
    ("file", "model", "cell", "printed", "first"),
    [
        ("math_categories", "Qwen2-VL-72B-Instruct", "emma-mini math", 32.0, 35.0),
        ("physics_categories", "LLaVA-Onevision-72B", "emma physics total", 12.18, 15.38),
        ("chemistry_categories", "LLaVA-Onevision-72B", "emma chemistry total", 22.53, 22.7),
        ("coding_tasks", "Gemini 2.0 Flash Thinking-0121", "emma coding total", 38.06, 48.05),
    ],
)
def test_emma_prints_one_value_in_two_ways(
    audit: Audit, file: str, model: str, cell: str, printed: float, first: float
) -> None:
    (finding,) = select(audit.contradictions, f"emma_{file}", "repeat")
    assert (finding.model, finding.cell) == (f"{model}, cot", f"{cell} accuracy")
    assert (finding.printed, finding.recomputed) == (printed, first)


@pytest.mark.parametrize("file", ["emma_scaling", "emma_math_scaling"])
def test_one_response_is_the_same_in_the_tables_of_scaling(audit: Audit, file: str) -> None:
    found = select(audit.findings, file, "repeat")
    assert [finding.agrees for finding in found] == [True] * 4


def test_a_category_that_its_types_of_question_contradict(audit: Audit) -> None:
    """Table 2 of MathReal against tables 9 to 11: 3.4 has lost a digit."""
    found = select(audit.contradictions, "mathreal_main", "total", "FG loose")
    (finding,) = [f for f in found if "mathreal_multiple_choice.csv" in f.note]
    assert (finding.model, finding.printed) == ("Qwen-VL-Max", 3.4)
    assert finding.recomputed == pytest.approx(31.4, abs=0.05)
    assert len(select(audit.findings, "mathreal_main", "total")) > 44 * 6


def test_means_of_two_experts_are_no_counts(audit: Audit) -> None:
    found = [finding for finding in audit.findings if finding.model == "Human Expert"]
    assert {finding.kind for finding in found} == {"total", "repeat"}
    assert all(finding.agrees for finding in found)


def test_shares_that_their_counts_do_not_give(audit: Audit) -> None:
    found = [finding for finding in audit.contradictions if finding.kind == "share"]
    assert [(f.file, f.model, f.printed, f.n) for f in found] == [
        ("omibench_dataset.csv", "multiple_choice", 44.4, 1322),
        ("emma_dataset.csv", "several_images", 10.0, 2788),
    ]


def test_parts_of_a_category_fit_another_number_of_problems(audit: Audit) -> None:
    found = select(audit.contradictions, "emma_chemistry_categories", "count", "reaction accuracy")
    assert [f.note.partition("; ")[2] for f in found] == ["39 of 124 would", "38 of 124 would"]
