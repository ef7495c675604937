"""A frozen dataset holds each picture once, its answers apart, in the order of the papers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from omibench.errors import FileFormatError, MissingInputError, OutputError
from omibench.params.study import Study, parse_study
from omibench.schemas.problem import (
    Answer,
    Choice,
    Figure,
    Original,
    OriginalRow,
    Problem,
    ProblemWarning,
    Question,
)
from omibench.schemas.tables import FrozenManifest, content_hash, read_jsonl, read_typed_json
from omibench.stages.freeze import freeze_dataset
from omibench.stages.freeze.rows import read_originals

Make = Callable[..., Problem]
Freeze = Callable[..., FrozenManifest]
STUDY = parse_study({"freeze": {"name": "set", "version": "2.0.1"}}, "test")


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_questions_and_answers_stand_apart(make: Make, freeze: Freeze, tmp_path: Path) -> None:
    problems = [make(id=f"physics-{n}") for n in (9, 10, 1)]
    manifest = freeze(*problems)
    questions = read_jsonl(tmp_path / "out/questions.jsonl", Question)
    answers = read_jsonl(tmp_path / "out/answers.jsonl", Answer)
    ids = ["physics-9", "physics-10", "physics-1"]
    assert [q.id for q in questions] == [a.id for a in answers] == ids
    assert answers[0].answer == ["gold answer"]
    assert answers[0].n_images == 2
    asked = (tmp_path / "out/questions.jsonl").read_text("utf-8")
    assert "gold answer" not in asked
    assert "a worked solution" not in asked
    assert "hint" not in asked
    assert manifest == read_typed_json(tmp_path / "out/manifest.json", FrozenManifest)
    assert (manifest.name, manifest.version, manifest.problems) == ("set", "2.0.1", 3)
    assert manifest.subjects == {"physics": 3}


@pytest.mark.parametrize("is_allowed", [False, True])
def test_the_manifest_says_how_many_problems_lack_a_rationale(
    make: Make, freeze: Freeze, tmp_path: Path, is_allowed: bool
) -> None:
    study = parse_study({"freeze": {"allow_without_rationale": is_allowed}}, "test")
    problems = [make(), make(id="physics-2", solution=None, sketch="By eye.")]
    manifest = freeze(*problems, study=study)
    assert (manifest.without_rationale, manifest.without_rationale_allowed) == (1, is_allowed)
    assert read_typed_json(tmp_path / "out/manifest.json", FrozenManifest) == manifest
    answers = read_jsonl(tmp_path / "out/answers.jsonl", Answer)
    assert [(answer.solution, answer.sketch) for answer in answers] == [
        ("a worked solution", None), (None, "By eye.")
    ]  # fmt: skip
    assert "By eye" not in (tmp_path / "out/questions.jsonl").read_text("utf-8")


def test_a_dataset_whose_problems_all_have_rationales_says_nothing_of_it(
    make: Make, freeze: Freeze, tmp_path: Path
) -> None:
    freeze(make())
    assert "rationale" not in (tmp_path / "out/manifest.json").read_text("utf-8")
    assert "sketch" not in (tmp_path / "out/answers.jsonl").read_text("utf-8")


def test_gold_stands_in_a_question_only_as_a_choice(
    make: Make, freeze: Freeze, tmp_path: Path
) -> None:
    choices = [Choice(label="A", text="gold answer"), Choice(label="B", text="a lie")]
    freeze(make(choices=choices, answer=["A"]))
    row = json.loads((tmp_path / "out/questions.jsonl").read_text("utf-8"))
    assert [choice["text"] for choice in row.pop("choices")] == ["gold answer", "a lie"]
    assert "gold answer" not in json.dumps(row)
    assert not {"answer", "solution", "warnings", "topic"} & row.keys()


def test_each_picture_once_and_unchanged(
    make: Make, freeze: Freeze, picture: Callable[[str, int], Figure], tmp_path: Path
) -> None:
    shared = [picture("a.png", 10), picture("sub/copy.png", 10), picture("c.jpg", 30)]
    manifest = freeze(make(), make(id="physics-2", images=shared))
    files = {path.name: path.read_bytes() for path in (tmp_path / "out/images").iterdir()}
    assert manifest.images == len(files) == 3
    one, two = read_jsonl(tmp_path / "out/questions.jsonl", Question)
    assert {Path(name).suffix for name in files} == {".png", ".jpg"}
    assert one.images[0].file == two.images[0].file == two.images[1].file
    for figure, read in zip(one.images, make().images, strict=True):
        assert figure.file == f"images/{figure.sha256}.png"
        assert (tmp_path / "out" / figure.file).read_bytes() == (
            tmp_path / "in" / read.file
        ).read_bytes()
        assert (figure.page, figure.sha256) == (read.page, read.sha256)


def test_freezing_again_gives_the_same_bytes_and_drops_old_pictures(
    make: Make, freeze: Freeze, tmp_path: Path
) -> None:
    problems = [make(), make(id="physics-2")]
    freeze(*problems)
    first = tree(tmp_path / "out")
    stale = tmp_path / "out/images" / f"{'f' * 64}.png"
    stale.write_bytes(b"old")
    own = tmp_path / "out/images/notes.txt"
    own.write_text("mine")
    freeze(*problems)
    assert own.read_text() == "mine"
    own.unlink()
    assert tree(tmp_path / "out") == first


def test_content_hash_is_of_the_rows_and_not_of_their_order(make: Make) -> None:
    one, two = make(), make(id="physics-2")
    assert content_hash([one, two]) == content_hash([two, one])
    assert content_hash([one, two]) != content_hash([one, two.model_copy(update={"answer": ["x"]})])


def test_a_corrected_gold_leaves_the_questions_as_they_were(make: Make, freeze: Freeze) -> None:
    before = freeze(make(), to="a")
    after = freeze(make(answer=["better"]), to="b")
    assert before.questions_sha256 == after.questions_sha256
    assert before.answers_sha256 != after.answers_sha256


@pytest.mark.parametrize("answer", [None, []])
def test_a_problem_without_an_answer_is_refused(
    make: Make, freeze: Freeze, tmp_path: Path, answer: list[str] | None
) -> None:
    problems = [make(), make(id="physics-2", answer=answer)]
    with pytest.raises(MissingInputError, match=r"physics-2: no answer; give its key"):
        freeze(*problems)
    assert not (tmp_path / "out").exists()


def reviewed(folder: Path, text: str) -> Study:
    (folder / "review.yaml").write_text(text, "utf-8")
    return parse_study({"review": {"decisions": str(folder / "review.yaml")}}, "test")


def test_review_decisions_are_obeyed(make: Make, freeze: Freeze, tmp_path: Path) -> None:
    study = reviewed(
        tmp_path,
        "- {problem: physics-1, decision: drop, reviewer: A, date: 2026-01-01, reason: a copy}\n"
        "- {problem: physics-2, decision: edit, reviewer: A, date: 2026-01-01, reason: the key is"
        " wrong, edit: {answer: [corrected]}}\n",
    )
    problems = [make(), make(id="physics-2", answer=None)]
    manifest = freeze(*problems, study=study)
    (answer,) = read_jsonl(tmp_path / "out/answers.jsonl", Answer)
    assert (answer.id, answer.answer, manifest.problems) == ("physics-2", ["corrected"], 1)


def test_what_people_corrected_of_a_reading_is_kept_without_their_names(
    make: Make, freeze: Freeze, tmp_path: Path
) -> None:
    corrected = [
        ProblemWarning("corrected", "formula by Ana"),
        ProblemWarning("corrected", "answer by Bo"),
        ProblemWarning("corrected", "formula by Bo"),
    ]
    problems = [make(warnings=corrected), make(id="physics-2")]
    manifest = freeze(*problems)
    assert manifest.corrected == {"physics-1": ["answer", "formula"]}
    card = (tmp_path / "out/README.md").read_text("utf-8")
    assert "corrected the reading of 1 problems (answer of 1, formula of 1)" in card
    assert "Ana" not in card
    plain = freeze(make(), to="plain")
    assert "corrected" not in plain.model_dump_json()


def test_two_problems_with_one_id_are_refused(make: Make, freeze: Freeze) -> None:
    with pytest.raises(FileFormatError, match="physics-1: two problems have this id"):
        freeze(make(), make())


def test_a_changed_or_missing_picture_is_named(make: Make, freeze: Freeze, tmp_path: Path) -> None:
    problems = [make()]
    (tmp_path / "in/a.png").write_bytes(b"other")
    with pytest.raises(FileFormatError, match=r"physics-1: .*a\.png: its content"):
        freeze(*problems)
    (tmp_path / "in/a.png").unlink()
    with pytest.raises(
        MissingInputError, match=r"physics-1: .*a\.png: cannot be read: it does not exist"
    ):
        freeze(*problems)


def test_papers_need_problems(tmp_path: Path) -> None:
    with pytest.raises(MissingInputError, match=r"needs a problems\.jsonl"):
        freeze_dataset(None, tmp_path / "out", STUDY)


def test_simulated_rationales_say_so_in_the_answers_and_on_the_card(
    make: Make, freeze: Freeze, tmp_path: Path
) -> None:
    simulated = make(id="physics-2", warnings=["rationale: SIMULATED (sim-writer)"])
    freeze(make(), simulated)
    real, made_up = read_jsonl(tmp_path / "out/answers.jsonl", Answer)
    assert real.solution == "a worked solution"
    assert made_up.solution == "[SIMULATED rationale by sim-writer]\na worked solution"
    card = (tmp_path / "out/README.md").read_text("utf-8")
    assert "**SIMULATED**: 1 of 2 rationales" in card


def test_what_simulated_models_judged_is_told(make: Make, freeze: Freeze, tmp_path: Path) -> None:
    judged = ["translation: SIMULATED (sim)", "a_new_one: SIMULATED (sim, sam)"]
    problems = [make(warnings=judged), make(id="physics-2", warnings=judged[1:])]
    manifest = freeze(*problems)
    assert manifest.simulated == {"translation": 1, "a_new_one": 2}
    card = (tmp_path / "out/README.md").read_text("utf-8")
    assert "judged the problems before they were frozen (translation of 1, a new one of 2)" in card
    plain = freeze(make(), to="plain")
    assert plain.simulated == {}
    assert "SIMULATED" not in (tmp_path / "plain/README.md").read_text("utf-8")


def test_another_content_under_the_same_version_is_refused(
    make: Make, freeze: Freeze, picture: Callable[[str, int], Figure], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    freeze(make())
    before = tree(out)
    freeze(make())
    others = [
        make(answer=["another"]),
        make(question="From [IMAGE0] and [IMAGE1]: how near?"),
        make(images=[picture("d.png", 99), picture("c.png", 98)]),
    ]
    for other in others:
        with pytest.raises(OutputError, match=r"contains set 2\.0\.1 with other content .*version"):
            freeze(other)
        assert tree(out) == before
    newer = parse_study({"freeze": {"name": "set", "version": "2.0.2"}}, "test")
    assert freeze(others[2], study=newer).version == "2.0.2"
    assert len(list((out / "images").iterdir())) == 2


def test_what_translated_problems_said_before_stays_beside_them(
    make: Make, freeze: Freeze, tmp_path: Path
) -> None:
    original = Original(language="es", question="¿Cuánto mide?", translator="model")
    freeze(make(original=original), make(id="physics-2"))
    assert read_originals(tmp_path / "out") == [OriginalRow(id="physics-1", original=original)]
    freeze(make(), make(id="physics-2"))
    assert read_originals(tmp_path / "out") == []
    (tmp_path / "out/originals.jsonl").unlink()
    assert read_originals(tmp_path / "out") == [], "a freeze of an earlier version"
