"""What models that choose among samples are shown, together or one by one, in words or numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.stages.aggregate.reward_cell import (
    SAMPLES,
    TEXTS,
    Asked,
    describe,
    make_study,
    write_cell,
)

from omibench.answers.judges.case import HEAD_CHARS, TAIL_CHARS, JudgeCase, question_section
from omibench.answers.judges.instrument import build_request
from omibench.errors import ModelError, ParamsError
from omibench.params.setting import Cell
from omibench.params.study import Study
from omibench.schemas.request import ImagePart, Response, TextPart
from omibench.schemas.tables import AggregateRow, VerdictRow, read_parquet, write_parquet
from omibench.stages.aggregate import aggregate_cell
from omibench.stages.aggregate.choose import split_evenly
from omibench.stages.aggregate.judges import (
    JOINT_MARKS,
    MARKS,
    REWARD,
    read_captions,
    read_joint_marks,
    read_reward,
)
from omibench.stages.aggregate.votes import Sample
from omibench.study.plan.build import plan_study

CELL = Cell("m", "vote")
BEST = {"how": "best-of-n", "judge": "reward", "k": [2]}
JOINT = {**BEST, "marking": "joint"}
HEAD = {"how": "best-of-n", "judge": "head", "captions": "eyes", "k": [2]}


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return write_cell(tmp_path)


def rows(results: Path, study: Study) -> pl.DataFrame:
    out = results / "aggregate/m/vote.parquet"
    aggregate_cell(results, out, study, CELL)
    return read_parquet(out, AggregateRow)


def pick(frame: pl.DataFrame, column: str, k: int = SAMPLES) -> dict[str, Any]:
    chosen = frame.filter(pl.col("index").is_not_null(), k=k)
    return dict(chosen.select("id", column).iter_rows())


@pytest.mark.parametrize("how", [BEST, HEAD, "majority", "first", "mean"])
def test_a_cell_without_problems_has_no_rows(results: Path, how: Any) -> None:
    verdicts = results / "score/m/vote.parquet"
    write_parquet(verdicts, [], VerdictRow)
    assert rows(results, make_study(results, how)).is_empty()


@pytest.mark.parametrize("how", [BEST, JOINT, {"how": "tournament", "judge": "reward"}])
def test_pictures_stand_in_their_places(
    results: Path, monkeypatch: pytest.MonkeyPatch, how: dict[str, Any]
) -> None:
    asked = Asked(monkeypatch)
    rows(results, make_study(results, how))
    role = "referee" if how["how"] == "tournament" else "marker"
    [before, first, between, second, after] = describe(asked.select(role, "lens")[0])
    assert before.endswith("\nWhat is in ")
    assert (first, second) == ("<0-84x56.png>", "<1-84x56.png>")
    assert between == " of the set-up?\nA: a lens\nB: "
    assert after.startswith("\n<<<END QUESTION ")
    assert "boxed" in after
    [_, loose, _] = describe(asked.select(role, "slope")[0])
    assert loose == "<2-84x56.png>"


def test_a_problem_without_pictures_is_asked_as_ever(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Asked(monkeypatch)
    rows(results, make_study(results, BEST))
    case = JudgeCase("bare", "What is 1 + 1?", (), TEXTS["bare"][0])
    assert asked.select("marker", "bare")[0].conversation == build_request(case, MARKS).conversation


@pytest.mark.parametrize(
    ("setting", "pictures"),
    [
        ({"images": "first"}, ["<0-84x56.png>"]),
        ({"images": "none"}, []),
        ({"images": {"show": "captions", "model": "eyes"}}, []),
        ({"without": ["choices"]}, ["<0-84x56.png>"]),
    ],
)
def test_judges_see_what_the_setting_shows(
    results: Path, monkeypatch: pytest.MonkeyPatch, setting: dict[str, Any], pictures: list[str]
) -> None:
    asked = Asked(monkeypatch)
    rows(results, make_study(results, BEST, setting=setting))
    pieces = describe(asked.select("marker", "lens")[0])
    assert [piece for piece in pieces if piece.endswith(".png>")] == pictures
    words = "".join(pieces)
    assert ("described in words: lens picture 0]" in words) == ("captions" in str(setting))
    assert ("[image not shown]" in words) == (setting.get("images") == "first")


def test_candidates_that_fit_one_prompt_are_marked_in_one(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Asked(monkeypatch)
    frame = rows(results, make_study(results, JOINT))
    requests = asked.select("marker", "slope")
    assert len(requests) == 2  # one for each k
    names = [r.conversation.text.count("<<<RESPONSE ") for r in requests]
    assert sorted(names) == [2, SAMPLES]
    assert pick(frame, "value") == {"lens": 1, "slope": 1, "bare": 1}
    assert pick(frame, "prompts") == {"lens": 1, "slope": 1, "bare": 1}
    assert all(mark >= 60 for mark in pick(frame, "mark").values())
    assert pick(frame, "value", 2) == {"lens": 1, "slope": 0, "bare": 0}


def test_candidates_that_do_not_fit_go_into_the_fewest_groups(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Asked(monkeypatch)
    monkeypatch.setattr(
        "omibench.stages.aggregate.choose.make_fits",
        lambda models: lambda request: request.conversation.text.count("<<<RESPONSE ") < 3,
    )
    frame = rows(results, make_study(results, JOINT))
    assert pick(frame, "prompts") == {"lens": 2, "slope": 2, "bare": 2}
    assert pick(frame, "prompts", 2) == {"lens": 1, "slope": 1, "bare": 1}
    assert pick(frame, "value") == {"lens": 1, "slope": 1, "bare": 1}
    assert len(asked.select("marker", "slope")) == 3


def test_the_context_of_the_reward_model_decides_what_fits(results: Path) -> None:
    from omibench.params.models.registry import parse_model
    from omibench.stages.aggregate.choose import make_fits

    case = JudgeCase("p", "q", (), "word " * 2000, rivals=("word " * 2000,))
    request = build_request(case, JOINT_MARKS, max_tokens=1000)
    block = {"provider": "openai", "id": "gpt-4o", "image_tokens": "openai-tiles"}
    assert make_fits([parse_model(block)])(request)
    assert make_fits([parse_model({**block, "context_tokens": 7000})])(request)
    assert not make_fits([parse_model({**block, "context_tokens": 6000})])(request)
    both = [parse_model({**block, "context_tokens": size}) for size in (6000, 70000)]
    assert not make_fits(both)(request)
    local = {"provider": "vllm", "id": "m", "max_model_len": 6000}
    assert parse_model(local).context == 6000


def test_a_reward_head_is_given_question_captions_and_response(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Asked(monkeypatch)
    frame = rows(results, make_study(results, HEAD))
    request = asked.select("marker", "lens")[0]
    user, assistant = request.conversation.messages
    assert (user.role, assistant.role) == ("user", "assistant")
    assert [p.text for p in user.parts if isinstance(p, TextPart)] == [
        "What is in [IMAGE0, described in words: lens picture 0] of the set-up?\nA: a lens\n"
        "B: [IMAGE1, described in words: lens picture 1]"
    ]
    assert describe(request) == [TEXTS["lens"][0]]
    assert request.decoding.max_tokens == 1
    assert not request.conversation.images
    assert len(asked.select("marker", "slope")) == SAMPLES  # each once, for every k
    assert len(asked.select("captioner", "lens")) == 2
    assert pick(frame, "value") == {"lens": 1, "slope": 1, "bare": 1}
    assert pick(frame, "prompts") == dict.fromkeys(TEXTS, SAMPLES)
    assert any(mark != round(mark) for mark in pick(frame, "mark").values())
    assert frame.filter(pl.col("index").is_not_null())["simulated"].all()


def test_a_folder_of_prompts_does_not_reach_a_reward_head(
    results: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path_factory.mktemp("prompts")
    (folder / "mark.txt").write_text("Be strict.")
    plain = rows(results, make_study(results, HEAD))
    assert rows(results, make_study(results, HEAD, prompts=str(folder))).equals(plain)
    asked = Asked(monkeypatch)
    rows(results, make_study(results, BEST, prompts=str(folder)))
    told = asked.select("marker", "bare")[0].conversation.messages[0].parts[0]
    assert getattr(told, "text", "").startswith("Be strict.")


def test_a_replaced_prompt_keeps_pictures_in_their_places(
    results: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path_factory.mktemp("prompts") / "mine.txt"
    file.write_text("Judge this.\n\n{question}\n\nNow the answers.\n\n{responses}")
    asked = Asked(monkeypatch)
    judge = {"models": ["reward"], "prompt": str(file)}
    rows(results, make_study(results, {**JOINT, "judge": judge}))
    pieces = describe(asked.select("marker", "lens")[0])
    assert [piece for piece in pieces if piece.endswith(".png>")] == [
        "<0-84x56.png>", "<1-84x56.png>",
    ]  # fmt: skip
    assert pieces[0].endswith("\nWhat is in ")
    assert "Now the answers." in pieces[-1]


@pytest.mark.parametrize("how", [BEST, JOINT, HEAD])
def test_a_plan_counts_calls_pictures_and_captions(results: Path, how: dict[str, Any]) -> None:
    study = make_study(results, how)
    before = plan_study(study, results / "freeze" / "questions.jsonl")
    marker = next(row for row in before.rows if row.instrument == "marker")
    each = 2 if how is JOINT else SAMPLES
    assert marker.requests == 3 * each
    assert marker.shown == (0 if how is HEAD else 3 * each)
    captions = [row.requests for row in before.rows if row.role == "captioner"]
    assert captions == ([3] if how is HEAD else [])
    rows(results, study)
    after = plan_study(study, results / "freeze" / "questions.jsonl")
    assert sum(row.to_buy for row in after.rows if row.role == "captioner") == 0


@pytest.mark.parametrize(
    ("aggregate", "changes", "line"),
    [
        (
            {"how": "best-of-n", "judge": "head"}, {},
            "takes no pictures, but the setting shows some; set `captions: NAME` to a model that "
            "describes them",
        ),
        (
            {"how": "best-of-n", "judge": "blind"}, {},
            "the reward model 'blind' takes no pictures",
        ),
        (
            {"how": "best-of-n", "judge": "seeing", "captions": "eyes"}, {},
            "sees the pictures; remove captions",
        ),
        (
            {"how": "best-of-n", "judge": "reward", "captions": "eyes"},
            {"setting": {"images": "none"}}, "the setting shows no pictures (none)",
        ),
        ({**HEAD, "how": "tournament"}, {}, "is a reward head, which cannot compare"),
        ({**HEAD, "marking": "joint"}, {}, "marks one response at a time"),
        ({**HEAD, "judge": ["head", "reward"]}, {}, "use it as the only judge"),
        ({**HEAD, "judge": {"models": ["head"], "prompt": "p.txt"}}, {}, "takes no prompt"),
        ({**HEAD, "captions": "eye"}, {}, "aggregate.captions: 'eye' is not defined"),
        ({"how": "tournament", "judge": "reward", "marking": "joint"}, {},
         "marking: joint is only for best-of-n"),
        ({"how": "majority", "captions": "eyes"}, {}, "takes no `captions`"),
        ("mean", {"score": {"scorers": ["robust"], "judge": "head"}},
         "score.judge: 'head' is a reward head, which writes no text"),
        ("mean", {"infer": {"models": ["head"], "settings": ["vote"]}},
         "infer.models: 'head' is a reward head"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_one_line(
    tmp_path: Path, aggregate: Any, changes: dict[str, Any], line: str
) -> None:
    served = {"provider": "openai", "id": "x"}
    models = {"blind": {**served, "can": {"images": 0}}, "seeing": served}
    with pytest.raises(ParamsError) as error:
        make_study(tmp_path, aggregate, models=models, **changes)
    assert line in str(error.value)
    assert "\n" not in str(error.value)


def test_a_blind_model_may_choose_where_no_picture_is_shown(tmp_path: Path) -> None:
    models = {"blind": {"provider": "openai", "id": "x", "can": {"images": 0}}}
    aggregate = {"how": "best-of-n", "judge": "blind"}
    study = make_study(tmp_path, aggregate, models=models, setting={"images": "none"})
    assert study.aggregated_cells == [CELL]


def test_captions_that_never_came_stop_the_cell_and_refused_ones_are_empty(results: Path) -> None:
    request = build_request(JudgeCase("p", "q", (), "r"), REWARD)
    answers = [Response(text="a dog"), Response(text="no", outcome="refused")]
    assert read_captions([request, request], answers) == {"p": ["a dog", ""]}
    stopped = [*answers, Response(text="", outcome="budget_stop")]
    with pytest.raises(ModelError, match=r"1 of 3 captions .* are missing \(budget_stop\)"):
        read_captions([request] * 3, stopped)


@pytest.mark.parametrize(
    ("reply", "marks"),
    [("MARKS: 1, 100", (1, 100)), ("So.\n**MARKS: 0,7**", (0, 7)), ("MARKS: 1", None),
     ("MARKS: 1, 2, 3", None), ("MARKS: 1, 101", None), ("MARKS: 1 2", None), ("1, 2", None),
     ("MARKS: 1, 2\nDone", None), ("MARKS: , 2", None)],
)  # fmt: skip
def test_joint_marks_are_one_for_each_response(reply: str, marks: Any) -> None:
    assert read_joint_marks(reply, JudgeCase("p", "q", (), "a", rivals=("b",))) == marks


@pytest.mark.parametrize(
    ("reply", "reward"),
    [("-1.25", -1.25), ("1e-07", 1e-07), ("nan", None), ("inf", None), ("3 points", None),
     ("", None)],
)  # fmt: skip
def test_rewards_are_finite_numbers(reply: str, reward: float | None) -> None:
    assert read_reward(reply, JudgeCase("p", "q", (), "a")) == reward


@given(st.integers(1, 40), st.data())
def test_groups_hold_every_candidate_once_and_differ_by_one(n: int, data: st.DataObject) -> None:
    samples = [Sample(i, "x") for i in range(n)]
    count = data.draw(st.integers(1, n))
    groups = split_evenly(samples, count)
    assert [s for group in groups for s in group] == samples
    sizes = {len(group) for group in groups}
    assert len(groups) == count
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("length", [10, 4_000, 15_990, 16_000, 20_000, 70_000])
def test_a_statement_that_is_too_long_keeps_every_picture_in_its_place(length: int) -> None:
    picture = ImagePart(sha256="0" * 64)
    text = "".join(chr(ord("a") + i * 26 // length) for i in range(length))
    places = [0, length // 8, length // 2, length - 5, length]
    pieces = [text[a:b] for a, b in zip([0, *places], [*places, length], strict=True)]
    parts: list[TextPart | ImagePart] = []
    for piece in pieces[:-1]:
        parts += [TextPart(text=piece), picture]
    section = question_section(JudgeCase("p", "", (), "r", statement=tuple(parts)))
    assert len(section.inserts) == len(places)
    assert [place for place, _ in section.inserts] == sorted(p for p, _ in section.inserts)
    for place, (new_place, _) in zip(places, section.inserts, strict=True):
        if place <= HEAD_CHARS:
            assert section.text[:new_place] == text[:place]
        elif place >= length - TAIL_CHARS:
            assert section.text[new_place:] == text[place:]
        else:
            assert new_place == HEAD_CHARS
