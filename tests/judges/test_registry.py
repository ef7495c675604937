"""Judges of reasoning by name: built in, and of plug-ins with a scale."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.judges.plugin_judges import LABELS, NUMBERS, plugin_judges, register

from omibench.answers.judges.case import JudgeCase
from omibench.answers.judges.instrument import build_request, describe_instrument
from omibench.answers.judges.registry import JUDGES, build_instrument, columns_of
from omibench.answers.judges.scales import LabelScale, NumberScale, Scale
from omibench.errors import ParamsError, PluginError
from omibench.params.panel import JudgePanel
from omibench.params.stages.judge import BUILT_IN_KEYS, ErrorPanel
from omibench.params.study import parse_study
from omibench.schemas.tables import JudgementRow, read_parquet, write_parquet
from omibench.schemas.verdict import ALIGNMENT_MARK, MARKS_BY_INSTRUMENT, QUALITY_MARKS
from omibench.stages.certify.labels import LabelRow

PANEL = JudgePanel(models=["a"])
CASE = JudgeCase(id="p1", question="?", gold=["1"], response="1")


@pytest.fixture(autouse=True)
def _judges() -> Iterator[None]:
    with plugin_judges():
        yield


@pytest.mark.parametrize("whole", [True, False])
def test_a_number_is_read_within_its_bounds(whole: bool) -> None:
    scale = NumberScale(-1, 2, whole=whole)
    replies = {
        "MARK: 2": 2.0,
        "so\n**MARK: -1**": -1.0,
        "MARK: 3": None,
        "MARK: ten": None,
        "2": None,
    }
    assert {reply: scale.read(reply) for reply in replies} == replies
    assert scale.read("MARK: 1.5") == (None if whole else 1.5)
    assert scale.vote([1.0, 2.0]) == 1.5
    assert scale.allows(scale.vote([1.0, 2.0]))
    assert not scale.allows(True)


def test_a_label_is_one_of_the_list() -> None:
    assert LABELS.read("LABEL: Good.") == "good"
    assert LABELS.read("LABEL: fair") is None
    assert LABELS.vote(["good", "bad"]) is None
    assert "- bad: it is not" in LABELS.closing


@pytest.mark.parametrize(
    "make",
    [
        lambda: NumberScale(5, 1),
        lambda: LabelScale({"only": "one"}),
        lambda: LabelScale({"Good": "", "bad": ""}),
    ],
)
def test_a_scale_that_is_none_is_refused(make: Callable[[], Scale]) -> None:
    with pytest.raises(PluginError, match=r"^a scale"):
        make()


def test_the_columns_of_each_judge() -> None:
    tempo, tone = (build_instrument(name, PANEL) for name in ("tempo", "tone"))
    assert columns_of(tempo, PANEL, 7.5) == {"mark": 7.5, "lowest": 0.0, "highest": 10.0}
    assert columns_of(tone, PANEL, "bad") == {"label": "bad"}
    assert columns_of(tone, PANEL, None) == {}
    errors = ErrorPanel(models=["a"], taxonomy="emma")
    error_type = build_instrument("error_type", errors)
    assert columns_of(error_type, errors, None) == {"error_type": None, "taxonomy": "emma"}
    assert columns_of(build_instrument("alignment", PANEL), PANEL, 3.0) == {"alignment": 3.0}
    with pytest.raises(PluginError, match=r"judge 'tempo': 11 is not on its scale"):
        columns_of(tempo, PANEL, 11)


def test_what_a_plug_in_does_wrong_is_one_line() -> None:
    def read(reply: str, case: JudgeCase) -> float:
        return 1 / 0

    register("broken", NUMBERS, read=read)
    register("scaleless", NUMBERS, scale=None)
    register("alias", NUMBERS, name="other")
    with pytest.raises(PluginError, match=r"'broken' \(of p1\): .*ZeroDivisionError"):
        build_instrument("broken", PANEL).read("MARK: 1", CASE)
    with pytest.raises(PluginError, match="'scaleless': its instrument has no scale"):
        build_instrument("scaleless", PANEL)
    with pytest.raises(PluginError, match="'alias': its function must return an Instrument"):
        build_instrument("alias", PANEL)


def test_a_plug_in_s_judge_is_asked_as_the_others() -> None:
    request = build_request(CASE, build_instrument("tempo", PANEL))
    assert request.tags.role == "assessor"
    entry = describe_instrument(build_instrument("tempo", PANEL))
    assert (entry.name, entry.text, entry.closing) == ("tempo", "Judge it.", NUMBERS.closing)
    assert entry.purpose == "a value of the scale of tempo"
    assert request.conversation.text.endswith("N a whole number from 0 to 10:\nMARK: N")


def test_names_under_others_are_checked() -> None:
    values: dict[str, Any] = {"models": {"a": {"provider": "simulated", "oracle": "o.jsonl"}}}

    def read(others: dict[str, Any]) -> Any:
        return parse_study(values | {"judge": {"others": others}}, "p").judge

    panels = read({"tempo": "a"}).named_panels
    assert [(p.instrument, p.key) for p in panels] == [("tempo", "judge.others.tempo")]
    with pytest.raises(ParamsError, match=r"tempoo.*did you mean 'tempo'"):
        read({"tempoo": "a"})
    with pytest.raises(ParamsError, match="unknown judge of reasoning 'quality'"):
        read({"quality": "a"})
    with pytest.raises(ParamsError, match=r"judge\.others\.tempo: 'b' is not defined"):
        read({"tempo": "b"})


def test_marks_are_named_once() -> None:
    assert set(JUDGES.built_in_names) == set(BUILT_IN_KEYS)
    assert {*MARKS_BY_INSTRUMENT, "error_type", "transcript"} == set(BUILT_IN_KEYS)
    for row in (JudgementRow, LabelRow):
        marks = [name for name in row.model_fields if name in (*QUALITY_MARKS, ALIGNMENT_MARK)]
        assert marks == [*QUALITY_MARKS, ALIGNMENT_MARK]


def test_a_file_without_other_judges_lacks_their_columns(tmp_path: Path) -> None:
    base = {"id": "a", "index": 0, "key": "k", "version": 1, "outcome": "scored"}
    quality = JudgementRow(**base, instrument="quality", overall=3.0)
    marked = JudgementRow(**base, instrument="tempo", mark=3.0, lowest=0.0, highest=10.0)
    write_parquet(tmp_path / "old.parquet", [quality], JudgementRow)
    write_parquet(tmp_path / "new.parquet", [quality, marked], JudgementRow)
    old, new = (pl.read_parquet(tmp_path / f"{name}.parquet") for name in ("old", "new"))
    assert set(new.columns) - set(old.columns) == {"mark", "lowest", "highest"}
    frames = [read_parquet(tmp_path / f"{name}.parquet", JudgementRow) for name in ("old", "new")]
    assert pl.concat(frame.select(*JudgementRow.model_fields) for frame in frames)[
        "mark"
    ].to_list() == [None, None, 3.0]
