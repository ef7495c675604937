"""A study's status from its files, its store and the notes of its runs."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from tests.stages.infer.pictured import pictured_questions, pictured_study
from tests.status.conftest import make_study, note_run, write_cell

from omibench.params.setting import Cell
from omibench.params.study import Study
from omibench.schemas.request import Response
from omibench.schemas.tables import write_text
from omibench.settings.tasks import list_requests, open_model_provider
from omibench.stages.infer import infer_cell
from omibench.store.ledger import BudgetAccount, Ledger
from omibench.store.store import Store
from omibench.study.plan.plan import StudyView
from omibench.study.status.reader import Looker, Stored, StoredCounts, look
from omibench.study.status.rows import CellStatus, StageStatus, StudyStatus
from omibench.study.status.text import render, write_page

ALL = ["answered"] * 3
QUESTIONS = Path("results/freeze/questions.jsonl")


def cell(status: StudyStatus, model: str, setting: str) -> CellStatus:
    return next(c for c in status.cells if (c.model, c.setting) == (model, setting))


def stage(status: StudyStatus, name: str) -> StageStatus:
    return next(s for s in status.stages if s.stage == name)


def answer(study: Study, model: str, setting: str, count: int) -> None:
    """Put the first answers of a cell into the store, as a job of another process would."""
    provider = open_model_provider(study, model)
    with Store(study.study.store) as store:
        partition = store.open_partition(provider.identity)
        for request in list_requests(QUESTIONS, study, Cell(model, setting))[:count]:
            partition.append(partition.key(request), request, Response(text="4", cost_usd=0.5))


def test_nothing_is_there_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    status = look(make_study(), "s.yaml")
    assert status.requests is None
    assert [(s.stage, s.waiting) for s in status.stages] == [
        ("ocr", 1), ("filter", 1), ("rationale", 1), ("freeze", 1), ("infer", 4), ("score", 4),
        ("analyze", 1),
    ]  # fmt: skip
    assert status.go_on == "snakemake --cores all --configfile s.yaml"
    assert list(tmp_path.iterdir()) == []


def test_tuned_models_have_a_line(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    base = {"provider": "transformers", "id": "some/model"}
    tuned = {name: {"base": "local", "data": "mmdu"} for name in ("first", "second")}
    study = make_study(
        models={"local": base},
        tune=tuned,
        infer={"models": ["local", *tuned], "settings": ["cot"]},
    )
    assert (stage(look(study), "tune").waiting, stage(look(study), "tune").done) == (2, 0)
    write_text("results/tune/first/tuned.json", "{}")
    assert (stage(look(study), "tune").waiting, stage(look(study), "tune").done) == (1, 1)
    assert "tune       [" in render(look(study))


def test_a_partial_run_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    study = make_study(study={"name": "test", "limit": {"sample": 2, "seed": 1}})
    told = "(PARTIAL RUN: a sample of 2, seed 1)"
    assert told in render(look(study)).splitlines()[0]
    write_page(Path("status.html"), look(study), None)
    assert "PARTIAL RUN</span> a sample of 2, seed 1" in Path("status.html").read_text("utf-8")
    assert "PARTIAL" not in render(look(make_study()))


def test_a_study_without_cells_is_complete_when_its_dataset_is(study: Study) -> None:
    dataset = make_study(infer={})
    assert [s.stage for s in look(dataset).stages] == ["ocr", "filter", "rationale", "freeze"]
    assert look(dataset).go_on == "snakemake --cores all"
    for name in ("ocr", "filter", "rationale"):
        write_text(f"results/{name}/problems.jsonl", "")
    assert look(dataset).go_on is None


def test_written_cells_are_counted_by_outcome(study: Study) -> None:
    write_cell("one", "cot", ["answered", "refused", "answered"])
    write_cell("one", "direct", ALL, scored=False)
    status = look(study)
    assert cell(status, "one", "cot").states == ("done", "done")
    assert cell(status, "one", "direct").states == ("done", "waiting")
    assert cell(status, "two", "cot").states == ("waiting", "waiting")
    assert (status.answered, status.requests) == (6, 12)
    assert status.outcomes == {"answered": 5, "refused": 1}
    assert status.money.usd == pytest.approx(0.06)
    assert stage(status, "infer").done == 2
    assert stage(status, "score").waiting == 3
    assert not status.complete


def test_a_running_cell_counts_what_the_store_has_so_far(study: Study) -> None:
    note_run({"infer one/cot": ["running"], "infer two/cot": [], "score one/cot": []})
    answer(study, "one", "cot", 2)
    status = look(study)
    found = cell(status, "one", "cot")
    assert (found.infer, found.answered, found.requests, found.usd) == ("running", 2, 3, 1.0)
    assert status.live
    assert status.go_on is None
    assert status.money.to_come == pytest.approx(4 * 0.5)


def test_answers_that_a_flow_bought_ahead_of_the_jobs_are_seen(study: Study) -> None:
    answer(study, "two", "direct", 3)
    answer(study, "two", "cot", 1)
    status = look(study)
    assert cell(status, "two", "direct").answered == 3
    assert cell(status, "two", "cot").answered == 1
    assert cell(status, "two", "cot").infer == "waiting"
    assert cell(status, "one", "cot").answered == 0


def test_answers_of_another_study_are_not_counted(study: Study) -> None:
    answer(make_study(settings={"cot": {"prompt": "direct"}, "direct": {}}), "one", "cot", 3)
    found = look(make_study(settings={"cot": {}, "direct": {"images": "none"}}))
    assert [c.answered for c in found.cells] == [0, 0, 0, 0]


def test_a_failed_job_is_told_with_its_reason_and_the_command(study: Study) -> None:
    write_text("logs/infer/one/cot.log", "omibench: models.one: the key is missing\n")
    write_cell("two", "cot", ALL)
    note_run(
        {"infer one/cot": ["running", "failed"], "infer two/cot": ["running", "done"],
         "score one/cot": []},
        end="failed", command=("snakemake", "--cores", "2", "--keep-going"),
    )  # fmt: skip
    status = look(study)
    (failure,) = status.failures
    assert (failure.job, failure.why) == ("infer one/cot", "models.one: the key is missing")
    assert cell(status, "one", "cot").states == ("failed", "waiting")
    assert status.go_on == "snakemake --cores 2 --keep-going"
    assert status.run.state == "failed"


def test_incomplete_cells_come_with_the_command_that_goes_on(study: Study) -> None:
    write_cell("one", "cot", ["answered", "budget_stop", "provider_error"])
    for model, setting in (("one", "direct"), ("two", "cot"), ("two", "direct")):
        write_cell(model, setting, ALL)
    write_text("results/analyze/report.html", "x")
    status = look(study)
    found = cell(status, "one", "cot")
    assert (found.states, found.lacking, found.answered) == (("incomplete", "done"), 2, 1)
    assert status.lacking == ["results/infer/one/cot.parquet"]
    wanted = "snakemake --cores all --forcerun results/infer/one/cot.parquet"
    assert status.try_again == wanted
    assert not status.complete


def test_many_incomplete_cells_are_listed_by_a_command_of_their_own(study: Study) -> None:
    names = [f"s{n}" for n in range(9)]
    wide = make_study(
        settings={name: {} for name in names}, infer={"models": ["one"], "settings": names}
    )
    for name in names:
        write_cell("one", name, ["provider_error"] * 3)
    status = look(wide, "my study.yaml")
    assert status.try_again.endswith(
        "--forcerun $(omibench status --lacking --params 'my study.yaml')"
    )
    assert len(status.lacking) == 9


def test_commands_repeat_what_was_replaced(study: Study) -> None:
    write_cell("one", "cot", ["provider_error"] * 3)
    status = look(study, "s.yaml", ["data=my data"])
    words = "snakemake --cores all --configfile s.yaml --config 'data=my data'"
    assert status.try_again == f"{words} --forcerun results/infer/one/cot.parquet"
    assert status.go_on is None


def test_one_command_retries_answers_and_continues(study: Study) -> None:
    write_cell("one", "cot", ["provider_error"] * 3)
    status = look(study)
    assert status.go_on is None
    said = render(status, 80)
    assert said.count("snakemake") == 1
    assert "have no answer. To retry them and continue:" in " ".join(said.split())


def test_the_budget_is_that_of_the_ledger(study: Study) -> None:
    capped = make_study(
        study={"name": "small", "results": "results", "store": "store", "budget_usd": 2.0}
    )
    with Ledger("store") as ledger:
        attempt = ledger.reserve(BudgetAccount("small", "one", 2.0, 60), 0.5)
        ledger.settle(attempt.id, 0.25)
    budget = look(capped).money.budget
    assert (budget.spent_usd, budget.left_usd) == (0.25, 1.75)


def test_what_is_planned_again_is_not_done_though_its_file_is_there(study: Study) -> None:
    write_cell("one", "cot", ALL)
    note_run({"infer one/cot": [], "infer one/direct": ["running"]})
    assert cell(look(study), "one", "cot").infer == "waiting"


def test_a_model_that_cannot_be_opened_is_a_note(study: Study) -> None:
    broken = make_study(
        models={"one": {"provider": "simulated", "oracle": "absent.jsonl"}},
        infer={"models": ["one"], "settings": ["cot"]},
    )
    status = look(broken)
    assert cell(status, "one", "cot").answered == 0
    assert any("absent.jsonl" in note for note in status.notes)


def test_a_damaged_partition_is_a_note_and_its_requests_are_known(study: Study) -> None:
    answer(study, "one", "cot", 1)
    (card,) = Path("store").glob("*/model.json")
    card.write_text("{")
    status = look(study)
    found = cell(status, "one", "cot")
    assert (found.requests, found.answered, status.requests) == (3, 0, 12)
    assert any(str(card) in note for note in status.notes)


def test_a_damaged_file_spoils_no_other(study: Study) -> None:
    write_cell("one", "cot", ALL)
    write_cell("one", "direct", ALL)
    Path("results/infer/one/direct.parquet").write_bytes(b"PAR1 no")
    status = look(study)
    assert cell(status, "one", "cot").infer == "done"
    assert cell(status, "one", "direct").infer == "waiting"


def test_stages_of_other_rules_are_counted_as_their_runs_tell(study: Study) -> None:
    note_run({"audit one/cot": ["running", "failed"], "audit two/cot": []}, end="failed")
    found = stage(look(study), "audit")
    assert (found.jobs, found.failed, found.waiting) == (2, 1, 1)
    fewer = make_study(infer={"models": ["two"], "settings": ["cot"]})
    assert stage(look(fewer), "audit").jobs == 1


def test_looking_again_sees_what_others_wrote_meanwhile(study: Study) -> None:
    note_run({"infer one/cot": ["running"]})
    looker = Looker(study)
    try:
        assert looker.look().answered == 0
        writer = threading.Thread(target=answer, args=(study, "one", "cot", 2))
        writer.start()
        while writer.is_alive():
            assert looker.look().answered <= 2
        writer.join()
        assert looker.look().answered == 2
        write_cell("one", "cot", ALL)
        note_run({"infer one/cot": ["running", "done"]}, end="done")
        assert cell(looker.look(), "one", "cot").infer == "done"
    finally:
        looker.close()


def test_a_cell_opens_only_what_it_needs(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    for model in ("one", "two"):
        for setting in ("cot", "direct"):
            write_cell(model, setting, ALL)
    monkeypatch.setattr(
        StudyView, "open_partition", lambda *_: pytest.fail("a partition was opened")
    )
    monkeypatch.setattr(StudyView, "last_requests", lambda *_: pytest.fail("requests were made"))
    assert look(study).answered == 12


# What the store holds of cells whose requests follow captions or show made pictures.


@pytest.mark.parametrize(("setting", "count"), [("words", 6), ("joined", 3), ("worse", 3)])
def test_answers_are_found_as_they_come_and_nothing_is_drawn(
    tmp_path: Path, setting: str, count: int
) -> None:
    questions, study = pictured_questions(tmp_path), pictured_study(tmp_path)
    pictures, cells = tmp_path / "results" / "pictures", {Cell("a", setting), Cell("b", setting)}
    stored = Stored(study, questions)
    try:
        before = stored.look(cells, cells)
        assert before == dict.fromkeys(cells, StoredCounts(count))
        assert not pictures.exists()
        infer_cell(questions, tmp_path / "a.parquet", study, Cell("a", setting))
        after = stored.look(cells, cells)
        assert after[Cell("a", setting)].answered == count
        assert after[Cell("b", setting)].answered == 0
        infer_cell(questions, tmp_path / "b.parquet", study, Cell("b", setting))
        assert stored.look(cells, cells)[Cell("b", setting)].answered == count
    finally:
        stored.close()
