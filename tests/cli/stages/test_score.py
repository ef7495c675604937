"""The verbs around scoring on the command line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest
from typer.main import get_command
from typer.testing import CliRunner

from command_line import app
from omibench.answers.judges.panel import Judge
from omibench.answers.scorers.registry import SCORERS
from omibench.cli.score import tell_scores
from omibench.errors import MissingInputError, OmibenchError, ParamsError, SomeFailedError
from omibench.params.runtime import RUNTIME_ENV
from omibench.params.study import Study
from omibench.schemas.request import Outcome, Request, Response
from omibench.stages.score.judge import ScoreJudges, make_score_judges
from omibench.stages.score.stage import ScoreResult


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    file = tmp_path / "answers.jsonl"
    row = {"id": "1", "prediction": r"\boxed{0.5}", "gold": [r"\frac{1}{2}"],
           "answer_type": "open", "choices": None}  # fmt: skip
    file.write_text(json.dumps(row) + "\n")
    return file


def test_explain_prints_and_writes_nothing(answers: Path) -> None:
    done = CliRunner().invoke(app, ["score", str(answers), "--explain", "1", "--scorer", "robust"])
    assert done.exit_code == 0
    assert "robust, version" in done.output
    assert ": right" in done.output
    assert list(answers.parent.iterdir()) == [answers]


@pytest.mark.parametrize(
    ("words", "books"),
    [
        ([], ["robust"]),
        (["--scorer", "emma"], ["emma"]),
        (["--rules=emma"], ["emma"]),
        (["--scorer", "omibench,robust"], ["omibench", "robust"]),
        (["--scorer", "omibench", "--scorer", "robust, emma"], ["omibench", "robust", "emma"]),
        (["--params", "p.yaml"], ["emma", "omibench"]),
        (["--params", "p.yaml", "--scorer", "robust"], ["robust"]),
    ],
)
def test_explain_opens_with_the_scorers_that_are_named(
    answers: Path, words: list[str], books: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(answers.parent)
    Path("p.yaml").write_text("score: {scorers: [omibench, emma]}\nanalyze: {main_scorer: emma}\n")
    done = CliRunner().invoke(app, ["score", str(answers), "--explain", "1", *words])
    heads = [line.partition(",")[0] for line in done.output.splitlines() if ", version" in line]
    assert heads == books
    assert ("`--rules` is now called `--scorer`" in done.stderr) == (words == ["--rules=emma"])


def test_rules_of_the_command_line_stand_beside_a_params_file_with_others(answers: Path) -> None:
    params, out = answers.with_name("p.yaml"), answers.with_name("o.parquet")
    params.write_text("score: {scorers: [emma]}\nanalyze: {main_scorer: emma}\n")
    words = [
        "score",
        str(answers),
        "--scorer",
        "robust",
        "--params",
        str(params),
        "--out",
        str(out),
    ]
    done = CliRunner().invoke(app, [*words, "--no-cache"])
    assert done.exit_code == 0, done.exception
    assert out.is_file()


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        (["--explain", "2"], MissingInputError, "--explain '2': no response has this id"),
        (["--scorer", "robust"], ParamsError, "score: --out is missing"),
        (
            ["--explain", "1", "--out", "o.parquet"],
            ParamsError,
            "--out o.parquet: cannot be combined with",
        ),
        (
            ["--explain", "1", "--judge", "m"],
            ParamsError,
            "--judge m: cannot be combined with --explain",
        ),
        (["--variant", "justified"], ParamsError, "--variant justified: needs --judge"),
        (
            ["--judge", "m", "--variant", "x"],
            ParamsError,
            "should be 'justified' or 'bare-answers'",
        ),
        (["--explain", "1", "--scorer", "emma,robst"], OmibenchError, "unknown scorer 'robst'"),
    ],
)
def test_mistakes_are_one_line(
    answers: Path, words: list[str], error: type[OmibenchError], message: str
) -> None:
    done = CliRunner().invoke(app, ["score", str(answers), *words])
    assert isinstance(done.exception, error)
    assert message in str(done.exception)


def test_certify_and_aggregate_name_what_they_lack(tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    done = CliRunner().invoke(
        app, ["certify", str(tmp_path / "labels.csv"), "--out", out, "--params", "{}"]
    )
    assert isinstance(done.exception, MissingInputError)
    done = CliRunner().invoke(
        app, ["aggregate", "--model", "m", "--setting", "s", "--out", f"{out}.parquet",
              "--params", "{}"],
    )  # fmt: skip
    assert isinstance(done.exception, ParamsError)
    assert "--setting 's' is not defined" in str(done.exception)


def mixed(folder: Path) -> Path:
    """Four responses to three problems of two groups: right, wrong, unread, refused."""
    rows = [
        ("1", "\\boxed{5}", "a"), ("1", "\\boxed{6}", "a"), ("2", "Hm. Well.\n\nNo idea yet.", "a"),
        ("3", "I'm sorry, I can't.", "b"),
    ]  # fmt: skip
    text = [{"id": i, "prediction": p, "gold": "5", "group": g} for i, p, g in rows]
    file = folder / "mixed.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in text))
    return file


def test_several_scorers_make_one_file_and_a_summary_each(
    tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["score", str(mixed(tmp_path)), "--scorer", "robust,usnco-v", "--out", "v.parquet"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.exception
    assert "robust: accuracy 25.0 % [" in done.output
    assert "4 responses to 2 problems, clustered" in done.output
    assert "scored 2; no answer: unparsed 1, refused 1 (counted as wrong); unread 25.0 %" in (
        done.output
    )
    assert "usnco-v: accuracy 0.0 % [" in done.output
    assert "8 rows written to v.parquet" in done.output
    frame = pl.read_parquet("v.parquet")
    assert frame["rules"].to_list() == ["robust"] * 4 + ["usnco-v"] * 4
    assert frame["id"].to_list() == ["1", "1", "2", "3"] * 2
    assert frame["version"].dtype == pl.Int64
    assert (own_cache / "omibench" / "verdicts.sqlite").is_file()
    assert {path.name for path in tmp_path.iterdir()} == {"mixed.jsonl", "v.parquet"}


def test_a_cell_of_a_results_folder_keeps_its_known_verdicts_there(tmp_path: Path) -> None:
    from omibench.stages.score.cache import locate_cell_cache, locate_user_cache

    cell = tmp_path / "results" / "infer" / "m" / "cot.parquet"
    assert locate_cell_cache(cell) == tmp_path / "results" / "cache" / "verdicts.sqlite"
    assert locate_cell_cache(tmp_path / "cot.parquet") == locate_user_cache()


def judged_by(
    monkeypatch: pytest.MonkeyPatch, outcomes: Sequence[Outcome], text: str = "ANSWER: consistent"
) -> None:
    """Let the judge of every study reply with these outcomes, in turn, over and over."""
    left = iter(outcomes * 100)

    def ask(requests: Sequence[Request]) -> list[Response]:
        return [Response(text=text, outcome=next(left)) for _ in requests]

    @contextmanager
    def opened(study: Study) -> Iterator[ScoreJudges]:
        yield make_score_judges(Judge("scripted", ask, {"provider": "scripted"}))

    monkeypatch.setattr("omibench.stages.score.stage.open_judges", opened)


PARAMS = json.dumps({"models": {"scripted": {"provider": "recorded", "responses": {}}}})


@pytest.mark.parametrize(
    ("outcomes", "text", "why", "remedy"),
    [
        (["provider_error"], "", "3 provider error", "run the command again"),
        (["answered"], "I cannot say.", "3 judge failed", "then choose another judge"),
    ],
)
def test_a_judge_that_always_fails_ends_with_3(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    outcomes: list[Outcome],
    text: str,
    why: str,
    remedy: str,
) -> None:
    judged_by(monkeypatch, outcomes, text)
    out = tmp_path / "v.parquet"
    words = ["score", str(mixed(tmp_path)), "--scorer", "robust", "--judge", "scripted"]
    done = CliRunner().invoke(app, [*words, "--params", PARAMS, "--out", str(out)])
    assert isinstance(done.exception, SomeFailedError), done.output
    assert done.exception.exit_code == 3
    assert f"all judgements of gptscore failed ({why})" in str(done.exception)
    assert str(done.exception).endswith(remedy)
    assert f"gptscore: 3 of 3 judgements failed ({why})" in done.output
    assert "gptscore: accuracy" not in done.output  # nothing stands behind it
    assert pl.read_parquet(out)["verdict"].sum() == 1.0


def test_a_judge_that_fails_at_times_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged_by(monkeypatch, ["answered", "provider_error", "answered"])
    words = ["score", str(mixed(tmp_path)), "--scorer", "robust,emma", "--judge", "scripted"]
    done = CliRunner().invoke(
        app, [*words, "--params", PARAMS, "--out", str(tmp_path / "v.parquet")]
    )
    assert done.exit_code == 0, done.exception
    assert "gptscore: 1 of 3 judgements failed (1 provider error)" in done.output
    assert "gptscore: accuracy 50.0 % [" in done.output
    assert done.output.count("gptscore: accuracy") == 1


def test_a_budget_that_stopped_the_judge_is_no_failure_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged_by(monkeypatch, ["budget_stop"], "")
    words = ["score", str(mixed(tmp_path)), "--scorer", "robust", "--judge", "scripted"]
    done = CliRunner().invoke(
        app, [*words, "--params", PARAMS, "--out", str(tmp_path / "v.parquet")]
    )
    assert done.exit_code == 0
    assert "gptscore: 3 of 3 judgements failed (3 budget stop)" in done.output


@pytest.mark.parametrize(
    ("words", "ids", "how"),
    [
        (["--limit", "2"], ["1", "2"], "the first 2"),
        (["--ids", "3,1"], ["1", "3"], "by id"),
        (["--sample", "1", "--seed", "2"], None, "a sample of 1, seed 2"),
    ],
)
def test_a_part_of_a_file_is_scored_and_the_summary_says_so(
    tmp_path: Path, words: list[str], ids: list[str] | None, how: str
) -> None:
    rows = [
        {"id": str(n), "prediction": r"\boxed{1}", "gold": ["1"], "answer_type": "open"}
        for n in (1, 2, 3)
    ]
    file, out = tmp_path / "a.jsonl", tmp_path / "o.parquet"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = ["score", str(file), "--scorer", "robust", "--out", str(out), *words]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    found = pl.read_parquet(out)["id"].to_list()
    assert found == ids or (ids is None and len(found) == 1)
    assert done.stdout.startswith(f"[PARTIAL RUN] {len(found)} of 3 problems ({how})")
    mark = f"{len(found)} of 3 problems ({how})"
    assert set(pl.read_parquet(out)["partial"]) == {mark}
    whole = CliRunner().invoke(app, [*command[: -len(words)], "--limit", "3"])
    assert "PARTIAL" not in whole.output
    assert "partial" not in pl.read_parquet_schema(out)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--ids", "9"], "'9' is not a problem of the dataset"),
        (["--limit", "1", "--sample", "1"], "give only one of them"),
        (["--seed", "1"], "--seed: needs --sample"),
    ],
)
def test_a_wrong_part_is_one_line(answers: Path, words: list[str], said: str) -> None:
    out = answers.with_name("o.parquet")
    command = ["score", str(answers), "--scorer", "robust", "--out", str(out), *words]
    error = CliRunner().invoke(app, command).exception
    assert isinstance(error, ParamsError)
    assert said in str(error)
    assert not out.exists()


def test_the_help_names_every_built_in_scorer() -> None:
    option = next(p for p in get_command(app).commands["score"].params if p.name == "scorer")
    assert set(SCORERS.built_in_names) <= set(re.split(r"[,\s]+", option.help))


def test_a_job_of_the_graph_prints_no_summary(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report has it, and its statistics take a tenth of a job to load."""
    frame = pl.DataFrame({"rules": ["robust"], "verdict": [1.0], "outcome": ["scored"]})
    scored = ScoreResult(frame, ["one"], {})
    tell_scores(scored, tmp_path / "out.parquet")
    assert "robust: accuracy 100.0 %" in capsys.readouterr().out
    monkeypatch.setenv(RUNTIME_ENV, "{}")
    tell_scores(scored, tmp_path / "out.parquet")
    printed = capsys.readouterr()
    assert not printed.out
    assert "1 rows written" in printed.err
