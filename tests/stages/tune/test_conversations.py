"""Training sets are read in the layouts of their releases; what cannot be used has a reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.small_freeze import make_picture, write_freeze

from omibench.errors import FileFormatError, MissingInputError
from omibench.params.study import parse_study
from omibench.schemas.tuning import TrainingReport
from omibench.stages.tune.conversations import ConversationRow, read_conversations
from omibench.stages.tune.stage import select_conversations

CMMCOT = {
    "id": "birds-0",
    "image": ["oss://bucket/Mantis/birds/train/1.png", "oss://bucket/Mantis/birds/train/2.png"],
    "conversations": [
        {"from": "human", "value": "Which of the two birds is brighter?<image> <image>"},
        {
            "from": "gpt",
            "value": "The second <|box_start|>(41,35),(62,70)<|box_end|><IMG>1</IMG><image> is. "
            "The first <|box_start|>(29,24),(51,84)<|box_end|><IMG>0</IMG><image> is pale.",
        },
    ],
}
MMDU = {
    "id": 7,
    "image": ["/mmdu-45k_pics/1.png", "/mmdu-45k_pics/2.png"],
    "conversations": [
        {"from": "human", "value": "Image1: <ImageHere>\nImage2: <ImageHere>\nDescribe both."},
        {"from": "gpt", "value": "A tower and a bridge."},
        {"from": "human", "value": "Which is older?"},
        {"from": "gpt", "value": "The tower."},
    ],
}
LLAVA = {
    "id": "plain",
    "image": "1.png",
    "conversations": [
        {"from": "human", "value": "What is it?"},
        {"from": "gpt", "value": "A rod."},
    ],
}
MESSAGES = {
    "messages": [
        {"role": "system", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Compare"}, {"type": "image", "image": "1.png"},
                {"type": "image_url", "image_url": {"url": "2.png"}},
            ],
        },
        {"role": "assistant", "content": "Equal."},
    ],
}  # fmt: skip


def lay(folder: Path, rows: list[Any], name: str = "train.json") -> Path:
    """A training set with two pictures in the folders of its paths."""
    for place in ("birds/train", "mmdu-45k_pics", "."):
        (folder / place).mkdir(parents=True, exist_ok=True)
        for number in (1, 2):
            (folder / place / f"{number}.png").write_bytes(make_picture(number))
    text = json.dumps(rows)
    if name.endswith("l"):
        text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / name).write_text(text, "utf-8")
    return folder / name


def read(folder: Path, *rows: Any, name: str = "train.json") -> list[ConversationRow]:
    return list(read_conversations(lay(folder, list(rows), name), folder))


def test_the_layouts_of_the_releases(tmp_path: Path) -> None:
    birds, city, plain, own = read(tmp_path, CMMCOT, MMDU, LLAVA, MESSAGES)
    assert birds.conversation is not None
    question, answer = birds.conversation.turns
    assert question.content == ["Which of the two birds is brighter?", 0, 1]
    assert answer.content == ["The second  is. The first  is pale."]
    assert birds.regions == 2
    assert [Path(p).relative_to(tmp_path) for p in birds.conversation.pictures] == [
        Path("birds/train/1.png"), Path("birds/train/2.png"),
    ]  # fmt: skip
    assert city.id == "7"
    assert city.conversation is not None
    assert [turn.role for turn in city.conversation.turns] == ["user", "assistant"] * 2
    assert city.conversation.turns[0].content == [
        "Image1: ",
        0,
        "\nImage2: ",
        1,
        "\nDescribe both.",
    ]
    assert plain.conversation is not None
    assert plain.conversation.turns[0].content == [0, "What is it?"]
    assert own.conversation is not None
    assert own.id == "4"
    assert own.conversation.turns[1].content == ["Compare", 0, 1]


def test_lines_are_read_as_a_list_is(tmp_path: Path) -> None:
    rows = [CMMCOT, MMDU, LLAVA, MESSAGES]
    assert read(tmp_path, *rows, name="train.jsonl") == read(tmp_path, *rows)


def change(row: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**row, **more}


HUMAN = {"from": "human", "value": "?"}
GPT = {"from": "gpt", "value": "!"}


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("text", "not an object"),
        (change(LLAVA, image=["../1.png"], conversations=[HUMAN, GPT]), ""),
        (change(LLAVA, image=["absent.png"]), "a picture is missing"),
        (change(LLAVA, image={"a": 1}), "pictures: not a list"),
        (change(LLAVA, image=["1.png"] * 65), "or more than 64"),
        (change(LLAVA, conversations=[]), "no turns under conversations or messages"),
        (change(LLAVA, conversations=[{"from": "cat", "value": "x"}]), "no known role"),
        (change(LLAVA, conversations=[{"from": "human"}]), "or no text"),
        (change(LLAVA, conversations=[HUMAN, HUMAN]), "do not take turns"),
        (change(LLAVA, conversations=[GPT, HUMAN]), "do not take turns"),
        (change(LLAVA, conversations=[HUMAN]), "no answer of the assistant"),
        (change(LLAVA, conversations=[HUMAN, {"from": "gpt", "value": " "}]), "no answer"),
        (change(LLAVA, conversations=[HUMAN, GPT, {"from": "human", "value": "<image>"}]),
         "a picture without an answer after it"),
        (change(LLAVA, conversations=[{"from": "human", "value": "<image><image>"}, GPT]),
         "another number of picture marks"),
        (change(LLAVA, conversations=[HUMAN, {"from": "gpt", "value": "see <image>"}]),
         "a picture in a turn of the assistant"),
        (change(LLAVA, conversations=[{"from": "human", "value": [{"type": "video"}]}, GPT]),
         "neither text nor picture"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_has_a_reason(tmp_path: Path, row: Any, reason: str) -> None:
    """A path is looked up in the folder alone: `../1.png` is the file 1.png in it."""
    first, last = read(tmp_path, row, LLAVA)
    assert reason in first.reason
    assert (first.conversation is None) == bool(reason)
    assert last.conversation is not None, "the others are read"


def test_a_link_out_of_the_folder_is_a_missing_picture(tmp_path: Path) -> None:
    outside = tmp_path / "outside.png"
    outside.write_bytes(make_picture(1))
    inside = tmp_path / "inside"
    lay(inside, [change(LLAVA, image="link.png")])
    (inside / "link.png").symlink_to(outside)
    (found,) = read_conversations(inside / "train.json", inside)
    assert found.reason == "a picture is missing"


@pytest.mark.parametrize(
    ("text", "error"), [("{}", "is not a list"), ("[1", "is not JSON"), (None, "cannot be read")]
)
def test_a_file_that_is_no_set_is_one_line(tmp_path: Path, text: str | None, error: str) -> None:
    file = tmp_path / "train.json"
    if text is not None:
        file.write_text(text, "utf-8")
    with pytest.raises((FileFormatError, MissingInputError), match=error) as raised:
        list(read_conversations(file, tmp_path))
    assert "\n" not in str(raised.value)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["from", "value", "role", "content", "type", "text", "image", "messages"]),
        inner, max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@given(st.dictionaries(st.sampled_from(["id", "image", "conversations", "messages"]), VALUES))
def test_any_object_is_read_or_has_a_reason(row: dict[str, Any]) -> None:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as name:
        (found,) = read(Path(name), row)
    assert bool(found.reason) == (found.conversation is None)


# Leaks.


def select(folder: Path, rows: list[Any], **block: Any) -> tuple[list[str], TrainingReport]:
    """The ids that are trained on, and the report."""
    write_freeze(folder / "freeze", 4)
    file = lay(folder / "set", rows)
    models = {"b": {"provider": "transformers", "id": "x"}}
    tune = {"t": {"base": "b", "data": str(file), **block}}
    study = parse_study({"models": models, "tune": tune}, "test")
    questions = folder / "freeze/questions.jsonl"
    lines = [json.loads(line) for line in questions.read_text("utf-8").splitlines()]
    lines[0]["question"] = (
        "[IMAGE0] [IMAGE1] A thin rod of length two metres swings about one end; find its period."
    )
    questions.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    kept, report = select_conversations(questions, study, study.tune["t"])
    return [conversation.id for conversation in kept], report


def talk(name: str, text: str, picture: str = "fresh.png") -> dict[str, Any]:
    return {
        "id": name, "image": [picture],
        "conversations": [{"from": "human", "value": f"<image>{text}"}, GPT],
    }  # fmt: skip


def draw_noise(folder: Path) -> None:
    """A picture that resembles none of the frozen ones."""
    import numpy as np
    from PIL import Image

    folder.mkdir(parents=True, exist_ok=True)
    noise = np.random.default_rng(5).integers(0, 255, (60, 60, 3), dtype=np.uint8)
    Image.fromarray(noise).save(folder / "fresh.png")


def test_texts_and_pictures_of_frozen_problems_are_found(tmp_path: Path) -> None:
    draw_noise(tmp_path / "set")
    (tmp_path / "set/seen.png").write_bytes(make_picture(3))
    rows = [
        talk(
            "same",
            "Solve: a thin rod, of length two metres, swings about one end. Find its period!",
        ),
        talk("other", "A thick disc of mass two kilograms rolls down a slope; find its speed."),
        talk("picture", "What is this?", "seen.png"),
        talk("short", "How long is rod 2?"),
    ]
    kept, report = select(tmp_path, rows)
    assert kept == ["same", "other", "picture", "short"]
    found = {(leak.conversation, leak.problem, leak.kind) for leak in report.leaks}
    assert found == {("same", "item-0", "text"), ("picture", "item-1", "picture")}
    assert report.leaking == 2
    kept, report = select(tmp_path, rows, drop_leaks=True)
    assert kept == ["other", "short"]
    assert report.left_out == {"shares a text or picture with the frozen problems": 2}
    assert (report.read, report.kept) == (4, 2)


def test_a_limit_draws_by_seed_and_keeps_the_order(tmp_path: Path) -> None:
    draw_noise(tmp_path / "set")
    rows = [talk(f"c{n}", f"What is {n}?") for n in range(20)]
    first, report = select(tmp_path, rows, limit=5)
    assert first == sorted(first, key=lambda name: int(name[1:]))
    assert report.left_out == {"not drawn (limit)": 15}
    assert select(tmp_path, rows, limit=5)[0] == first
    assert select(tmp_path, rows, limit=5, seed=1)[0] != first


def test_a_missing_picture_of_the_frozen_problems_ends_the_job(tmp_path: Path) -> None:
    """It is no fault of the conversations, which would all be left out."""
    draw_noise(tmp_path / "set")
    select(tmp_path, [talk("a", "x")])
    for picture in (tmp_path / "freeze/images").iterdir():
        picture.unlink()
    study = parse_study(
        {
            "models": {"b": {"provider": "transformers", "id": "x"}},
            "tune": {"t": {"base": "b", "data": str(tmp_path / "set/train.json")}},
        },
        "test",
    )
    with pytest.raises(MissingInputError, match="picture not found"):
        select_conversations(tmp_path / "freeze/questions.jsonl", study, study.tune["t"])


def test_a_broken_picture_costs_its_conversation(tmp_path: Path) -> None:
    draw_noise(tmp_path / "set")
    (tmp_path / "set/broken.png").write_bytes(b"not a picture")
    kept, report = select(tmp_path, [talk("a", "x", "broken.png"), talk("b", "y")])
    assert kept == ["b"]
    assert report.left_out == {"a picture is not readable": 1}
    assert report.examples == {"a picture is not readable": ["a"]}
