"""What the report says of saliency: impacts a problem, confidence, settings against each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.stages.analyze.conftest import make_params

from omibench.errors import MissingInputError, UntrustedError
from omibench.params.study import Study
from omibench.schemas.tables import (
    ADDED_LATER,
    SALIENCY_VERSION,
    SaliencyRow,
    map_file,
    read_parquet,
    write_parquet,
)
from omibench.stages.analyze.results.saliency import Salience, list_cells, saliences
from omibench.stages.analyze.sections.saliency import describe_saliency


class Shown:
    """As much of the results as is looked at."""

    def __init__(self, study: Study, folder: Path) -> None:
        self.study, self.folder = study, folder
        self.simulated_cells = dict.fromkeys(study.cells, True)

    def measure(self) -> list[Salience]:
        return saliences(self, self.study.saliency, self.folder / "saliency")  # type: ignore[arg-type]

    def describe(self, found: list[Salience]) -> dict[str, Any] | None:
        report = self.folder / "analyze/report.html"
        return describe_saliency(self, self.study.saliency, found, report)  # type: ignore[arg-type]

    def label(self, model: str) -> str:
        return model.title()

    def setting_label(self, setting: str) -> str:
        return setting


MEASURED: dict[str, Any] = {"version": SALIENCY_VERSION, "reading": "final_letter", "stride": 28}


def rows(
    logprob: float, *drops: float, problem: str = "p", right: str = "B", declares: bool = False
) -> list[SaliencyRow]:
    return [
        SaliencyRow(
            id=problem, key="0" * 64, image=0, sha256="0" * 64, x=28 * n, y=0, side=56, option=o,
            logprob=logprob, drop=drop, chosen=o == "B", right=o == right, simulated=True,
            mass=0.75, declares=declares, **MEASURED,
        )
        for n, drop in enumerate(drops) for o in "AB"
    ]  # fmt: skip


def unscored(problem: str, outcome: str, reason: str) -> SaliencyRow:
    return SaliencyRow(id=problem, outcome=outcome, reason=reason, **MEASURED)


@pytest.fixture
def shown(tmp_path: Path) -> Shown:
    block = {"settings": ["cot", "direct"], "models": ["sim-weak"]}
    study = make_params({"saliency": block})
    cells = {
        "direct": [
            *rows(-0.5, 0.25, -1.5),
            *rows(-0.2, 0.5, problem="q"),
            *rows(-3.0, 0.5, problem="wrong", right="A"),
        ],
        "cot": [
            *rows(-0.1, 0.25, 0.0),
            *rows(-0.2005, 0.125, problem="q"),
            *rows(-0.1, 0.125, problem="wrong", right="A", declares=True),
            unscored("r", "no_response", "refused"),
            unscored("s", "no_letter", "several options are declared (AC)"),
            unscored("t", "no_letter", "several options are declared (AC)"),
        ],
    }
    for setting, own in cells.items():
        write_parquet(tmp_path / "saliency/sim-weak" / f"{setting}.parquet", own, SaliencyRow)
    return Shown(study, tmp_path)


def test_a_cell_that_was_not_looked_into_is_named(tmp_path: Path, shown: Shown) -> None:
    (tmp_path / "saliency/sim-weak/cot.parquet").unlink()
    with pytest.raises(MissingInputError, match=r"sim-weak/cot\.parquet: does not exist"):
        shown.measure()


def test_the_card_shows_numbers_and_where_the_map_is(shown: Shown) -> None:
    found = shown.measure()
    card = shown.describe(found)
    assert card is not None
    assert card["table"].simulated
    assert [(row[7], row[9]) for row in card["table"].rows] == [
        ("0.167", "0.250"),
        ("0.833", "1.500"),
    ]
    expected = map_file(Path("../saliency/sim-weak/direct"), "p", 0, "B").as_posix()
    assert card["maps"][1]["src"] == expected
    assert (
        "the 2 of 3 problems that are right under both: mean log P of the option −0.350 under "
        "direct and −0.150 under cot; more confident under direct in 0, less confident in 1, equal "
        "within 0.001 in 1; mean impact 1.000 and 0.188."
    ) in card["pairs"][0]
    wrong = [row._replace(right=frozenset()) for row in found]
    card = shown.describe(wrong)
    assert card is not None
    assert "of the 3 problems answered under both, none is right under direct" in card["pairs"][0]
    assert shown.describe([]) is None


def test_what_is_not_scored_is_counted_with_its_reasons(shown: Shown) -> None:
    found = shown.measure()
    cot, direct = found
    assert (dict(cot.unscored), dict(direct.unscored)) == ({"no_response": 1, "no_letter": 2}, {})
    assert (cot.declares, direct.declares) == (1, 0)
    card = shown.describe(found)
    assert card is not None
    (line,) = card["unscored"]
    assert "3 problems not scored: several options are declared (AC) (2); refused (1)." in line
    assert "original resolution" in card["table"].caption


def test_a_cell_of_which_nothing_is_scored_is_a_row_without_numbers(
    tmp_path: Path, shown: Shown
) -> None:
    file = tmp_path / "saliency/sim-weak/cot.parquet"
    write_parquet(file, [unscored("p", "no_response", "truncated")], SaliencyRow)
    found = shown.measure()
    card = shown.describe(found)
    assert card is not None
    first = card["table"].rows[0]
    assert [*first[2:4], first[7]] == [0, 1, "–"]
    assert len(card["maps"]) == 1
    assert card["pairs"] == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"reading": "before_answer"}, "reading final_letter, but the study has before_answer"),
        ({"max_pixels": 200_704}, "max_pixels None, but the study has 200704"),
        ({"patch": 64}, "side 56, but the study has 64"),
        ({"stride": 14}, "stride 28, but the study has 14"),
    ],
)
def test_a_cell_that_was_measured_in_another_way_is_refused(
    tmp_path: Path, shown: Shown, change: dict[str, Any], words: str
) -> None:
    block = {"settings": ["cot", "direct"], "models": ["sim-weak"]}
    other = Shown(make_params({"saliency": block | change}), tmp_path)
    with pytest.raises(UntrustedError, match=words) as caught:
        other.measure()
    assert "--forcerun" in str(caught.value)


def test_a_cell_of_the_first_version_is_read_and_not_reported(tmp_path: Path, shown: Shown) -> None:
    file = tmp_path / "saliency/sim-weak/cot.parquet"
    write_parquet(file, rows(-0.1, 0.5), SaliencyRow)
    fields = SaliencyRow.model_fields.items()
    added = [name for name, field in fields if ADDED_LATER in field.metadata]
    pl.read_parquet(file).drop(added).write_parquet(file)
    assert read_parquet(file, SaliencyRow)["version"].to_list() == [None] * 2
    with pytest.raises(UntrustedError, match=f"version None, but the study has {SALIENCY_VERSION}"):
        shown.measure()


def test_the_table_has_a_row_a_cell(shown: Shown) -> None:
    found = shown.measure()
    table = list_cells(shown.study.saliency, found)
    assert [row["impact_max"] for row in table] == [0.25, 1.5]
    assert [row["n"] for row in table] == [3, 3]
    assert table[1]["supportive"] == pytest.approx(3 / 4)
    assert found[1].right == {"p", "q"}
    assert [(row["no_response"], row["no_letter"], row["declares"]) for row in table] == [
        (1, 2, 1), (0, 0, 0)
    ]  # fmt: skip
    assert {(row["reading"], row["max_pixels"], row["mass"]) for row in table} == {
        ("final_letter", None, 0.75)
    }
