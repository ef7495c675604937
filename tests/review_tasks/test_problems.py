"""Problems become tasks with their pictures, and lines of tasks.jsonl."""

from __future__ import annotations

import hashlib
import io
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from PIL import Image

from omibench.errors import FileFormatError, MissingInputError, OutputError
from omibench.review.contents import PROBLEM_KINDS, compute_hash
from omibench.review.kinds import KINDS
from omibench.review.tasks.drafts import (
    PictureKeeper,
    lock_tasks,
    merge_tasks,
    read_present_tasks,
    write_tasks,
)
from omibench.review.tasks.problems import (
    ElsewhereParts,
    draft_problem_tasks,
    show_candidates,
    show_labels,
)
from omibench.schemas.curation import LabelRow, RationaleCandidate
from omibench.schemas.problem import Original, ProblemWarning
from review.builders import decide, make_task, write_lines
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
        {
            "value": "kinetics",
            "title": "chemistry, physics: kinetics",
            "subjects": ["chemistry", "physics"],
        },
        {"value": "optics", "title": "physics: optics", "subjects": ["physics"]},
    ]


def test_an_id_that_is_too_long_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"item:x+: id: .*200"):
        draft_problem_tasks("item", [make_problem(1, tmp_path, id="x" * 300)], tmp_path)


# Pictures of tasks lie once in the folder of the review, under their hash.


def test_a_picture_is_kept_under_its_hash(tmp_path: Path) -> None:
    drafts = draft_problem_tasks(
        "item", [make_problem(1, tmp_path), make_problem(2, tmp_path)], tmp_path
    )
    keeper = PictureKeeper(tmp_path / "review")
    for draft in drafts:
        (picture,) = keeper.keep_pictures(draft).pictures
        source = draft.files[picture.sha256]
        assert (tmp_path / "review" / picture.file).read_bytes() == source.read_bytes()
    assert len(list((tmp_path / "review/pictures").iterdir())) == 2


def test_the_suffix_is_that_of_the_content(tmp_path: Path) -> None:
    problem = make_problem(1, tmp_path)
    buffer = io.BytesIO()
    Image.new("RGB", (4, 4)).save(buffer, "JPEG")
    (tmp_path / "images/1.png").write_bytes(buffer.getvalue())
    figure = problem.images[0].model_copy(
        update={"sha256": hashlib.sha256(buffer.getvalue()).hexdigest()}
    )
    problem = problem.model_copy(update={"images": [figure]})
    (draft,) = draft_problem_tasks("item", [problem], tmp_path)
    task = PictureKeeper(tmp_path / "review").keep_pictures(draft)
    assert task.pictures[0].suffix == "jpg"
    assert task.content_hash == draft.task.content_hash


def test_another_content_or_no_picture_is_one_line(tmp_path: Path) -> None:
    (draft,) = draft_problem_tasks("item", [make_problem(1, tmp_path)], tmp_path)
    file = tmp_path / "images/1.png"
    file.write_bytes(b"no picture")
    with pytest.raises(
        FileFormatError, match=r"item:ipho-1: .*1\.png: its content .* has changed since"
    ):
        PictureKeeper(tmp_path / "review").keep_pictures(draft)
    file.unlink()
    with pytest.raises(MissingInputError, match=r"1\.png"):
        PictureKeeper(tmp_path / "review").keep_pictures(draft)


def test_a_link_in_the_results_is_copied(tmp_path: Path) -> None:
    (draft,) = draft_problem_tasks("item", [make_problem(1, tmp_path)], tmp_path)
    file = tmp_path / "images/1.png"
    file.rename(tmp_path / "elsewhere.png")
    file.symlink_to(tmp_path / "elsewhere.png")
    (picture,) = PictureKeeper(tmp_path / "review").keep_pictures(draft).pictures
    assert not (tmp_path / "review" / picture.file).is_symlink()


# What becomes of tasks.jsonl: new lines, changed lines, and decisions that are stale then.


PEOPLE = {"annotator": ["ann"]}
OLD = make_task("p1", people=PEOPLE)
CHANGED = make_task("p1", content={"question": "How?", "answer": ["A"]})


def test_a_changed_task_takes_the_place_of_its_line_and_keeps_its_people() -> None:
    other = make_task("p2", "label", content={"question": "Why?"})
    decisions = [decide(1, "ann", "annotator", OLD), decide(2, "bob", "auditor", OLD)]
    changes = merge_tasks("item", [OLD, other], [CHANGED, make_task("p3")], decisions)
    assert [task.id for task in changes.tasks] == ["item:p1", "label:p2", "item:p3"]
    assert changes.tasks[0] == CHANGED.model_copy(update={"people": PEOPLE})
    assert (changes.new, changes.changed, changes.stale) == (("item:p3",), ("item:p1",), 2)


def test_decisions_that_were_stale_before_are_not_counted_again() -> None:
    stale = decide(1, "ann", "annotator", OLD, content_hash="f" * 64)
    assert merge_tasks("item", [OLD], [CHANGED], [stale]).stale == 0


def test_an_unchanged_task_stays_and_nothing_is_lost() -> None:
    gone = make_task("p9")
    sample = make_task("p1", id="item:p1@week", of="item:p1", purpose="sample")
    changes = merge_tasks("item", [OLD, gone, sample], [make_task("p1")])
    assert changes.tasks == (OLD, gone, sample)
    assert (changes.kept, changes.new, changes.changed, changes.gone) == (1, (), (), ("item:p9",))


def test_nothing_is_written_over_a_bad_line(tmp_path: Path) -> None:
    write_lines(tmp_path / "tasks.jsonl", OLD, "{")
    with pytest.raises(FileFormatError, match=r"tasks\.jsonl, line 2"):
        read_present_tasks(tmp_path)


def test_writers_wait_for_each_other(tmp_path: Path) -> None:
    def add(number: int) -> None:
        with lock_tasks(tmp_path):
            present = read_present_tasks(tmp_path)
            write_tasks(tmp_path, [*present, make_task(f"p{number}")])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add, range(12)))
    assert len(read_present_tasks(tmp_path)) == 12


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="--review"), lock_tasks(tmp_path / "file/review"):
        pass
