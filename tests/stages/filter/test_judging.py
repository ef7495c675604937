"""What models say of problems, through the store: each judgement rejects what it should."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from omibench.answers.judges.instrument import Instrument, make_instrument
from omibench.answers.judges.scales import LabelScale
from omibench.errors import ModelError, PassingError, PluginError
from omibench.graph.job_hash import slice_study
from omibench.models.provider import NO_BUDGET, Budget
from omibench.models.simulated.provider import SimulatedProvider
from omibench.params.panel import JudgePanel
from omibench.params.study import Study, parse_study
from omibench.plugins.registry import loading
from omibench.schemas.curation import FilterJudgement, Reject
from omibench.schemas.problem import Choice, Figure, Problem
from omibench.schemas.request import Request, Response
from omibench.schemas.tables import read_jsonl, read_parquet, write_jsonl
from omibench.stages.filter import filter_problems
from omibench.stages.filter.fill import fill_filter
from omibench.stages.filter.reasons.registry import (
    REASONS_OF_MODELS,
    build_model_reason,
    model_reason,
)
from omibench.store.store import Store
from omibench.text.fences import read_fenced

Make = Callable[..., Problem]
Draw = Callable[..., Figure]
BLIND, SOUND, EASY = "blind-1", "sound-1", "easy-1"
CAPTIONS = ["The speed: 2 m/s at 4 s.", "The road: 12 m."]


@pytest.fixture
def problems(make: Make, draw: Draw, tmp_path: Path) -> Path:
    """Three problems on file, an oracle beside them: one is solved from captions, one by all."""
    rows, oracle = [], []
    for number, (name, difficulty) in enumerate(((BLIND, 0.0), (SOUND, 0.0), (EASY, -40.0))):
        figures = [
            draw(f"{name}-{i}.png", [(0, 90 - 20 * number), (40, 20 + 9 * i), (95, 30 * number)])
            for i in range(2)
        ]
        question = f"Figure 1 and Figure 2 show the cart {name}. Where is it after {number} s?"
        rows.append(make(id=name, images=figures, question=question + " [IMAGE0] [IMAGE1]"))
        spared = ["captions"] if name == BLIND else []
        line = {"id": name, "answer": ["12 m"], "captions": CAPTIONS, "statement": question}
        oracle.append(line | {"difficulty": difficulty, "spared": spared})
    (tmp_path / "oracle.jsonl").write_text("".join(json.dumps(row) + "\n" for row in oracle))
    write_jsonl(tmp_path / "problems.jsonl", rows)
    return tmp_path / "problems.jsonl"


def study(folder: Path, screens: dict[str, float] | None = None, **filter_: Any) -> Study:
    """A study whose models are able, and unable under captions and with one image."""
    model = {
        "provider": "simulated", "oracle": str(folder / "oracle.jsonl"), "ability": 30.0,
        "setting_effects": screens or {},
    }  # fmt: skip
    return parse_study(
        {
            "study": {"store": str(folder / "store")},
            "filter": filter_,
            "models": dict.fromkeys(("one", "two", "three"), model)
            | {"seer": model | {"setting_effects": {}}},
        },
        "test",
    )


HARD = {"captions": -200.0, "difficulty": -60.0}
CAPTION_SCREEN = {"captioner": "seer", "models": ["one", "two", "three"]}


def rejected(out: Path) -> dict[str, dict[str, Any]]:
    rows = read_parquet(out / "rejects.parquet", Reject).iter_rows(named=True)
    return {row["id"]: row for row in rows}


def test_a_problem_that_captions_solve_is_rejected_with_its_evidence(
    problems: Path, tmp_path: Path
) -> None:
    params = study(tmp_path, HARD, captions=CAPTION_SCREEN)
    summary = filter_problems(problems, tmp_path / "out", params)
    assert str(summary) == "3 problems, 3 with an answer; 2 kept, 1 rejected (1 captions_suffice)"
    row = rejected(tmp_path / "out")[BLIND]
    assert (row["reason"], row["stage"]) == ("captions_suffice", "filter")
    assert row["evidence"] == (
        "given captions instead of the 2 images: one 10 of 10 right; at least 5 by one model "
        "reject it; SIMULATED (seer, one)"
    )
    told = read_parquet(tmp_path / "out/judgements.parquet", FilterJudgement)
    captions = told.filter(id=BLIND, role="captioner").row(0, named=True)
    assert captions["answers"] == CAPTIONS
    assert captions["right"] is None
    solved = told.filter(id=BLIND, role="respondent")
    assert solved["model"].to_list() == ["one"], "the others need not be asked"
    assert solved["right"].to_list() == [10]
    assert solved["answers"].to_list() == [["12 m"] * 10]
    assert told.filter(id=SOUND, role="respondent")["right"].to_list() == [0, 0, 0]
    keys = set(told["keys"].explode())
    with Store(str(tmp_path / "store")) as store:
        held = {
            json.loads(line)["key"]
            for segment in store.folder.rglob("*.jsonl")
            for line in segment.read_text("utf-8").splitlines()
        }
    assert keys == held, "every reply that was bought is evidence"
    kept = read_jsonl(tmp_path / "out/problems.jsonl", Problem)
    assert [problem.id for problem in kept] == [SOUND, EASY]
    assert list(map(str, kept[0].warnings)) == ["captions: SIMULATED (seer, one, two, three)"]
    assert all((tmp_path / "out" / f.file).is_file() for p in kept for f in p.images)


def test_one_image_that_suffices_rejects(problems: Path, tmp_path: Path) -> None:
    screen = {"models": ["one"], "samples": 4, "right": 4}
    params = study(tmp_path, {"one_image": -5.0}, one_image=screen)
    filter_problems(problems, tmp_path / "out", params)
    assert set(rejected(tmp_path / "out")) == {BLIND, SOUND, EASY}
    weaker = study(tmp_path, {"one_image": -60.0}, one_image={"models": ["one"]})
    filter_problems(problems, tmp_path / "out", weaker)
    found = rejected(tmp_path / "out")
    assert list(found) == [EASY]
    assert "shown the first of 2 images alone: one 10 of 10 right" in found[EASY]["evidence"]


def test_too_easy_is_what_every_model_solves(problems: Path, tmp_path: Path) -> None:
    params = study(tmp_path, HARD, difficulty={"models": ["one", "two"]})
    filter_problems(problems, tmp_path / "out", params)
    found = rejected(tmp_path / "out")
    assert {id_: row["reason"] for id_, row in found.items()} == {EASY: "too_easy"}
    assert found[EASY]["evidence"].startswith(
        "shown everything: one 1 of 1 right, two 1 of 1 right; at least 1 by every model reject it"
    )
    told = read_parquet(tmp_path / "out/judgements.parquet", FilterJudgement)
    assert told.filter(id=SOUND)["model"].to_list() == ["one"], "who comes after need not try"


def test_all_voters_must_agree(
    problems: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Request] = []

    def voting(self: SimulatedProvider, request: Request) -> Response:
        seen.append(request)
        name, id_ = self.name, request.tags.problem
        vote = {"one_question": True, "complete": True, "figures_matter": True}
        if (name, id_) == ("two", SOUND):
            vote["figures_matter"] = False
        if (name, id_) == ("three", EASY):
            return Response(text="I cannot say.", simulated=True)
        return Response(text=f"Let me see.\n{json.dumps(vote)}", simulated=True)

    monkeypatch.setattr(SimulatedProvider, "respond", voting)
    params = study(tmp_path, completeness=["one", "two", "three"])
    filter_problems(problems, tmp_path / "out", params)
    found = rejected(tmp_path / "out")
    assert set(found) == {SOUND, EASY}
    assert {row["reason"] for row in found.values()} == {"not_one_complete_question"}
    assert found[SOUND]["evidence"] == (
        "2 of 3 models approve it, all must; two: it can be solved without its figures; "
        "SIMULATED (one, two, three)"
    )
    assert "three: no readable vote" in found[EASY]["evidence"]
    assert len(seen) == 3 * 3 + 1, "what cannot be read is asked for once more"
    shown = seen[0].conversation
    assert len(shown.images) == 2
    assert read_fenced(shown.text)["QUESTION"].startswith("Figure 1 and Figure 2 show the cart")


@pytest.fixture
def dull() -> Iterator[None]:
    """A reason of models from a plug-in."""
    with loading("own.py"):

        @model_reason("dull", rejects=["yes"])
        def build_dull(panel: JudgePanel) -> Instrument[Any]:
            return make_instrument("dull", "Is it dull?", LabelScale({"yes": "Dull.", "no": "No."}))

    yield
    REASONS_OF_MODELS.forget("own.py")


def test_models_reject_for_the_reason_of_a_plug_in(
    problems: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dull: None
) -> None:
    labels = {
        SOUND: {"one": "no", "two": "no", "three": "yes"},
        EASY: {"one": "yes", "two": "no", "three": "yes"},
        BLIND: {"one": "yes", "two": "no", "three": "perhaps"},
    }
    seen: list[Request] = []

    def label(self: SimulatedProvider, request: Request) -> Response:
        seen.append(request)
        return Response(text=f"LABEL: {labels[request.tags.problem][self.name]}", simulated=True)

    monkeypatch.setattr(SimulatedProvider, "respond", label)
    params = study(tmp_path, model_reasons={"dull": ["one", "two", "three"]})
    filter_problems(problems, tmp_path / "out", params)
    found = rejected(tmp_path / "out")
    assert {id_: row["reason"] for id_, row in found.items()} == {EASY: "dull", BLIND: "dull"}
    assert found[EASY]["evidence"] == (
        "yes (one: yes, two: no, three: yes); SIMULATED (one, two, three)"
    )
    assert found[BLIND]["evidence"].startswith("no label has a majority (one: yes, two: no, three:")
    judgements = read_parquet(tmp_path / "out/judgements.parquet", FilterJudgement)
    assert judgements.filter(judgement="dull").height == 9
    shown = seen[0].conversation
    assert len(shown.images) == 2
    assert set(read_fenced(shown.text)) == {"QUESTION"}


def test_a_reason_of_models_is_checked_when_it_is_used(tmp_path: Path, dull: None) -> None:
    panel = JudgePanel(models=["one"])
    with pytest.raises(PluginError, match="rejects is 'yes'; give its labels"):
        model_reason("other", rejects="yes")
    with pytest.raises(PluginError, match="the name is taken"):
        model_reason("too_easy", rejects=["yes"])
    with loading("own.py"):
        model_reason("odd", rejects=["never"])(
            lambda panel: make_instrument("odd", "Odd?", LabelScale({"yes": "Odd.", "no": "No."}))
        )
        model_reason("none", rejects=["never"])(lambda panel: None)  # type: ignore[arg-type,return-value]
    with pytest.raises(PluginError, match="'odd': rejects contains 'never', which is not a label"):
        build_model_reason("odd", panel)
    with pytest.raises(PluginError, match="'none': its function must return an Instrument"):
        build_model_reason("none", panel)


def test_judgements_see_only_what_is_left_in_turn(problems: Path, tmp_path: Path) -> None:
    params = study(
        tmp_path, HARD, captions=CAPTION_SCREEN, difficulty={"models": ["one"]},
        completeness=["one"],
    )  # fmt: skip
    summary = filter_problems(problems, tmp_path / "out", params)
    assert summary.survivors == 1
    told = read_parquet(tmp_path / "out/judgements.parquet", FilterJudgement)
    asked = {
        name: told.filter(judgement=name)["id"].unique(maintain_order=True).to_list()
        for name in ("completeness", "captions", "difficulty")
    }
    assert asked == {
        "completeness": [BLIND, SOUND, EASY],
        "captions": [BLIND, SOUND, EASY],
        "difficulty": [SOUND, EASY],
    }


@pytest.fixture
def bilingual(problems: Path, tmp_path: Path) -> Path:
    """An English problem, the same in Spanish, and another with the Spanish words."""
    first, second, _ = read_jsonl(problems, Problem)
    english = first.model_copy(
        update={"question": "Figures 1 and 2 show a cart and its road. How far does it go in 8 s?"}
    )
    spanish = english.model_copy(
        update={
            "id": "es-1", "source": "es", "language": "es",
            "question": "Las figuras 1 y 2 muestran un carro y su camino. ¿Cuánto avanza en 8 s?",
        }
    )  # fmt: skip
    other = spanish.model_copy(update={"id": "es-2", "images": second.images})
    write_jsonl(problems, [english, spanish, other])
    said = "Figures 1 and 2 show a cart and its way. How far does it move in 8 s?"
    lines = [
        {"id": p.id, "answer": ["12 m"], "translation": said} for p in (english, spanish, other)
    ]
    (tmp_path / "oracle.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return problems


def test_a_copy_in_another_language_is_found_after_translation(
    bilingual: Path, tmp_path: Path
) -> None:
    assert filter_problems(bilingual, tmp_path / "out", study(tmp_path)).survivors == 3
    summary = filter_problems(bilingual, tmp_path / "out", study(tmp_path, translation="seer"))
    assert summary.survivors == 2
    row = rejected(tmp_path / "out")["es-1"]
    assert row["reason"] == "near_duplicate"
    assert "similar to blind-1 (read in en, this one in es), at least 0.6" in row["evidence"]
    (_, other) = read_jsonl(tmp_path / "out/problems.jsonl", Problem)
    assert (other.id, other.language) == ("es-2", "en")
    assert other.original is not None
    assert other.original.question.startswith("Las figuras")
    assert "translation: SIMULATED (seer)" in list(map(str, other.warnings))
    strict = study(tmp_path, translation="seer", near_duplicate_translated=1.0)
    assert filter_problems(bilingual, tmp_path / "out", strict).survivors == 3


def test_filled_in_shards_the_stage_asks_nothing(
    problems: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    params = study(tmp_path, HARD, captions=CAPTION_SCREEN, completeness=["one"])
    assert [fill_filter(problems, params, slice(i, i + 2)) for i in (0, 2)] == [2, 1]

    def closed(
        self: SimulatedProvider, requests: Sequence[Request], budget: Budget = NO_BUDGET
    ) -> Iterator[tuple[Request, Response]]:
        raise AssertionError("the stage asked what was not filled")

    monkeypatch.setattr(SimulatedProvider, "answer", closed)
    assert filter_problems(problems, tmp_path / "out", params).survivors == 2


@pytest.mark.parametrize(
    ("reply", "error", "line"),
    [
        (
            Response(text="", outcome="provider_error", error="HTTP 503", passing=True),
            PassingError,
            r"filter: 1 of 3 requests to one \(voter\) have no answer, the first is for 'sound-1': "
            r"HTTP 503; completed replies are kept; run again$",
        ),
        (
            Response(text="", outcome="budget_stop"),
            ModelError,
            r"the budget is used up; .* kept; raise study\.budget_usd and run again$",
        ),
    ],
)
def test_a_judgement_without_an_answer_stops_the_stage_and_loses_nothing(
    problems: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reply: Response,
    error: type[ModelError], line: str,
) -> None:  # fmt: skip
    params = study(tmp_path, completeness=["one"])
    answer = SimulatedProvider.respond

    def failing(self: SimulatedProvider, request: Request) -> Response:
        return reply if request.tags.problem == SOUND else answer(self, request)

    monkeypatch.setattr(SimulatedProvider, "respond", failing)
    with pytest.raises(error, match=line):
        filter_problems(problems, tmp_path / "out", params)
    assert not (tmp_path / "out/problems.jsonl").exists()
    asked: list[str] = []

    def counted(self: SimulatedProvider, request: Request) -> Response:
        asked.append(request.tags.problem)
        return answer(self, request)

    monkeypatch.setattr(SimulatedProvider, "respond", counted)
    assert filter_problems(problems, tmp_path / "out", params).survivors == 3
    assert asked == [SOUND]


def test_without_models_nothing_is_asked(problems: Path, tmp_path: Path) -> None:
    assert filter_problems(problems, tmp_path / "out", study(tmp_path)).survivors == 3
    assert not (tmp_path / "store").exists()
    assert read_parquet(tmp_path / "out/judgements.parquet", FilterJudgement).is_empty()


def test_the_job_depends_on_the_models_that_it_asks_alone(tmp_path: Path) -> None:
    params = study(tmp_path, captions=CAPTION_SCREEN | {"models": ["one"]})
    part = slice_study(params, "filter")
    assert set(part["models"]) == {"one", "seer"}
    assert set(part) == {"filter", "models", "study"}
    assert not slice_study(study(tmp_path), "filter")


def test_a_picture_that_is_not_a_problems_own_is_never_sent(problems: Path, tmp_path: Path) -> None:
    Image.new("L", (5, 5)).save(tmp_path / f"{BLIND}-1.png")
    with pytest.raises(ModelError, match=BLIND):
        filter_problems(problems, tmp_path / "out", study(tmp_path, completeness=["one"]))


def test_choices_are_lettered_for_those_who_try(problems: Path, tmp_path: Path) -> None:
    rows = read_jsonl(problems, Problem)
    choices = [Choice(label=label, text=f"{i} m") for i, label in enumerate("ABCD")]
    write_jsonl(problems, [rows[2].model_copy(update={"choices": choices, "answer": ["B"]})])
    line = {"id": EASY, "answer": ["B"], "choices": list("ABCD"), "difficulty": -60.0}
    (tmp_path / "oracle.jsonl").write_text(json.dumps(line) + "\n")
    filter_problems(problems, tmp_path / "out", study(tmp_path, difficulty={"models": ["one"]}))
    told = read_parquet(tmp_path / "out/judgements.parquet", FilterJudgement)
    assert told["answers"].to_list() == [["B"]]
    assert rejected(tmp_path / "out")[EASY]["reason"] == "too_easy"
