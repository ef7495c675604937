"""Topics, clusters, names, picks: people's labels win, and nothing is labelled by accident."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omibench.params.stages.rationale import RationaleParams
from omibench.schemas.problem import LONGEST_VALUE, Problem
from omibench.schemas.request import Response
from omibench.stages.freeze.rows import build_answer
from omibench.stages.rationale.labels import Labeller
from omibench.stages.rationale.labels.clusters import Clustering, embed_ngrams
from omibench.stages.rationale.labels.taxonomy import (
    MOST_LABELS,
    TaxonomyLabels,
    add_taxonomy,
    parse_labels,
)

# Topics, clusters, names, picks: people's labels win, and nothing is labelled by accident.

pytest.importorskip("sklearn")
Make = Callable[..., Problem]
Scripted = Callable[..., Any]
FIRST, SECOND, THIRD = "physics-1", "physics-2", "physics-3"
CLUSTERING = Clustering(2, lambda texts: embed_ngrams(texts, 1), 1)
SKILLS = {"physics": {"turning": "a figure is turned", "reading": "a scale is read"}}
REPLIES = {
    FIRST: [
        "{CLASS: thin lens images#mirrors of lens images}",
        "{CLASS: optics}",
        "{CLASS: optics}",
    ],
    SECOND: ["{CLASS: inclined plane}", "{CLASS: mechanics}", "{CLASS: mechanics}"],
    THIRD: ["{CLASS: thick lens images}", "{CLASS: optics}"],
}


def add(script: Any, rows: list[Problem], whole: bool = True, **params: Any) -> TaxonomyLabels:
    block = RationaleParams.model_validate({"taxonomy": {}, **params})
    labeller = Labeller("tagger", script, {})
    return add_taxonomy(rows, Path("in"), labeller, block, CLUSTERING, whole)


@pytest.fixture
def rows(make: Make) -> list[Problem]:
    return [make(id=name) for name in (FIRST, SECOND, THIRD)]


def test_topics_are_clustered_named_and_picked(rows: list[Problem], scripted: Scripted) -> None:
    script = scripted(REPLIES)
    labels = add(script, rows)
    first, second, third = labels.problems
    assert first.topic == "thin lens images"
    assert first.attributes == {
        "domain": "physics",
        "topics": ["thin lens images", "mirrors of lens images"],
        "subfield": "optics",
    }
    assert (second.attributes["subfield"], third.attributes["subfield"]) == ("mechanics", "optics")
    assert {name: sorted(t) for name, t in labels.subfields["physics"].items()} == {
        "mechanics": ["inclined plane"],
        "optics": ["mirrors of lens images", "thick lens images", "thin lens images"],
    }
    assert [(row.id, row.kind) for row in labels.rows] == [
        *((name, "topic") for name in (FIRST, SECOND, THIRD)),
        *((name, "subfield") for name in (FIRST, SECOND, THIRD)),
    ]
    assert "thin lens images#mirrors of lens images" in script.asked[-3].conversation.text
    assert build_answer(first).attributes == first.attributes


def test_clusters_of_one_name_are_one_subfield(rows: list[Problem], scripted: Scripted) -> None:
    replies = {
        name: [texts[0], "{CLASS: Optics}", "{CLASS: Optics}"] for name, texts in REPLIES.items()
    }
    labels = add(
        scripted(replies | {SECOND: [REPLIES[SECOND][0], "{CLASS: optics}", "none"]}), rows
    )
    assert len(labels.subfields["physics"]) == 1
    assert "subfield" not in labels.problems[1].attributes
    assert any("picked none of the 1" in str(w) for w in labels.problems[1].warnings)


def test_labels_of_people_and_sources_are_kept_and_not_asked(
    make: Make, scripted: Scripted, tmp_path: Path
) -> None:
    file = tmp_path / "labels.yaml"
    file.write_text(
        "subfields: {physics: {optics: [lenses], waves: []}}\n"
        "items: {physics-1: {subfield: waves, topics: [echoes], skills: [reading]}}\n"
    )
    stated = {"topics": ["lenses"], "subfield": "optics of the source", "skills": ["turning"]}
    rows = [make(id=FIRST, topic="sound"), make(id=SECOND, attributes=stated)]
    labels = add(scripted({}), rows, taxonomy={"file": str(file)}, skills=SKILLS)
    first, second = labels.problems
    assert first.topic == "echoes"
    assert first.attributes == {
        "domain": "physics", "topics": ["echoes"], "subfield": "waves", "skills": ["reading"],
    }  # fmt: skip
    assert second.attributes == {"domain": "physics", **stated}
    assert [(row.kind, row.by) for row in labels.rows] == [
        ("topic", "person"), ("subfield", "person"), ("skill", "person"),
    ]  # fmt: skip


def test_a_file_of_people_takes_the_place_of_clusters(
    rows: list[Problem], scripted: Scripted, tmp_path: Path
) -> None:
    file = tmp_path / "labels.yaml"
    file.write_text("subfields: {physics: {light: [], forces: []}}")
    script = scripted(
        {
            name: [texts[0], f"{{CLASS: {'forces' if name == SECOND else 'light'}}}"]
            for name, texts in REPLIES.items()
        }
    )
    labels = add(script, rows, taxonomy={"file": str(file)})
    assert [p.attributes["subfield"] for p in labels.problems] == ["light", "forces", "light"]
    assert len(script.asked) == 6


def test_a_part_of_the_problems_is_not_clustered(rows: list[Problem], scripted: Scripted) -> None:
    script = scripted(REPLIES)
    labels = add(script, rows, whole=False)
    assert len(script.asked) == 3
    assert labels.subfields == {}


def test_a_reply_without_a_topic_is_a_warning(make: Make, scripted: Scripted) -> None:
    cut = Response(text="Lenses", outcome="truncated")
    labels = add(scripted({FIRST: ["lenses"], SECOND: [cut]}), [make(id=FIRST), make(id=SECOND)])
    first, second = labels.problems
    assert (first.topic, second.topic) == (None, None)
    assert list(map(str, first.warnings)) == ["label: tagger named no topic"]
    assert "raise rationale.labeller_max_tokens" in str(second.warnings[0])


def test_simulated_labels_are_marked_once(make: Make, scripted: Scripted) -> None:
    replies = [Response(text="{CLASS: lenses}", simulated=True)] * 3
    labels = add(scripted({FIRST: replies}), [make(id=FIRST)])
    assert list(map(str, labels.problems[0].warnings)) == ["label: SIMULATED (tagger)"]
    assert all(row.simulated for row in labels.rows)


@pytest.mark.parametrize(
    ("reply", "skills", "other", "reason"),
    [
        ("It turns.\n{CLASS: turning#reading}", ["turning", "reading"], None, "It turns."),
        ("No.\n{CLASS: none of the above#maze}", ["none of the above"], "maze", "No."),
        ("{CLASS: none of the above}", ["none of the above"], None, ""),
        ("{CLASS: turning#jumping}", None, None, ""),
        ("{CLASS: turning#none of the above}", None, None, ""),
    ],
)
def test_skills(
    make: Make,
    scripted: Scripted,
    reply: str,
    skills: list[str] | None,
    other: str | None,
    reason: str,
) -> None:
    script = scripted({FIRST: [reply]})
    rows = [make(id=FIRST), make(id="biology-1", subject="biology")]
    labels = add(script, rows, skills=SKILLS, taxonomy=None)
    problem, biology = labels.problems
    assert (problem.attributes.get("skills"), problem.attributes.get("other_skill")) == (
        skills,
        other,
    )
    assert biology == rows[1]
    assert labels.rows[0].reason == reason
    assert bool(problem.warnings) == (skills is None)
    assert "- turning: a figure is turned" in script.asked[0].conversation.text


# Labels are read from the last line alone, within bounds, each once.


@pytest.mark.parametrize(
    ("reply", "labels"),
    [
        ("{CLASS: thin lenses}", ["thin lenses"]),
        ("{CLASS: thin lenses # mirrors}", ["thin lenses", "mirrors"]),
        ("{CLASS: Thin  lenses#thin lenses#mirrors}", ["Thin lenses", "mirrors"]),
        ("{CLASS: #}", []),
        ("{CLASS: optics} and more", []),
        ("optics", []),
        ("", []),
        (f"{{CLASS: {'x' * (LONGEST_VALUE + 1)}}}", []),
        (f"{{CLASS: {'#'.join(map(str, range(MOST_LABELS + 1)))}}}", []),
    ],
)
def test_labels_of_a_reply(reply: str, labels: list[str]) -> None:
    assert parse_labels(Response(text=reply)).labels == labels


@given(st.text())
def test_labels_are_short_and_without_separators_whatever_the_reply(text: str) -> None:
    labels = parse_labels(Response(text=f"{{CLASS: {text}}}")).labels
    assert len(labels) <= MOST_LABELS
    assert all(0 < len(label) <= LONGEST_VALUE and "#" not in label for label in labels)
