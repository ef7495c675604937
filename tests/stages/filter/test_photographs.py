"""Models sort photographs and vote on them as they are; clean pictures go where theirs go."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from omibench.models.simulated.provider import SimulatedProvider
from omibench.params.study import Study, parse_study
from omibench.schemas.curation import FilterJudgement, Reject
from omibench.schemas.problem import Problem
from omibench.schemas.request import Request, Response
from omibench.schemas.tables import read_jsonl, read_parquet, write_jsonl
from omibench.stages.filter import filter_problems
from stages.filter.conftest import Draw, Make

MATHS = {"subject": "mathematics", "figure": True}
WHOLE = {"one_question": True, "complete": True, "figure_needed": True, "no_dialogue": True}
PAPER = {"one_question": True, "complete": True, "figures_matter": True}


@pytest.fixture
def problems(make: Make, draw: Draw, tmp_path: Path) -> Path:
    """Four photographs, the first with its clean picture, and a problem of a paper."""
    rows: list[Problem] = []
    for k, name in enumerate(("sound", "chat", "poem", "physics")):
        photograph = draw(f"{name}.png", [(0, 9 * k), (50, 90), (95, 20 * k)])
        fields: dict[str, Any] = {
            "id": name, "group": name, "question": "[IMAGE0]\nread badly", "pages": [],
            "images": [photograph], "photograph": "real", "answer": None,
        }  # fmt: skip
        rows.append(make(**fields))
        clean = draw(f"{name}-clean.png", [(5, 9 * k), (50, 90), (95, 20 * k)])
        twin = {"id": f"{name}-clean", "images": [clean], "photograph": "clean"}
        rows.append(make(**(fields | twin)))
    rows.append(make(id="paper"))
    write_jsonl(tmp_path / "problems.jsonl", rows)
    return tmp_path / "problems.jsonl"


def make_study(folder: Path, **blocks: Any) -> Study:
    (folder / "oracle.jsonl").write_text('{"id": "x", "answer": ["1"]}\n')
    model = {"provider": "simulated", "oracle": str(folder / "oracle.jsonl")}
    return parse_study(
        {
            "study": {"store": str(folder / "store")},
            "filter": {"preset": "mathreal", **blocks},
            "models": {"one": model, "two": model},
        },
        "test",
    )


def answer_with(
    monkeypatch: pytest.MonkeyPatch, replies: Mapping[tuple[str, str], Mapping[str, Any]]
) -> list[Request]:
    """Models that approve of everything but what `replies` says by (problem, kind of prompt)."""
    seen: list[Request] = []

    def respond(self: SimulatedProvider, request: Request) -> Response:
        seen.append(request)
        text = request.conversation.text
        kind, usual = (
            ("class", MATHS)
            if '{"subject": ' in text
            else ("vote", WHOLE if "no_dialogue" in text else PAPER)
        )
        said = replies.get((request.tags.problem, kind), usual)
        return Response(text=json.dumps(said), simulated=True)

    monkeypatch.setattr(SimulatedProvider, "respond", respond)
    return seen


def read_rejects(out: Path) -> dict[str, tuple[str, str]]:
    rows = read_parquet(out / "rejects.parquet", Reject).iter_rows(named=True)
    return {row["id"]: (row["reason"], row["evidence"]) for row in rows}


def test_photographs_are_sorted_and_voted_on_as_they_are(
    problems: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = answer_with(
        monkeypatch,
        {
            ("physics", "class"): {"subject": "physics", "figure": True},
            ("poem", "class"): {"subject": "mathematics", "figure": False},
            ("chat", "vote"): WHOLE | {"no_dialogue": False},
        },
    )
    study = make_study(tmp_path, photographs="one", completeness=["one", "two"])
    filter_problems(problems, tmp_path / "out", study)
    kept = read_jsonl(tmp_path / "out/problems.jsonl", Problem)
    assert [problem.id for problem in kept] == ["sound", "sound-clean", "paper"]
    assert [problem.subject for problem in kept] == ["mathematics", "mathematics", "other"]
    assert read_rejects(tmp_path / "out") == {
        "poem": (
            "unwanted_photograph",
            "it has no figure; one: mathematics, no figure; SIMULATED (one)",
        ),
        "poem-clean": ("unwanted_photograph", "its photograph poem is rejected"),
        "physics": (
            "unwanted_photograph",
            "its subject is physics, wanted: mathematics; one: physics; SIMULATED (one)",
        ),
        "physics-clean": ("unwanted_photograph", "its photograph physics is rejected"),
        "chat": (
            "not_one_complete_question",
            "0 of 2 models approve it, all must; one: it shows a conversation, not a printed "
            "question; two: it shows a conversation, not a printed question; SIMULATED (one, two)",
        ),
        "chat-clean": ("not_one_complete_question", "its photograph chat is rejected"),
    }
    of_photographs = [r for r in seen if r.tags.problem != "paper"]
    assert all("read badly" not in request.conversation.text for request in of_photographs)
    assert all(len(request.conversation.images) == 1 for request in of_photographs)
    assert len(of_photographs) == 4 + 2 * 2, "no clean picture is asked about"
    said = read_parquet(tmp_path / "out/judgements.parquet", FilterJudgement)
    assert set(said["judgement"]) == {"photographs", "completeness"}
    warnings = [str(warning) for problem in kept[:2] for warning in problem.warnings]
    assert warnings == [
        "photographs: SIMULATED (one)", "completeness: SIMULATED (one, two)",
    ] * 2  # fmt: skip


def test_a_class_that_cannot_be_read_keeps_nothing(
    problems: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_with(monkeypatch, {("sound", "class"): {"subject": "magic", "figure": True}})
    study = make_study(tmp_path, photographs={"models": ["one"], "subjects": ["physics"]})
    filter_problems(problems, tmp_path / "out", study)
    rejects = read_rejects(tmp_path / "out")
    assert rejects["sound"][1].startswith("a model gave no readable class; one: no readable vote")
    assert rejects["chat"][1].startswith("its subject is mathematics, wanted: physics")


def test_models_that_name_several_wanted_subjects_set_none(
    problems: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def respond(self: SimulatedProvider, request: Request) -> Response:
        subject = {"one": "physics", "two": "mathematics"}[self.name]
        return Response(text=json.dumps({"subject": subject, "figure": True}), simulated=True)

    monkeypatch.setattr(SimulatedProvider, "respond", respond)
    screen = {"models": ["one", "two"], "subjects": ["mathematics", "physics"]}
    filter_problems(problems, tmp_path / "out", make_study(tmp_path, photographs=screen))
    kept = read_jsonl(tmp_path / "out/problems.jsonl", Problem)
    assert {problem.subject for problem in kept} == {"other"}


def test_a_clean_picture_that_looks_like_its_photograph_is_no_copy(
    make: Make, draw: Draw, tmp_path: Path
) -> None:
    image = draw("p.png", [(0, 9), (9, 90)])
    rows = [
        make(id=name, group=name[0], question="[IMAGE0]", images=[image], photograph=kind)
        for name, kind in (("p", "real"), ("p-clean", "clean"), ("q", "real"))
    ]
    write_jsonl(tmp_path / "problems.jsonl", rows)
    study = make_study(tmp_path, reasons=["exact_duplicate", "near_duplicate"])
    filter_problems(tmp_path / "problems.jsonl", tmp_path / "out", study)
    kept = read_jsonl(tmp_path / "out/problems.jsonl", Problem)
    assert [problem.id for problem in kept] == ["p", "p-clean"]
    assert read_rejects(tmp_path / "out")["q"][0] == "exact_duplicate"


def test_a_clean_picture_goes_where_reasons_and_screens_send_its_photograph(
    make: Make, draw: Draw, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fields = {"question": "[IMAGE0]", "answer": ["7"]}
    rows = [
        make(id=name + end, group=name, photograph=kind, **fields,
             images=[draw(f"{name}{end}.png", [(0, 9 + k), (90, 90 - 30 * k)])])
        for k, name in enumerate(("first", "second"))
        for end, kind in (("", "real"), ("-clean", "clean"))
    ]  # fmt: skip
    rows[0] = make(id="first", group="first", photograph="real", question="?", images=[])
    write_jsonl(tmp_path / "problems.jsonl", rows)

    def respond(self: SimulatedProvider, request: Request) -> Response:
        is_right = not request.tags.problem.endswith("clean")
        return Response(text="\\boxed{7}" if is_right else "\\boxed{8}", simulated=True)

    monkeypatch.setattr(SimulatedProvider, "respond", respond)
    study = make_study(tmp_path, difficulty={"models": ["one"]})
    filter_problems(tmp_path / "problems.jsonl", tmp_path / "out", study)
    rejects = read_rejects(tmp_path / "out")
    assert rejects["first-clean"] == ("too_few_images", "its photograph first is rejected")
    assert rejects["second"][0] == "too_easy"
    assert rejects["second-clean"] == ("too_easy", "its photograph second is rejected")


def test_words_of_ones_own_take_the_place_of_either_prompt(
    problems: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = answer_with(monkeypatch, {})
    for name in ("class", "vote"):
        (tmp_path / f"{name}.txt").write_text(f"My words of the {name}.")
    study = make_study(
        tmp_path,
        photographs={
            "models": ["one"],
            "prompt": str(tmp_path / "class.txt"),
            "completeness_prompt": str(tmp_path / "vote.txt"),
        },
        completeness="one",
    )
    filter_problems(problems, tmp_path / "out", study)
    texts = [request.conversation.text for request in seen if request.tags.problem == "sound"]
    assert [text.split("\n")[0] for text in texts] == [
        "My words of the class.", "My words of the vote.",
    ]  # fmt: skip
