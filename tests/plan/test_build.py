"""The plan counts what would be asked, and asks nothing."""

from __future__ import annotations

import gc
import tempfile
from pathlib import Path
from typing import Any

import pytest
from tests.judges.plugin_judges import plugin_judges
from tests.stages.analyze.conftest import make_study
from tests.stages.infer.conftest import Make, frozen_questions, study_maker

from omibench.errors import MissingInputError
from omibench.params.setting import Cell
from omibench.params.study import Study
from omibench.schemas.problem import Answer, Question
from omibench.schemas.request import Response
from omibench.schemas.tables import ResponseRow, read_jsonl, write_jsonl, write_parquet
from omibench.stages.infer import infer_cell
from omibench.store.ledger import BudgetAccount, Ledger
from omibench.store.store import Store
from omibench.study.plan.build import plan_study
from omibench.study.plan.plan import Plan, PlanRow, StudyView
from omibench.study.plan.text import render

PRICE = {"input": 2.0, "output": 10.0, "as_of": "2026-11-21"}
API: dict[str, Any] = {
    "provider": "openai", "id": "gpt-4o", "price": PRICE, "image_tokens": "openai-tiles",
}  # fmt: skip


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    return frozen_questions(tmp_path)


@pytest.fixture
def study(tmp_path: Path) -> Make:
    return study_maker(tmp_path)


def counts(study: Study, questions: Path) -> list[tuple[int, ...]]:
    rows = plan_study(study, questions).list_rows("respondent")
    return [(r.requests, r.stored, r.to_buy, r.shown) for r in rows]


@pytest.fixture
def paid(study: Make, tmp_path: Path) -> Make:
    """Makes a study of paid models, by default of one, under one setting."""
    own = {"name": "test", "store": str(tmp_path / "store"), "results": str(tmp_path / "results")}

    def make(budget: float | None = None, samples: int = 1, **models: Any) -> Study:
        blocks = {name: {**API, **more} for name, more in (models or {"api": {}}).items()}
        return study(
            study=own | ({} if budget is None else {"budget_usd": budget}),
            models=blocks,
            infer={"models": list(blocks), "settings": ["cot"]},
            settings={"cot": {"decoding": {"max_tokens": 1000, "samples": samples}}},
        )

    return make


def keep(study: Study, questions: Path, model: str, setting: str, response: Response) -> None:
    """Put the same response to every request of a cell into the store."""
    with Store(study.study.store) as store:
        view = StudyView(study, questions, store)
        partition = view.open_partition(model)
        for request in view.last_requests(Cell(model, setting)):
            partition.append(partition.key(request), request, response)


def test_a_plan_without_readers_needs_no_place_to_write(
    study: Make, questions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(questions / "absent"))
    assert plan_study(study(), questions).rows


def write(plan: Plan) -> str:
    """The text of a plan on one line."""
    return " ".join(render(plan).split())


def only(plan: Plan, role: str = "respondent") -> PlanRow:
    (row,) = [row for row in plan.rows if row.role == role]
    return row


def test_a_plan_counts_and_leaves_no_trace(tmp_path: Path, questions: Path, study: Make) -> None:
    assert counts(study(), questions) == [(3, 0, 3, 6), (3, 0, 3, 3), (9, 0, 9, 18)]
    assert not (tmp_path / "store").exists()


def test_what_the_store_holds_is_not_bought_again(
    tmp_path: Path, questions: Path, study: Make
) -> None:
    infer_cell(questions, tmp_path / "o.parquet", study(), Cell("sim", "cot"))
    fewer = {"many": {"prompt": "direct", "decoding": {"samples": 2, "temperature": 0.6}}}
    settings = {"cot": {}, "first": {"images": "first"}}
    smaller = study(settings={**settings, **fewer})
    infer_cell(questions, tmp_path / "o.parquet", smaller, Cell("sim", "many"))
    assert counts(study(), questions) == [(3, 3, 0, 0), (3, 0, 3, 3), (9, 6, 3, 6)]


def test_a_priced_model_has_dollars_tokens_and_time(questions: Path, paid: Make) -> None:
    row = only(plan_study(paid(), questions))
    found = row.estimate
    assert row.money == "priced"
    assert (found.output, found.output_most, found.unmeasured) == (750, 3000, 6)
    assert found.usd == pytest.approx(((found.text + found.images) * 2 + 750 * 10) / 1e6)
    assert found.usd_most > found.usd
    assert found.hours == pytest.approx((2 + 250 / 50) / 3600)


def test_a_model_without_a_price_makes_the_total_say_so(questions: Path, paid: Make) -> None:
    text = render(plan_study(paid(one={}, two={"id": "gpt-4.1", "price": None}), questions))
    row = next(line.split() for line in text.splitlines() if line.startswith("two"))
    assert row.count("unknown") == 2
    assert "and unknown for 1 model without a price: two" in text
    total = next(line for line in text.splitlines() if line.startswith("all"))
    assert total.count("+ ?") == 2


def test_a_formula_is_asked_for_only_where_none_is_given(questions: Path, paid: Make) -> None:
    bare = {"id": "my/one", "image_tokens": None}
    given = {"id": "my/two", "image_tokens": "qwen-vl"}
    text = write(plan_study(paid(a=bare, b=given), questions))
    assert "Images of a are counted at the largest published numbers; set `image_tokens`." in text
    assert "Images of b are counted at the largest numbers of the formula qwen-vl" in text
    assert text.count("set `image_tokens`") == 1


def test_models_that_cost_nothing_say_none(questions: Path, study: Make) -> None:
    text = render(plan_study(study(), questions))
    rows = [line.split() for line in text.splitlines()]
    assert next(r for r in rows if r[:2] == ["sim", "first"])[-4:] == ["none", "none", "0", "s"]
    assert next(r for r in rows if r[0] == "all")[1:5] == ["15", "0", "15", "27"]
    assert "To spend: none" in text
    assert "SIMULATED" in text


def test_answers_in_the_store_teach_the_plan(questions: Path, paid: Make) -> None:
    one = paid()
    usage = {"input_tokens": 10_000, "output_tokens": 400}
    response = Response.model_validate({"text": "x", "usage": usage, "latency_s": 9.0})
    keep(one, questions, "api", "cot", response)
    row = only(plan_study(paid(samples=3), questions))
    assert (row.stored, row.to_buy, row.learned_from) == (3, 6, 3)
    assert row.estimate.output == 6 * 400
    assert row.estimate.text + row.estimate.images == pytest.approx(6 * 10_000)
    assert row.estimate.hours == pytest.approx(9 / 3600)


def test_judges_of_plug_ins_are_planned(questions: Path, study: Make) -> None:
    golds = [Answer(id=f"p{n}", answer=["7"], answer_type="open") for n in range(3)]
    write_jsonl(questions.with_name("answers.jsonl"), golds)
    with plugin_judges():
        asked = study(
            judge={"others": {"tempo": "sim", "tone": ["sim", "rater"]}, "settings": ["cot"]},
            models={name: study().models["sim"].model_dump() for name in ("sim", "rater")},
            infer={"models": ["sim"], "settings": ["cot"]},
        )
        rows = plan_study(asked, questions).list_rows("judge")
    assert [(row.model, row.requests) for row in rows] == [("sim", 3), ("sim", 3), ("rater", 3)]


@pytest.mark.parametrize(
    ("errors", "requests"),
    [
        ({"models": ["sim"]}, [3]),
        ({"models": ["sim"], "draw": {"per_model": 2, "by": "subject"}}, [2]),
        ({"models": ["sim"], "draw": {"per_model": 9}}, [3]),
        ({"draw": {"per_model": 2}}, []),
    ],
)
def test_drawn_errors_are_counted_at_most(
    questions: Path, study: Make, errors: dict[str, Any], requests: list[int]
) -> None:
    golds = [Answer(id=f"p{n}", answer=["7"], answer_type="open") for n in range(3)]
    write_jsonl(questions.with_name("answers.jsonl"), golds)
    asked = study(judge={"errors": errors}, infer={"models": ["sim"], "settings": ["cot"]})
    rows = plan_study(asked, questions).list_rows("judge")
    assert [row.requests for row in rows] == requests


@pytest.mark.parametrize(
    ("budget", "verdict"),
    [
        (50.0, "it covers the worst case"),
        (0.04, "it covers the expected cost, but not the worst case"),
        (0.012, "requests will stop early: $"),
    ],
)
def test_the_budget_stands_beside_the_price(
    tmp_path: Path, questions: Path, budget: float, verdict: str, paid: Make
) -> None:
    capped = paid(budget)
    with Ledger(tmp_path / "store") as ledger:
        attempt = ledger.reserve(BudgetAccount("test", "api", budget, 60), 0.005)
        ledger.settle(attempt.id, 0.005)
    plan = plan_study(capped, questions)
    assert plan.budget.left_usd == pytest.approx(budget - 0.005)
    text = write(plan)
    assert verdict in text
    assert "$0.005 spent" in text


def test_cells_that_lack_answers_are_named_with_the_command(
    tmp_path: Path, questions: Path, paid: Make
) -> None:
    capped = paid()
    rows = [
        ResponseRow(id=f"p{n}", index=0, key="k", outcome=outcome, text="")
        for n, outcome in enumerate(["answered", "budget_stop", "provider_error"])
    ]
    out = tmp_path / "results" / "infer" / "api" / "cot.parquet"
    write_parquet(out, rows, ResponseRow)
    text = render(plan_study(capped, questions))
    assert "2 requests of 1 written cells have no answer. To retry them:" in text
    assert f"snakemake --cores all --forcerun {out}" in text


@pytest.mark.parametrize(("reference", "setting"), [([], "cot"), (["direct"], "direct")])
def test_the_family_of_the_plan_is_that_of_the_report(
    questions: Path, reference: list[str], setting: str, paid: Make
) -> None:
    models = paid(a={}, b={}, c={})
    settings = dict.fromkeys(("cot", "direct"), models.settings["cot"])
    both = models.model_copy(
        update={
            "settings": settings,
            "infer": models.infer.model_copy(update={"settings": list(settings)}),
            "analyze": models.analyze.model_copy(update={"reference_setting": reference}),
        }
    )
    plan = plan_study(both, questions)
    assert (plan.power.comparisons, plan.power.family_settings) == (3, [setting])
    assert plan.power.problems == 3
    assert {*plan.power.difference.values(), *plan.power.family_difference.values()} == {None}
    assert f"among all 3 pairs of models under {setting}, which the report compares" in render(plan)


@pytest.mark.parametrize("stems", ["shared", ""])
def test_the_correlation_within_stems_is_named_and_can_be_set(
    questions: Path, stems: str, paid: Make
) -> None:
    rows = read_jsonl(questions, Question)
    write_jsonl(questions, [row.model_copy(update={"group": stems}) for row in rows])
    effective = {}
    for correlation in (None, 0.0, 0.5, 1.0):
        models = paid(a={}, b={})
        analyze = models.analyze.model_copy(update={"stem_correlation": correlation})
        plan = plan_study(models.model_copy(update={"analyze": analyze}), questions)
        effective[correlation] = plan.power.effective
        text = write(plan)
        assert ("correlation of 0.5, as set)" in text) == (correlation == 0.5 and bool(stems))
        assert ("correlation of 0.2, assumed;" in text) == (correlation is None and bool(stems))
    expected = [3 / 1.4, 3, 1.5, 1] if stems else [3] * 4
    assert [*effective.values()] == pytest.approx(expected)


def test_the_correlation_within_stems_is_that_of_an_earlier_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, paid: Make
) -> None:
    made, other = make_study(tmp_path / "results"), paid()
    models = dict.fromkeys(made.study.models, other.models["api"])
    earlier = made.study.model_copy(update={"study": other.study, "models": models})
    few = plan_study(earlier, made.freeze / "questions.jsonl").power
    monkeypatch.setattr("omibench.results.statistics.stems.FEWEST_STEMS", 2)
    found = plan_study(earlier, made.freeze / "questions.jsonl").power
    assert (few.correlation, few.correlation_from) == (0.2, "assumed")
    assert found.correlation_from == "estimated"
    assert found.correlation != 0.2


def test_without_a_frozen_dataset_the_command_is_named(tmp_path: Path, study: Make) -> None:
    with pytest.raises(MissingInputError, match="the dataset is not frozen yet"):
        plan_study(study(), tmp_path / "questions.jsonl")


def test_a_cell_that_will_be_refused_is_named(questions: Path, paid: Make) -> None:
    narrow = paid(narrow={"can": {"images": 1}}, wide={"can": {"images": 9}})
    plan = plan_study(narrow, questions)
    row, wide = plan.list_rows("respondent")
    assert 0 < row.too_many <= row.to_buy
    assert wide.too_many == 0
    text = write(plan)
    assert f"{row.too_many} requests show more images than their model accepts" in text
    assert "counted here: narrow x cot." in text


def test_a_study_that_asks_nothing_says_so(study: Make, questions: Path) -> None:
    plan = plan_study(study(models={}, settings={}, infer={}), questions)
    assert "No requests: set models and settings under `infer:`." in render(plan)


def test_a_plan_leaves_the_collector_as_it_was(
    tmp_path: Path, questions: Path, study: Make
) -> None:
    seen: list[bool] = []
    own = study()
    for collects in (True, False):
        (gc.enable if collects else gc.disable)()
        try:
            plan_study(own, questions)
            seen.append(gc.isenabled())
            with pytest.raises(MissingInputError):
                plan_study(own, tmp_path / "none.jsonl")
            seen.append(gc.isenabled())
        finally:
            gc.enable()
    assert seen == [True, True, False, False]
