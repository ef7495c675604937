from __future__ import annotations

import logging
import multiprocessing
import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.items import make_item

from omibench.answers.scorers.registry import score_item
from omibench.errors import OmibenchError
from omibench.graph.code_hash import import_closure
from omibench.schemas.verdict import ScoredItem, Verdict
from omibench.stages.score import cache
from omibench.stages.score.cache import score_items, verdict_key

ITEMS = [
    make_item("\\boxed{5}", "5"),
    make_item("\\boxed{6}", "5"),
    make_item("I'm sorry, I can't.", "5"),
    make_item("B", "B", ["x", "y"]),
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "new" / "verdicts.sqlite"


@pytest.fixture
def scored(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The predictions that were really scored."""
    seen: list[str] = []

    def counted(item: ScoredItem, rules: str) -> Verdict:
        seen.append(item.prediction)
        return score_item(item, rules)

    monkeypatch.setattr(cache, "score_item", counted)
    return seen


@pytest.mark.parametrize(
    "rules", ["robust", "emma", "omibench", "omibench-release", "usnco-v", "usnco-v-last-letter"]
)
def test_a_known_verdict_is_the_same_and_not_made_again(
    file: Path, scored: list[str], rules: str
) -> None:
    first = score_items(ITEMS, rules, file)
    assert first == [score_item(item, rules) for item in ITEMS]
    assert len(scored) == len(ITEMS)
    assert score_items([*ITEMS, make_item("7", "7")], rules, file)[:-1] == first
    assert scored[len(ITEMS) :] == ["7"]


def test_equal_responses_to_other_problems_share_a_verdict(file: Path, scored: list[str]) -> None:
    other = ITEMS[0].model_copy(update={"id": "p-2"})
    assert len({v.verdict for v in score_items([ITEMS[0], other], "robust", file)}) == 1
    assert verdict_key(ITEMS[0], "robust") == verdict_key(other, "robust")
    assert len(scored) <= 2


@pytest.mark.parametrize(
    "update",
    [
        {"prediction": "\\boxed{5} "}, {"gold": ["5.0"]}, {"gold": ["5", "5"]},
        {"answer_type": "mcq"}, {"finish_reason": "length"}, {"outcome": "truncated"},
        {"choices": make_item("", "", ["x"]).choices},
    ],
)  # fmt: skip
def test_whatever_a_rule_may_look_at_is_in_the_key(update: dict[str, object]) -> None:
    changed = ITEMS[0].model_copy(update=update)
    assert verdict_key(changed, "robust") != verdict_key(ITEMS[0], "robust")
    assert verdict_key(ITEMS[0], "emma") != verdict_key(ITEMS[0], "robust")


def test_changed_rules_know_nothing_of_old_verdicts(
    file: Path, scored: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    score_items(ITEMS, "robust", file)
    monkeypatch.setattr(cache, "hash_scorer_sources", lambda: "other rules")
    score_items(ITEMS, "robust", file)
    assert len(scored) == 2 * len(ITEMS)


def test_every_module_that_scorers_import_decides_whether_verdicts_are_known() -> None:
    """The rooms beside it only read plug-ins, say what is wrong and keep workers apart."""
    beside = ("omibench.errors", "omibench.files", "omibench.plugins")
    source = Path(cache.__file__).parents[3]
    names = {
        ".".join(path.relative_to(source).with_suffix("").parts)
        for path in cache.list_scorer_sources()
    }
    needed = {m for m in import_closure("omibench.answers.scorers") if not m.startswith(beside)}
    assert "glyphtex.latex.signs" in needed
    assert {m for m in needed if m not in names and f"{m}.__init__" not in names} == set()


def test_no_file_is_made_where_none_is_asked_for(file: Path, scored: list[str]) -> None:
    published = [item.model_copy(update={"published_verdict": 1.0}) for item in ITEMS]
    score_items(ITEMS, "robust")
    score_items(published, "published", file)
    assert not file.exists()
    with pytest.raises(OmibenchError, match="unknown scorer 'robbust'"):
        score_items(ITEMS, "robbust", file)


@pytest.mark.parametrize("content", [b"no database at all, but long enough to be looked at" * 9])
def test_a_broken_file_is_told_once_and_scoring_goes_on(
    file: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    file.parent.mkdir()
    file.write_bytes(content)
    with caplog.at_level(logging.WARNING, logger="omibench"):
        assert [v.verdict for v in score_items(ITEMS, "robust", file)] == [1.0, 0.0, 0.0, 1.0]
    assert len(caplog.records) == 1
    assert f"the cache {file} is not used" in caplog.text


def test_a_folder_that_cannot_be_made_is_told_too(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "new").write_text("a file")
    with caplog.at_level(logging.WARNING, logger="omibench"):
        assert len(score_items(ITEMS, "robust", tmp_path / "new" / "verdicts.sqlite")) == len(ITEMS)
    assert "is not used" in caplog.text


def test_an_entry_that_is_no_verdict_is_made_again(file: Path, scored: list[str]) -> None:
    first = score_items(ITEMS, "robust", file)
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE verdict SET told = '{\"verdict\": 7}'")
    connection.close()
    assert score_items(ITEMS, "robust", file) == first
    assert len(scored) == 2 * len(ITEMS)


def _score(job: tuple[Path, int]) -> Sequence[float]:
    file, start = job
    items = [make_item(f"\\boxed{{{n}}}", str(n - n % 2)) for n in range(start, start + 600)]
    return [verdict.verdict for verdict in score_items(items, "robust", file)]


@pytest.mark.slow
def test_jobs_side_by_side_share_one_file(file: Path) -> None:
    expected = [1.0, 0.0] * 300
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        assert pool.map(_score, [(file, start) for start in (0, 100, 200)]) == [expected] * 3
    connection = sqlite3.connect(file)
    assert connection.execute("SELECT count(*) FROM verdict").fetchone() == (800,)
    connection.close()
