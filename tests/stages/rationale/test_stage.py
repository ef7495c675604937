"""The stage asks the study's models through its store, and buys nothing twice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from omibench.errors import MissingExtraError, ModelError, ParamsError
from omibench.models.simulated.provider import SimulatedProvider
from omibench.params.study import Study, parse_study
from omibench.schemas.curation import LabelRow, RationaleCandidate
from omibench.schemas.problem import Figure, Problem
from omibench.schemas.request import Conversation, Message, Request, Response, Tags, TextPart
from omibench.schemas.tables import read_jsonl, write_jsonl
from omibench.stages.rationale import write_rationales
from omibench.stages.rationale.fill import fill_rationales
from omibench.stages.rationale.labels.label_file import read_labels
from omibench.stages.rationale.stage import refuse_gaps

# The stage asks the study's models through its store, and buys nothing twice.

Make = Callable[..., Problem]
STEPS = "The speed of Figure 1 times the eight seconds of Figure 2 gives the distance. " * 5


@pytest.fixture
def problems(make: Make, tmp_path: Path) -> Path:
    """Two problems on file, one of which brings its own solution, and an oracle beside them."""
    images = []
    for name, grey in (("a.png", 0), ("b.png", 99)):
        (tmp_path / "in").mkdir(exist_ok=True)
        Image.new("L", (4, 4), grey).save(tmp_path / "in" / name)
        content = (tmp_path / "in" / name).read_bytes()
        images.append(Figure(file=name, sha256=hashlib.sha256(content).hexdigest()))
    rows = [make(images=images), make(id="physics-2", images=images, solution="By hand.")]
    write_jsonl(tmp_path / "in/problems.jsonl", rows)
    oracle = [
        {
            "id": row.id, "answer": row.answer, "subject": "physics", "topic": "mechanics",
            "rationale": STEPS,
        } for row in rows
    ]  # fmt: skip
    (tmp_path / "oracle.jsonl").write_text("".join(json.dumps(row) + "\n" for row in oracle))
    return tmp_path / "in/problems.jsonl"


def study(folder: Path, **rationale: Any) -> Study:
    model = {"provider": "simulated", "oracle": str(folder / "oracle.jsonl")}
    return parse_study(
        {
            "study": {"store": str(folder / "store")},
            "rationale": rationale,
            "models": {"pen": model, "tagger": model},
        },
        "test",
    )


TOPICS = {"physics": ["mechanics", "optics"]}


def test_missing_solutions_and_topics_are_filled_in(problems: Path, tmp_path: Path) -> None:
    full = study(tmp_path, writer="pen", labeller="tagger", topics=TOPICS)
    assert write_rationales(problems, tmp_path / "out", full) == 2
    written, own = read_jsonl(tmp_path / "out/problems.jsonl", Problem)
    assert written.solution is not None
    assert STEPS.strip() in written.solution
    assert "rationale: SIMULATED (pen)" in list(map(str, written.warnings))
    assert written.sketch is None
    assert (own.solution, own.sketch) == (written.solution, "By hand.")
    assert list(map(str, own.warnings)) == [
        "rationale: SIMULATED (pen)", "label: SIMULATED (tagger)"
    ]  # fmt: skip
    assert (written.topic, own.topic) == ("mechanics", "mechanics")
    assert all((tmp_path / "out" / f.file).is_file() for f in written.images)


def test_all_candidates_are_on_file_with_the_scorer_that_params_name(
    problems: Path, tmp_path: Path
) -> None:
    write_rationales(problems, tmp_path / "out", study(tmp_path, writer="pen", scorer="omibench"))
    rows = read_jsonl(tmp_path / "out/candidates.jsonl", RationaleCandidate)
    assert [row.id for row in rows] == [f"physics-{p}#{n}" for p in (1, 2) for n in range(4)]
    assert {(row.rules, row.model, row.simulated) for row in rows} == {("omibench", "pen", True)}
    held = {
        json.loads(line)["key"]
        for file in (tmp_path / "store").glob("*/*.jsonl")
        for line in file.read_text("utf-8").splitlines()
    }
    assert {row.key for row in rows} == held
    again = study(tmp_path, writer="pen", candidates=6)
    write_rationales(problems, tmp_path / "out", again)
    more = read_jsonl(tmp_path / "out/candidates.jsonl", RationaleCandidate)
    first = {row.id: (row.key, row.text) for row in more}
    assert len(more) == 12
    assert {row.id: (row.key, row.text) for row in rows}.items() <= first.items()


@pytest.mark.parametrize("rules", ["mathreal", "published", "robots"])
def test_a_scorer_that_cannot_check_a_candidate_is_refused(tmp_path: Path, rules: str) -> None:
    with pytest.raises(ParamsError, match=rf"rationale.*{rules}"):
        study(tmp_path, writer="pen", scorer=rules)


def test_without_models_nothing_changes(problems: Path, tmp_path: Path) -> None:
    assert write_rationales(problems, problems.parent / "out", study(tmp_path)) == 2
    before = read_jsonl(problems, Problem)
    after = read_jsonl(problems.parent / "out/problems.jsonl", Problem)
    assert [p.images[0].file for p in after] == ["../a.png", "../a.png"]
    assert [p.model_copy(update={"images": []}) for p in after] == [
        p.model_copy(update={"images": []}) for p in before
    ]
    assert not (tmp_path / "store").exists()


def test_a_labeller_needs_a_list_for_each_subject(problems: Path, tmp_path: Path) -> None:
    with pytest.raises(ParamsError, match="no list for the subject 'physics'"):
        write_rationales(problems, tmp_path / "out", study(tmp_path, labeller="tagger"))


def test_a_taxonomy_is_found_and_written_in_equal_bytes(problems: Path, tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    skills = {"physics": {"reading": "a scale is read"}}
    full = study(tmp_path, labeller="tagger", taxonomy={}, skills=skills)
    names = ("problems.jsonl", "labels.jsonl", "labels.yaml")
    written = []
    for folder in ("out", "again"):
        write_rationales(problems, tmp_path / folder, full)
        written.append([(tmp_path / folder / name).read_bytes() for name in names])
    assert written[0] == written[1]
    first, _ = read_jsonl(tmp_path / "out/problems.jsonl", Problem)
    assert first.topic == "mechanics of figures"
    assert first.attributes == {
        "domain": "physics", "topics": ["mechanics of figures"], "subfield": "mechanics",
        "skills": ["reading"],
    }  # fmt: skip
    assert list(map(str, first.warnings)) == ["label: SIMULATED (tagger)"]
    rows = read_jsonl(tmp_path / "out/labels.jsonl", LabelRow)
    assert {(row.kind, row.by, row.simulated) for row in rows} == {
        (kind, "tagger", True) for kind in ("topic", "subfield", "skill")
    }
    assert read_labels(tmp_path / "out/labels.yaml").subfields == {
        "physics": {"mechanics": ["mechanics of figures"]}
    }


def test_shards_buy_topics_and_leave_clusters_to_the_job(
    problems: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("sklearn")
    full = study(tmp_path, labeller="tagger", taxonomy={})
    for start in range(2):
        fill_rationales(problems, full, slice(start, start + 1))
    asked: list[str] = []
    respond = SimulatedProvider.respond

    def count(provider: SimulatedProvider, request: Request) -> Response:
        asked.append(request.conversation.text)
        return respond(provider, request)

    monkeypatch.setattr(SimulatedProvider, "respond", count)
    write_rationales(problems, tmp_path / "out", full)
    assert len(asked) == 3  # the name of one cluster, and two picks


def test_without_scikit_learn_the_extra_is_named(
    problems: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("omibench.extras.find_spec", lambda _: None)
    full = study(tmp_path, labeller="tagger", taxonomy={})
    with pytest.raises(MissingExtraError, match=r"taxonomy: clustering labels needs skl"):
        write_rationales(problems, tmp_path / "out", full)


# A candidate that a later run would buy is not passed over.

ANSWERED = Response(text="So.")
STOPPED = Response(text="", outcome="budget_stop")


def ask(*responses: Response) -> Sequence[tuple[str, Response]]:
    message = Message(role="user", parts=(TextPart(text="?"),))
    conversation = Conversation(messages=(message,))
    tags = [Tags(role="rationale_writer", problem=f"p{n}") for n in range(len(responses))]
    requests = [Request(conversation=conversation, tags=tag) for tag in tags]
    return refuse_gaps("pen", lambda _: [("key", r) for r in responses])(requests)


def test_a_budget_that_is_used_up_stops_the_stage() -> None:
    with pytest.raises(ModelError) as raised:
        ask(ANSWERED, STOPPED, STOPPED)
    assert str(raised.value) == (
        "rationale: 2 of 3 requests to pen (rationale_writer) have no answer, the first is for "
        "'p1': the budget is used up; completed replies are kept; raise "
        "study.budget_usd and run again"
    )
