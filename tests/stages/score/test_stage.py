from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

from omibench.answers.judges.gptscore import GPTSCORE, VARIANTS
from omibench.answers.judges.grade import GRADE
from omibench.answers.judges.instrument import build_prompt
from omibench.answers.judges.panel import Judge
from omibench.errors import FileFormatError, MissingInputError, OmibenchError
from omibench.models.simulated.provider import SimulatedProvider
from omibench.params.study import Study
from omibench.schemas.problem import Answer, Choice, Figure, Question
from omibench.schemas.request import Request, Response
from omibench.schemas.tables import (
    ResponseRow,
    VerdictRow,
    read_jsonl,
    read_parquet,
    write_jsonl,
    write_parquet,
)
from omibench.stages.score import ScoreFiles, score_cell, score_file
from omibench.stages.score.stage import ScoreResult, score_responses

ROWS = [
    {"id": "q1", "prediction": "B", "gold": ["B"], "answer_type": "mcq", "choices": ["x", "y"],
     "note": "kept"},
    {"id": "q2", "prediction": "I'm sorry, I can't.", "gold": ["5"], "answer_type": "open",
     "choices": None, "note": None},
    {"id": "q3", "prediction": "\\boxed{6}", "gold": ["5"], "answer_type": "open", "choices": None,
     "finish_reason": "stop", "note": "kept"},
]  # fmt: skip


@pytest.fixture
def jsonl(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), "utf-8")
    return path


def test_the_rows_come_back_in_order_with_their_verdicts(jsonl: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "out.parquet"
    assert score_file([jsonl, jsonl], "robust", out) == 6
    frame = pl.read_parquet(out)
    assert frame["id"].to_list() == ["q1", "q2", "q3"] * 2
    assert frame["note"].to_list()[:3] == ["kept", None, "kept"]
    assert frame["verdict"].to_list()[:3] == [1.0, 0.0, 0.0]
    assert frame["outcome"].to_list()[:3] == ["scored", "refused", "scored"]
    assert frame["extracted"].to_list()[:3] == ["B", None, "6"]
    assert frame["gold"].to_list()[0] == ["B"]
    assert {"method", "finish_reason"} <= set(frame.columns)


@pytest.mark.parametrize("name", ["empty.jsonl", "empty.parquet"])
def test_a_file_without_rows_is_told_and_nothing_is_written(
    jsonl: Path, tmp_path: Path, name: str
) -> None:
    empty, out = tmp_path / name, tmp_path / "out.parquet"
    if empty.suffix == ".parquet":
        pl.DataFrame(ROWS).clear().write_parquet(empty)
    else:
        empty.write_text("\n")
    with pytest.raises(FileFormatError, match=f"{name}: no rows"):
        score_file([jsonl, empty], "emma", out)
    assert not out.exists()


def test_half_an_emoji_is_replaced_and_the_row_kept(tmp_path: Path) -> None:
    line = json.dumps({**ROWS[2], "prediction": "\\boxed{5} \ud83d", "note": {"k\ud83d": "\udc00"}})
    (tmp_path / "in.jsonl").write_text(line + "\n" + json.dumps({**ROWS[2], "note": "\U0001f600"}))
    assert score_file([tmp_path / "in.jsonl"], "robust", tmp_path / "out.parquet") == 2
    frame = pl.read_parquet(tmp_path / "out.parquet")
    assert frame["prediction"][0] == "\\boxed{5} \ufffd"
    assert frame["verdict"].to_list() == [1.0, 0.0]
    assert [json.loads(note) for note in frame["note"]] == [{"k\ufffd": "\ufffd"}, "\U0001f600"]


def test_a_verdict_that_came_with_the_rows_is_kept(tmp_path: Path) -> None:
    rows = [{**ROWS[0], "verdict": "maybe", "method": 3}, {**ROWS[0], "verdict": 1}]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    score_file([tmp_path / "in.jsonl"], "robust", tmp_path / "out.parquet")
    frame = pl.read_parquet(tmp_path / "out.parquet")
    assert frame["input_verdict"].to_list() == ['"maybe"', "1"]
    assert frame["input_method"].to_list() == [3, None]
    assert frame["verdict"].to_list() == [1.0, 1.0]


def test_a_wrong_scorer_is_told_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(OmibenchError, match="unknown scorer 'emna'"):
        score_file([tmp_path / "none"], "emna", tmp_path / "out.parquet")


def test_a_judge_adds_its_columns_and_is_not_asked_about_failures(
    jsonl: Path, tmp_path: Path
) -> None:
    asked: list[Request] = []

    def ask(requests: Sequence[Request]) -> list[Response]:
        asked.extend(requests)
        return [Response(text="ANSWER: consistent", simulated=True) for _ in requests]

    judge = Judge("scripted", ask, {"provider": "scripted"})
    score_file([jsonl], "robust", tmp_path / "out.parquet", judge)
    frame = pl.read_parquet(tmp_path / "out.parquet")
    assert [r.tags.problem for r in asked] == ["q1", "q3"]
    assert frame["gptscore"].to_list() == [1.0, 0.0, 1.0]
    assert frame["judge_outcome"].to_list() == ["scored", "refused", "scored"]
    assert frame["judge"].to_list() == ["scripted"] * 3
    assert frame["judge_key"].is_null().to_list() == [False, True, False]
    assert frame["judge_prompt_sha256"].unique().to_list() == [build_prompt(GPTSCORE).sha256]


def response(problem: str, text: str, **more: object) -> ResponseRow:
    return ResponseRow.model_validate(
        {"id": problem, "index": 0, "key": f"k-{problem}", "outcome": "answered", "text": text,
         "simulated": True, **more}
    )  # fmt: skip


@pytest.fixture
def cell(tmp_path: Path) -> Path:
    choices = [Choice(label="A", text="x"), Choice(label="B", image=0)]
    write_parquet(
        tmp_path / "responses.parquet",
        [
            response("m-1", "\\boxed{B}", published_verdict=0.0),
            response("m-2", "", outcome="provider_error"),
            response("m-1", "\\boxed{A}", index=1, key="k-2"),
        ],
        ResponseRow,
    )
    write_jsonl(
        tmp_path / "answers.jsonl",
        [
            Answer(id="m-1", answer=["B"], answer_type="mcq", choices=choices),
            Answer(id="m-2", answer=["7"], answer_type="open"),
        ],
    )
    write_jsonl(
        tmp_path / "questions.jsonl",
        [Question(id="m-1", question="Which?"), Question(id="m-2", question="How many?")],
    )
    return tmp_path


def test_a_cell_is_scored_by_every_scorer(cell: Path) -> None:
    study = Study.model_validate({"score": {"scorers": ["robust", "published"]}})
    rows = score_cell(
        ScoreFiles(cell / "responses.parquet", cell / "answers.jsonl"), cell / "out.parquet", study
    )
    frame = read_parquet(cell / "out.parquet", VerdictRow)
    assert rows == frame.height == 6
    assert frame["rules"].to_list() == ["robust"] * 3 + ["published"] * 3
    assert frame["verdict"].to_list()[:4] == [1.0, 0.0, 0.0, 0.0]
    assert frame["outcome"].to_list()[1] == "provider_error"
    assert frame["key"].to_list()[:3] == ["k-m-1", "k-m-2", "k-2"]
    assert frame["simulated"].all()


def test_a_cell_of_a_part_of_the_problems_says_so(cell: Path) -> None:
    def scored(limit: int | None) -> ScoreResult:
        study = Study.model_validate({"study": {"limit": limit}, "score": {"scorers": ["robust"]}})
        files = cell / "responses.parquet", cell / "answers.jsonl"
        return score_responses(ScoreFiles(*files), cell / "out.parquet", study)

    assert (scored(None).part, scored(None).lacking) == ("", "")
    answers = read_jsonl(cell / "answers.jsonl", Answer)
    more = [Answer(id=f"m-{n}", answer=["1"], answer_type="open") for n in (8, 9)]
    write_jsonl(cell / "answers.jsonl", [*answers, *more])
    few, many = 2, 4
    said = f"{few} of {many} problems of the answers file have a response here"
    assert (scored(None).part, scored(None).lacking) == ("", said)
    assert (scored(few).part, scored(few).lacking) == (
        f"{few} of {many} problems (the first 2)",
        "",
    )


def test_a_response_without_an_answer_is_told(cell: Path) -> None:
    write_jsonl(cell / "answers.jsonl", [Answer(id="m-1", answer=["B"], answer_type="mcq")])
    with pytest.raises(FileFormatError, match="'m-2' has no answer"):
        score_cell(
            ScoreFiles(cell / "responses.parquet", cell / "answers.jsonl"),
            cell / "o.parquet",
            Study(),
        )


def test_a_judge_needs_the_questions(cell: Path) -> None:
    study = Study.model_validate(
        {"score": {"judge": "j"}, "models": {"j": {"provider": "simulated", "oracle": "none"}}}
    )
    with pytest.raises(MissingInputError, match="--questions"):
        score_cell(
            ScoreFiles(cell / "responses.parquet", cell / "answers.jsonl"),
            cell / "o.parquet",
            study,
        )


def test_a_simulated_judge_is_asked_through_the_store(cell: Path) -> None:
    oracle = cell / "oracle.jsonl"
    oracle.write_text(
        json.dumps({"id": "m-1", "answer": ["B"], "choices": ["A", "B"]}) + "\n"
        + json.dumps({"id": "m-2", "answer": ["7"]}) + "\n"
    )  # fmt: skip
    study = Study.model_validate(
        {
            "study": {"store": str(cell / "store")},
            "score": {"scorers": ["robust"], "judge": "j"},
            "models": {"j": {"provider": "simulated", "oracle": str(oracle)}},
        }
    )
    score_cell(
        ScoreFiles(cell / "responses.parquet", cell / "answers.jsonl", cell / "questions.jsonl"),
        cell / "out.parquet",
        study,
    )
    told = read_parquet(cell / "out.parquet", VerdictRow).filter(pl.col("rules") == "gptscore")
    assert told["verdict"].to_list() == [1.0, 0.0, 0.0]
    assert told["outcome"].to_list() == ["scored", "provider_error", "scored"]
    assert told["judge"].to_list() == ["j"] * 3
    assert told["judge_key"].is_null().to_list() == [False, True, False]
    assert told["prompt_sha256"].n_unique() == 1


@pytest.mark.parametrize("sees_pictures", [False, True])
def test_judges_of_gptscore_see_pictures_only_on_request(
    cell: Path, monkeypatch: pytest.MonkeyPatch, sees_pictures: bool
) -> None:
    asked: list[Request] = []

    def accept(_: object, request: Request) -> Response:
        asked.append(request)
        return Response(text="ANSWER: consistent", simulated=True)

    monkeypatch.setattr(SimulatedProvider, "respond", accept)
    picture = b"a picture, which a simulated judge does not open"
    figure = Figure(file="a.png", sha256=hashlib.sha256(picture).hexdigest())
    (cell / figure.file).write_bytes(picture)
    rows = [
        q.model_copy(update={"images": [figure]})
        for q in read_jsonl(cell / "questions.jsonl", Question)
    ]
    write_jsonl(cell / "questions.jsonl", rows)
    (cell / "oracle.jsonl").write_text('{"id": "m-1", "answer": ["B"], "choices": ["A", "B"]}\n')
    study = Study.model_validate(
        {
            "study": {"store": str(cell / "store")},
            "score": {"judge": {"models": ["a"], "pictures": sees_pictures}},
            "models": {"a": {"provider": "simulated", "oracle": str(cell / "oracle.jsonl")}},
        }
    )
    files = (cell / "responses.parquet", cell / "answers.jsonl", cell / "questions.jsonl")
    score_cell(ScoreFiles(*files), cell / "out.parquet", study)
    shown = [part.path for request in asked for part in request.conversation.images]
    assert len(asked) == 2
    assert shown == ([str(cell / figure.file)] * 2 if sees_pictures else [])


def test_judges_vote_and_grade_with_a_prompt_of_ones_own(cell: Path) -> None:
    oracle = cell / "oracle.jsonl"
    oracle.write_text('{"id": "m-1", "answer": ["B"], "choices": ["A", "B"]}\n')
    (cell / "mine.txt").write_text("Judge.")
    simulated = {"provider": "simulated", "oracle": str(oracle)}
    study = Study.model_validate(
        {
            "study": {"store": str(cell / "store")},
            "score": {
                "scorers": ["mathreal"],
                "judge": {"models": ["a", "b", "c"], "prompt": str(cell / "mine.txt")},
                "grader": "a",
            },
            "models": {
                "a": simulated,
                "b": {**simulated, "true_positive_rate": 0.0, "false_positive_rate": 1.0},
                "c": simulated,
            },
        }
    )
    score_cell(
        ScoreFiles(cell / "responses.parquet", cell / "answers.jsonl", cell / "questions.jsonl"),
        cell / "out.parquet",
        study,
    )
    told = read_parquet(cell / "out.parquet", VerdictRow)
    by = {name: rows["verdict"].to_list() for (name,), rows in told.group_by("rules")}
    assert by == {
        "mathreal": [1.0, 0.0, 0.0],
        "gptscore": [1.0, 0.0, 0.0],
        "gptscore/a": [1.0, 0.0, 0.0],
        "gptscore/b": [0.0, 0.0, 1.0],
        "gptscore/c": [1.0, 0.0, 0.0],
    }
    counting = told.filter(pl.col("rules") == "gptscore")
    assert counting["judge"].unique().to_list() == ["a+b+c"]
    hashes = told.group_by("rules").agg(pl.col("prompt_sha256").drop_nulls().unique())
    assert hashes["prompt_sha256"].explode().n_unique() == 2


def test_a_variant_of_gptscore_is_asked_for_by_its_name_and_bought_once(
    cell: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (cell / "oracle.jsonl").write_text('{"id": "m-1", "answer": ["B"], "choices": ["A", "B"]}\n')
    asked: list[Request] = []

    def accept(_: object, request: Request) -> Response:
        asked.append(request)
        return Response(text="ANSWER: consistent", simulated=True)

    monkeypatch.setattr(SimulatedProvider, "respond", accept)

    def score_by(**judge: object) -> tuple[int, set[tuple[int, str]]]:
        study = Study.model_validate(
            {
                "study": {"store": str(cell / "store")},
                "score": {"judge": {"models": ["a"], **judge}},
                "models": {"a": {"provider": "simulated", "oracle": str(cell / "oracle.jsonl")}},
            }
        )
        before, out = len(asked), cell / "out.parquet"
        answers, questions = cell / "answers.jsonl", cell / "questions.jsonl"
        score_cell(ScoreFiles(cell / "responses.parquet", answers, questions), out, study)
        judged = read_parquet(out, VerdictRow).filter(rules="gptscore")
        return len(asked) - before, set(judged.select("version", "prompt_sha256").iter_rows())

    ours = build_prompt(VARIANTS["bare-answers"]).sha256
    bought, prompts = score_by(variant="bare-answers")
    assert bought > 0
    assert prompts == {(2, ours)}
    assert score_by() == (bought, {(3, build_prompt(GPTSCORE).sha256)})
    assert score_by(variant="bare-answers") == (0, {(2, ours)})
    assert score_by(variant="justified")[0] == 0


def test_a_file_is_graded_by_the_models_that_the_params_name(jsonl: Path, tmp_path: Path) -> None:
    (tmp_path / "oracle.jsonl").write_text(
        "".join(json.dumps({"id": row["id"], "answer": row["gold"]}) + "\n" for row in ROWS)
    )
    model = {"provider": "simulated", "oracle": str(tmp_path / "oracle.jsonl")}
    study = Study.model_validate(
        {
            "study": {"store": str(tmp_path / "store")},
            "models": {"m": model},
            "score": {"scorers": ["mathreal"], "grader": "m"},
        }
    )
    score_file([jsonl], "mathreal", tmp_path / "out.parquet", study)
    frame = pl.read_parquet(tmp_path / "out.parquet")
    assert frame["outcome"].to_list() == ["scored", "refused", "scored"]
    assert frame["verdict"].to_list() == [1.0, 0.0, 0.0]
    assert not {"gptscore", "judge"} & set(frame.columns)
    assert frame["grader"].to_list() == ["m"] * 3
    assert frame["grader_prompt_sha256"].unique().to_list() == [build_prompt(GRADE).sha256]
    score_file([jsonl], "mathreal", tmp_path / "alone.parquet")
    alone = pl.read_parquet(tmp_path / "alone.parquet")
    assert alone["outcome"].to_list() == ["unjudged", "refused", "unjudged"]


def test_known_verdicts_are_taken_from_the_cache(jsonl: Path, tmp_path: Path) -> None:
    known = tmp_path / "cache" / "verdicts.sqlite"
    fresh, again, without = (tmp_path / f"{name}.parquet" for name in "abc")
    score_file([jsonl], "robust", fresh, cache=known)
    assert known.is_file()
    score_file([jsonl], "robust", again, cache=known)
    score_file([jsonl], "robust", without)
    assert again.read_bytes() == fresh.read_bytes() == without.read_bytes()
