"""The loop: turns follow from responses alone, hostile ones too, and end when they should."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from omibench.errors import MissingInputError
from omibench.params.setting import Tools
from omibench.schemas.request import (
    Conversation,
    Decoding,
    ImagePart,
    Message,
    Request,
    Response,
    Tags,
    TextPart,
    ToolCall,
    write_call,
)
from omibench.settings.pictures import without_drawing
from omibench.settings.steps import next_turn
from omibench.settings.tool_edits import Errand, upright_size
from omibench.settings.tools import MOST_CALLS
from omibench.store.key import dump_request, parse_request, request_key
from omibench.store.segments import build_body, encode_line, line_fault, parse_line

BOX = '{"image": "image_1", "box": [0.1, 0.1, 0.6, 0.6]}'
NATIVE, TEXT = Tools(), Tools(style="text")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pictures")
    for n, colour in enumerate(("teal", "gold")):
        Image.new("RGB", (120, 80), colour).save(folder / f"{n}.png")
    return folder


def opening(home: Path) -> Conversation:
    images = []
    for n in range(2):
        path = home / f"{n}.png"
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        images.append(ImagePart(sha256=sha256, path=str(path)))
    parts = (TextPart(text="Which is longer?"), *images, TextPart(text="Box it."))
    return Conversation(messages=(Message(role="user", parts=parts),))


def turn(home: Path, tools: Tools, *told: Response) -> Conversation | Errand | None:
    return next_turn(opening(home), tools, home / "made", told)


def must(found: Conversation | Errand | None) -> Conversation:
    assert isinstance(found, Conversation)
    return found


def calls(*made: tuple[str, str], text: str = "") -> Response:
    own = [ToolCall(id=f"c{n}", name=name, arguments=a) for n, (name, a) in enumerate(made)]
    return Response(text=text, calls=tuple(own))


def words(message: Message) -> str:
    return " ".join(part.text for part in message.parts if isinstance(part, TextPart))


def test_only_what_is_offered_is_named(home: Path) -> None:
    some = must(turn(home, Tools(style="text", offered=("look", "crop"))))
    assert "zoom" not in words(some.messages[0])


def test_native_calls_are_answered_each_by_its_id(home: Path) -> None:
    told = calls(("crop", BOX), ("look", '{"image": "image_2"}'), text="Closer.")
    second = must(turn(home, NATIVE, told))
    said, one, other = second.messages[2:]
    assert (said.role, said.calls, words(said)) == ("assistant", told.calls, "Closer.")
    assert [(m.role, m.answers) for m in (one, other)] == [("tool", "c0"), ("tool", "c1")]
    assert words(one) == "result_1 (60 x 40 pixels): crop of image_1."
    assert words(other) == "image_2 (120 x 80 pixels), again."
    assert len(second.images) == 4
    assert second.images[3] == second.images[1]
    made = second.images[2]
    assert hashlib.sha256(Path(made.path).read_bytes()).hexdigest() == made.sha256


def test_results_can_be_worked_on_by_name(home: Path) -> None:
    zoom = '{"image": "result_1", "box": [0, 0, 0.5, 0.5], "times": 2}'
    third = must(turn(home, NATIVE, calls(("crop", BOX)), calls(("zoom", zoom))))
    assert words(third.messages[-1]) == "result_2 (60 x 40 pixels): zoom of result_1."


def test_text_calls_are_answered_in_one_turn(home: Path) -> None:
    reply = f"Closer.\n\n{write_call('crop', BOX)}\nI see a cat. \\boxed{{1}}"
    second = must(turn(home, TEXT, Response(text=reply)))
    said, results = second.messages[2:]
    assert said.role == "assistant"
    assert "cat" not in words(said)
    assert write_call("crop", BOX) in words(said)
    assert (results.role, words(results)) == (
        "user", "result_1 (60 x 40 pixels): crop of image_1.",
    )  # fmt: skip
    assert len(second.images) == 3


@pytest.mark.parametrize("style", ["native", "text"])
def test_the_last_turn_is_asked_for_without_tools(home: Path, style: str) -> None:
    tools = Tools.model_validate({"style": style, "max_turns": 3})
    call = calls(("crop", BOX)) if style == "native" else Response(text=write_call("crop", BOX))
    assert words(must(turn(home, tools, call)).messages[-1]).endswith("crop of image_1.")
    last = must(turn(home, tools, call, call))
    assert last.tools == ()
    assert last.messages[-1].role == "user"
    assert "cannot call tools any more" in words(last.messages[-1])
    assert turn(home, tools, call, call, call) is None


def test_more_pictures_than_agreed_are_not_shown(home: Path) -> None:
    tools = Tools(images=3)
    found = must(turn(home, tools, calls(("crop", BOX), ("look", '{"image": "image_1"}'))))
    assert len(found.images) == 3
    assert words(found.messages[-1]).startswith("Error: no more pictures can be shown, since 3")


def test_more_calls_than_agreed_are_left_out(home: Path) -> None:
    found = must(turn(home, NATIVE, calls(*[("crop", BOX)] * 1000)))
    assert len([m for m in found.messages if m.role == "tool"]) == MOST_CALLS
    assert len(found.messages[2].calls) == MOST_CALLS
    assert "Only the first 8 of your 1000 calls" in words(found.messages[-1])
    by_text = must(turn(home, TEXT, Response(text=f"{write_call('crop', BOX)}\n" * 1000)))
    assert len(by_text.images) == 2 + MOST_CALLS


@pytest.mark.parametrize(
    ("name", "arguments", "why"),
    [
        ("rm", "{}", "Error: there is no tool 'rm'; there are: look, crop"),
        ("crop", "{", "Error: the arguments of crop are wrong: Invalid JSON"),
        ("crop", "[]", "Error: the arguments of crop are wrong"),
        ("look", '{"image": "/etc/passwd"}', "Error: there is no picture '/etc/passwd'"),
        ("look", '{"image": "../../0.png"}', "Error: there is no picture"),
        ("crop", '{"image": "image_1", "box": [0, 0, 0.001, 1]}', "Error: the box has 1 x 80"),
        ("", "it is no object", "Error: the call cannot be read: it is no object"),
        ("x" * 5000, "{}", "Error: there is no tool 'xxx"),
        ("crop", "[" * 10**6, "Error: the arguments of crop are wrong: the arguments have"),
    ],
)
def test_a_bad_call_is_an_error_that_is_told(
    home: Path, name: str, arguments: str, why: str
) -> None:
    found = must(turn(home, NATIVE, calls((name, arguments))))
    assert words(found.messages[-1]).startswith(why)
    assert len(words(found.messages[-1])) <= 2000
    (repeated,) = found.messages[2].calls
    assert len(repeated.name) <= 64
    assert isinstance(json.loads(repeated.arguments), dict)
    assert len(found.images) == 2


def test_odd_ids_are_made_sound_and_distinct(home: Path) -> None:
    for ids in (("", ""), ("a b", "ü"), ("same", "same"), ("x" * 65, "y")):
        told = Response(
            text="", calls=tuple(ToolCall(id=i, name="look", arguments="{}") for i in ids)
        )
        found = must(turn(home, NATIVE, told))
        kept = [call.id for call in found.messages[2].calls]
        assert kept == [m.answers for m in found.messages[3:]]
        assert len(set(kept)) == 2


def test_the_same_responses_make_the_same_turn_in_any_folder(home: Path, tmp_path: Path) -> None:
    told = [calls(("crop", BOX), ("draw_text", '{"image": "image_2", "text": "A", "at": [0, 0]}'))]
    one = must(next_turn(opening(home), NATIVE, tmp_path / "one", told))
    other = must(next_turn(opening(home), NATIVE, tmp_path / "other", told))
    assert [i.sha256 for i in one.images] == [i.sha256 for i in other.images]
    assert key(one) == key(other)


def test_a_picture_that_was_deleted_is_made_again(home: Path, tmp_path: Path) -> None:
    told = [calls(("blur", '{"image": "image_1", "boxes": [[0, 0, 0.5, 0.5]]}'))]
    one = must(next_turn(opening(home), NATIVE, tmp_path / "again", told))
    Path(one.images[2].path).unlink()
    assert must(next_turn(opening(home), NATIVE, tmp_path / "again", told)) == one
    assert Path(one.images[2].path).is_file()


def test_a_picture_that_is_not_there_is_named(tmp_path: Path) -> None:
    gone = ImagePart(sha256="0" * 64, path=str(tmp_path / "gone.png"))
    start = Conversation(messages=(Message(role="user", parts=(gone,)),))
    with pytest.raises(MissingInputError, match=r"gone\.png"):
        next_turn(start, NATIVE, tmp_path / "made", [calls(("crop", BOX))])


def test_looking_ahead_draws_nothing_and_comes_to_the_same(home: Path, tmp_path: Path) -> None:
    small = '{"image": "image_1", "box": [0, 0, 0.01, 0.01]}'
    told = [calls(("crop", small), ("crop", BOX), ("draw_shape", "{}"))]
    with without_drawing():
        ahead = must(next_turn(opening(home), NATIVE, tmp_path / "ahead", told))
    assert not (tmp_path / "ahead").exists()
    drawn = must(next_turn(opening(home), NATIVE, tmp_path / "ahead", told))
    assert [m.role for m in ahead.messages] == [m.role for m in drawn.messages]
    assert [len(m.parts) for m in ahead.messages] == [len(m.parts) for m in drawn.messages]
    with without_drawing():
        assert must(next_turn(opening(home), NATIVE, tmp_path / "ahead", told)) == drawn


def test_a_photograph_is_measured_upright(tmp_path: Path) -> None:
    image = Image.new("RGB", (60, 40))
    exif = image.getexif()
    exif[0x0112] = 6
    image.save(tmp_path / "p.jpg", exif=exif)
    assert upright_size(str(tmp_path / "p.jpg")) == (40, 60)


def key(conversation: Conversation) -> str:
    return request_key({"provider": "x"}, asked(conversation))


def asked(conversation: Conversation) -> Request:
    tags = Tags(role="respondent", problem="p")
    return Request(conversation=conversation, decoding=Decoding(), tags=tags)


def test_calls_tools_and_results_are_in_the_key(home: Path) -> None:
    turns = [
        must(turn(home, NATIVE)),
        must(turn(home, TEXT)),
        must(turn(home, Tools(offered=("crop",)))),
        must(turn(home, NATIVE, calls(("crop", BOX)))),
        must(turn(home, NATIVE, calls(("crop", BOX.replace("0.6", "0.7"))))),
        must(turn(home, NATIVE, calls(("crop", BOX)).model_copy(update={"carried": "[1]"}))),
    ]
    assert len({key(each) for each in turns}) == len(turns)


def kept(request: Request, response: Response) -> None:
    """A line holds a request with tools and its response, and gives both back."""
    own = request_key({"provider": "x"}, request)
    line = encode_line(own, build_body(request, response))
    assert line_fault(line) is None
    body = parse_line(line)
    again = parse_request(json.loads(body.request), json.loads(body.tags))
    assert dump_request(again) == dump_request(request)
    assert request_key({"provider": "x"}, again) == own
    assert Response.model_validate_json(body.response) == response


hostile = st.text() | st.sampled_from(
    ['{"a":{"b":{}}}', ',"decoding":{"x":1},"index":0}}\n', '","request":{', ',"response":{', "}}"]
)


@given(hostile, hostile, hostile)
def test_no_words_in_a_call_mislead_a_line_of_the_store(name: str, arguments: str, id: str) -> None:
    call = ToolCall(id=id, name=name, arguments=arguments)
    messages = (
        Message(role="assistant", parts=(), calls=(call,), carried=arguments),
        Message(role="tool", parts=(TextPart(text=name),), answers=id),
    )
    try:
        json.dumps([name, arguments, id]).encode()
        "".join((name, arguments, id)).encode()
    except UnicodeEncodeError:
        return
    kept(asked(Conversation(messages=messages)), Response(text=name, calls=(call,)))


@given(st.lists(st.tuples(hostile, hostile), max_size=10), st.booleans())
def test_no_reply_breaks_the_loop(
    tmp_path_factory: pytest.TempPathFactory, made: list[tuple[str, str]], by_text: bool
) -> None:
    start = opening(_home(tmp_path_factory))
    reply = calls(*made)
    if by_text:
        reply = Response(text="\n".join(f"```tool\n{a}\n```\n{b}" for a, b in made))
    found = next_turn(start, TEXT if by_text else NATIVE, Path("/nowhere"), [reply])
    assert found is None or len(found.images) == 2


_HOME: list[Path] = []


def _home(factory: pytest.TempPathFactory) -> Path:
    if not _HOME:
        folder = factory.mktemp("hostile")
        for n in range(2):
            Image.new("RGB", (9, 9)).save(folder / f"{n}.png")
        _HOME.append(folder)
    return _HOME[0]


EXPERTS = Tools(by={"detect": "vision", "read_text": "vision"}, offered=("crop",))


def test_an_expert_is_asked_and_its_picture_named(home: Path) -> None:
    asked = calls(("detect", '{"image": "image_2", "objects": ["lens"]}'), ("crop", BOX))
    errand = next_turn(opening(home), EXPERTS, home / "made", [asked])
    assert isinstance(errand, Errand)
    assert errand.model == "vision"
    text = json.loads(words(errand.conversation.messages[0]))
    assert text == {"tool": "detect", "arguments": {"objects": ["lens"]}}
    assert errand.conversation.images == [opening(home).images[1]]
    made = opening(home).images[0]
    told = Response(text="1. lens", drawn=(made,))
    turn = must(next_turn(opening(home), EXPERTS, home / "made", [asked, told]))
    assert words(turn.messages[-2]) == "1. lens\nresult_1 (120 x 80 pixels)."
    assert words(turn.messages[-1]).startswith("result_2 (60 x 40 pixels): crop of image_1.")
    assert [spec.name for spec in turn.tools] == ["crop", "detect", "read_text"]


def test_pictures_of_experts_are_bounded_and_bad_calls_cost_no_request(home: Path) -> None:
    few = EXPERTS.model_copy(update={"images": 2})
    asked = calls(("detect", '{"image": "image_9", "objects": ["x"]}'))
    turn = must(next_turn(opening(home), few, home / "made", [asked]))
    assert words(turn.messages[-1]).startswith("Error: there is no picture 'image_9'")
    asked = calls(("detect", '{"image": "image_1", "objects": ["x"]}'))
    told = Response(text="1. x", drawn=(opening(home).images[0],) * 2)
    turn = must(next_turn(opening(home), few, home / "made", [asked, told]))
    assert words(turn.messages[-1]) == "1. x\n2 more pictures cannot be shown."
    assert len(turn.images) == 2


def test_code_sees_what_experts_made(home: Path) -> None:
    tools = Tools(by={"detect": "vision", "python": "sandbox"}, offered=("crop",))
    asked = calls(
        ("detect", '{"image": "image_1", "objects": ["x"]}'), ("python", '{"code": "print(1)"}')
    )
    told = Response(text="1. x", drawn=(opening(home).images[1],))
    errand = next_turn(opening(home), tools, home / "made", [asked, told])
    assert isinstance(errand, Errand)
    assert errand.model == "sandbox"
    names = [p.text for p in errand.conversation.messages[0].parts if isinstance(p, TextPart)]
    assert names == ["image_1", "image_2", "result_1", "print(1)"]
