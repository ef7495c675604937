"""Problems become tasks: what each kind shows, what its hash is over, whose work is marked."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench.errors import FileFormatError
from omibench.review.contents import PROBLEM_KINDS, compute_hash
from omibench.review.kinds import KINDS
from omibench.review.tasks.problems import (
    ElsewhereParts,
    draft_problem_tasks,
    show_candidates,
    show_labels,
)
from omibench.schemas.curation import LabelRow, RationaleCandidate
from omibench.schemas.problem import Original, ProblemWarning
from review_tasks.makers import make_problem

ORIGINAL = Original(language="es", question="¿Cuánto mide?", translator="sim")


def make_candidate(sample: int, reason: str, **values: object) -> RationaleCandidate:
    return RationaleCandidate.model_validate(
        {
            "id": f"ipho-1#{sample}", "problem": "ipho-1", "sample": sample, "model": "m",
            "text": f" Text {sample}. ", "verdict": 1.0, "rules": "robust", "version": 1,
            "tokens": 60, "overlap": 0.1, "kept": True, "reason": reason, "key": "k",
        }
        | values
    )  # fmt: skip


@pytest.mark.parametrize("kind", PROBLEM_KINDS)
def test_a_task_shows_parts_of_its_kind_and_its_hash_is_that_of_freeze(
    kind: str, tmp_path: Path
) -> None:
    problem = make_problem(1, tmp_path, original=ORIGINAL)
    (draft,) = draft_problem_tasks(kind, [problem], tmp_path)
    task = draft.task
    assert (task.id, task.problem, task.kind) == (f"{kind}:ipho-1", "ipho-1", kind)
    assert set(task.content) <= {part.name for part in KINDS[kind].parts}
    assert task.content_hash == compute_hash(task, problem)
    assert [p.sha256 for p in task.pictures] == [problem.images[0].sha256]
    assert draft.files == {problem.images[0].sha256: tmp_path / "images/1.png"}
    assert task.strata == {"subject": "physics", "type": "mcq", "source": "ipho"}


def test_problems_that_were_never_translated_have_no_translation_to_check(tmp_path: Path) -> None:
    problems = [make_problem(1, tmp_path), make_problem(2, tmp_path, original=ORIGINAL)]
    drafts = draft_problem_tasks("translation", problems, tmp_path)
    assert [draft.task.problem for draft in drafts] == ["ipho-2"]


def test_what_simulated_models_wrote_is_marked(tmp_path: Path) -> None:
    mark = ProblemWarning("rationale", simulated_by=("sim",))
    problems = [
        make_problem(1, tmp_path),
        make_problem(2, tmp_path, warnings=[mark]),
        make_problem(3, tmp_path, original=ORIGINAL),
    ]
    elsewhere = ElsewhereParts(simulated_models={"sim"}, simulated={"ipho-1"})

    def list_marked(kind: str) -> list[str]:
        drafts = draft_problem_tasks(kind, problems, tmp_path, elsewhere)
        return [draft.task.problem for draft in drafts if draft.task.simulated]

    assert list_marked("page") == []
    assert list_marked("label") == ["ipho-1", "ipho-3"]
    assert list_marked("item") == ["ipho-1", "ipho-2", "ipho-3"]
    assert not draft_problem_tasks("item", problems[:1], tmp_path)[0].task.simulated


def test_right_candidates_are_shown_and_wrong_ones_only_where_there_is_none(tmp_path: Path) -> None:
    problem = make_problem(1, tmp_path)
    some = [
        make_candidate(0, "wrong_drawn"), make_candidate(1, "used"), make_candidate(2, "right"),
        make_candidate(3, "short"),
    ]  # fmt: skip
    entries = show_candidates(some)(problem)["candidates"]
    assert entries == [
        {"id": "ipho-1#1", "title": "Candidate 1, right answer", "text": "Text 1."},
        {"id": "ipho-1#2", "title": "Candidate 2, right answer", "text": "Text 2."},
    ]
    wrong = show_candidates([some[0], make_candidate(4, "wrong")])(problem)["candidates"]
    assert wrong == [{"id": "ipho-1#0", "title": "Candidate 1, wrong answer", "text": "Text 0."}]
    helped = show_candidates([make_candidate(0, "used", reference="answer")])(problem)
    assert "with the answer" in str(helped)
    given = show_candidates([])(problem)["candidates"]
    assert given == [
        {
            "id": "ipho-1#given",
            "title": "The existing solution",
            "text": "Rod 1 is measured.",
        }
    ]


def test_labels_come_with_reasons_and_a_list_that_does_not_tell_the_subject(tmp_path: Path) -> None:
    rows = [
        LabelRow(id="ipho-1", kind="topic", labels=["lenses"], reason="Rays.", by="m"),
        LabelRow(id="ipho-1", kind="skill", labels=["x"], reason="Turned.", by="m"),
    ]
    lists = {"physics": ["optics", "kinetics"], "chemistry": ["kinetics"]}
    add = show_labels(rows, lists)  # type: ignore[arg-type]
    content = add(make_problem(1, tmp_path))
    assert content["reason"] == "Rays."
    other = add(make_problem(2, tmp_path, subject="chemistry"))
    assert content["subfields"] == other["subfields"]
    assert content["subfields"] == [
        {"value": "kinetics", "title": "chemistry, physics: kinetics"},
        {"value": "optics", "title": "physics: optics"},
    ]


def test_an_id_that_is_too_long_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"item:x+: id: .*200"):
        draft_problem_tasks("item", [make_problem(1, tmp_path, id="x" * 300)], tmp_path)
