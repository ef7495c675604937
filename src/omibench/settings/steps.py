"""The next step of a sample: conversations to send, tools to call, or done."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from omibench.params.presentation import Perception
from omibench.params.setting import Images, Setting, Tools
from omibench.schemas.problem import IMAGE_MARK, Example, Question
from omibench.schemas.request import (
    Conversation,
    Decoding,
    Message,
    Part,
    Request,
    Response,
    Role,
    Tags,
    TextPart,
    ToolCall,
    list_reply_parts,
    read_calls,
    write_call,
    write_reply,
    write_turn,
)
from omibench.settings.conditions import (
    CAPTION_DECODING,
    PERCEIVER_DECODING,
    add_descriptions,
    caption_conversation,
    cut_description,
    perceiver_conversation,
    show_pictures,
)
from omibench.settings.pictures import locate_pictures
from omibench.settings.present import (
    PromptContext,
    ablate,
    apply_prompt,
    choose_examples,
    marks,
    present,
    read_template,
    show_examples,
    wordless,
)
from omibench.settings.prompts import PromptEntry, Slot, add_prompt, find_prompt
from omibench.settings.registry import continue_dialogue
from omibench.settings.templates import QUESTION, Prompt
from omibench.settings.tool_edits import Bench, Errand, Result
from omibench.settings.tools import LONGEST, MOST_CALLS, ToolWords, specs

# The loop: a model calls tools, sees their results, and calls again or answers.
#
# A pure function of the initial conversation and of the responses so far, except for the pictures
# that the tools make: all earlier turns are replayed for each next one.

NO_FILES: Mapping[str, str] = {}
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


class _Called(NamedTuple):
    """The assistant's text and calls of one turn, as sent back and as run."""

    text: str
    repeated: tuple[ToolCall, ...]
    run: tuple[ToolCall, ...]
    total: int


def next_turn(
    opening: Conversation,
    tools: Tools,
    folder: Path,
    responses: Sequence[Response],
    prompts: Mapping[str, str] = NO_FILES,
) -> Conversation | Errand | None:
    """Return the next request of the loop; None if the last response is the answer.

    `responses` are those of the model, and after each of its calls that needs an errand, of that.

    `opening` presents the problem, with its pictures in the last message; results of tools are kept
    in `folder`; `prompts` are files that replace our wording, by prompt name. A problem without
    pictures is sent without tools. Raises as `Bench.run` does.
    """
    pictures = Conversation(messages=opening.messages[-1:]).images
    if not pictures:
        return None if responses else opening
    replies = iter(responses)
    bench = Bench(tools, pictures, folder, len(opening.images), replies)
    words = ToolWords(tools, prompts)
    stages = words.stages
    messages = _begin_messages(
        opening, words.write_instructions(bench.inventory, len(pictures)), stages[0]
    )
    stage, calls_left = 0, tools.max_turns - 1
    for response in replies:
        called = _calls(response, tools) if calls_left else None
        if called is not None:
            calls_left -= 1
            results: list[Result] = []
            for call in called.run:
                result = bench.run(call)
                if isinstance(result, Errand):
                    return result
                results.append(result)
            messages += _write_results(called, response, results, tools)
            if called.total > MOST_CALLS:
                messages.append(write_turn("user", words.describe_left_out(called.total)))
            if not calls_left:
                rules = words.forbid_calls(last=stage == len(stages) - 1)
                messages.append(write_turn("user", rules))
        elif stage < len(stages) - 1:
            stage += 1
            messages += [write_reply(response), write_turn("user", stages[stage])]
        else:
            return None
    native = tools.style == "native" and calls_left
    return Conversation(
        messages=tuple(_merge_turns(messages)), tools=specs(tools.names) if native else ()
    )


def _begin_messages(opening: Conversation, rules: str, stage: str) -> list[Message]:
    """Put the rules first, since some APIs accept a system turn only there."""
    messages = [write_turn("system", rules), *opening.messages]
    return [*messages, write_turn("user", stage)] if stage else messages


def _calls(response: Response, tools: Tools) -> _Called | None:
    """Return the calls of a response, or None."""
    if tools.style == "native":
        if not response.calls:
            return None
        run = response.calls[:MOST_CALLS]
        repeated = tuple(_repeat_call(call, n) for n, call in enumerate(run, start=1))
        ids = [call.id for call in repeated]
        if len(set(ids)) < len(ids):
            repeated = tuple(
                c.model_copy(update={"id": f"call_{n}"}) for n, c in enumerate(repeated, 1)
            )
        return _Called(response.text, repeated, run, len(response.calls))
    written = read_calls(response.text)
    if written is None:
        return None
    run = tuple(written.calls[:MOST_CALLS])
    blocks = [write_call(call.name, call.arguments) for call in run if call.name]
    text = "\n\n".join(filter(None, [written.before, *blocks])) or "(a call that cannot be read)"
    return _Called(text, (), run, len(written.calls))


def _repeat_call(call: ToolCall, number: int) -> ToolCall:
    """Return a call to send back: servers reject odd names and broken arguments."""
    return ToolCall(
        id=call.id if _ID.fullmatch(call.id) else f"call_{number}",
        name=re.sub(r"[^A-Za-z0-9_-]", "_", call.name)[:64] or "unknown",
        arguments=call.arguments if _is_object(call.arguments) else "{}",
    )


def _is_object(text: str) -> bool:
    if len(text) > LONGEST:
        return False
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _write_results(
    called: _Called, response: Response, results: Sequence[Result], tools: Tools
) -> Iterator[Message]:
    """Return the assistant's turn and its results: a turn per call, or one if textual."""
    parts: list[tuple[Part, ...]] = [(TextPart(text=text), *images) for text, images in results]
    if tools.style == "text":
        yield write_reply(response, called.text)
        yield Message(role="user", parts=reduce(_join_parts, parts))
        return
    words = list_reply_parts(response, called.text)
    yield Message(role="assistant", parts=words, calls=called.repeated, carried=response.carried)
    for call, content in zip(called.repeated, parts, strict=True):
        yield Message(role="tool", parts=content, answers=call.id)


def _merge_turns(messages: Sequence[Message]) -> Iterator[Message]:
    """Merge neighbouring user or system turns: some templates reject two in a row."""
    last: Message | None = None
    for message in messages:
        if last is not None and last.role == message.role in ("user", "system"):
            last = last.model_copy(update={"parts": _join_parts(last.parts, message.parts)})
            continue
        if last is not None:
            yield last
        last = message
    if last is not None:
        yield last


def _join_parts(first: tuple[Part, ...], second: tuple[Part, ...]) -> tuple[Part, ...]:
    end, start = first[-1], second[0]
    if isinstance(end, TextPart) and isinstance(start, TextPart):
        return (*first[:-1], TextPart(text=f"{end.text}\n\n{start.text}"), *second[1:])
    return (*first, *second)


# Perception before reasoning: transcribing parts of a picture first (MathReal, section 4).
#
# Six settings: the picture alone (I; with the prompt `mathreal-iuer` IUER), and the picture with
# the question's text (Q) and a description of its figures (D), each as a model reads it from the
# picture (M) or as given by the benchmark (G). A transcript is a separate response, and the same
# for every sample. Its instructions follow appendix D in our own wording; as in the paper, they are
# the prompt, before the picture, and not a system message.

READ_TEXT = """\
You recognise text. Write out the printed text of the question in the image as it is laid out, \
paragraph by paragraph and line by line. Leave out handwriting, the problem's number, year, region \
and score, captions, and labels inside figures. Write out options that are text or numbers; where \
an option is a picture, leave out all options. A blank is ____, a pair of parentheses to fill is \
(    ), and a table goes row by row with one space between its columns. Reply with the text alone: \
no comment, no solution, no description of the image."""
READ_FIGURES = """\
You read mathematical figures. Describe the figures in the image (geometric figures, plots of \
functions, statistical charts) in full: their features, their elements and how these lie to each \
other, and their mathematical properties. Describe only what is there: do not solve the problem \
and do not write out its text. Reply with the description alone."""
_READINGS = {
    name: Prompt(f"{words}\n\n{QUESTION}", f"{words}\n\n{QUESTION}")
    for name, words in (("read-text", READ_TEXT), ("read-figures", READ_FIGURES))
}
_HEADING = "[Figure description]"


def _describe(name: str, purpose: str) -> PromptEntry:
    return PromptEntry(
        name=name,
        purpose=purpose,
        text=_READINGS[name].mcq,
        slots=(Slot("question", "the pictures, and nothing of the question's words"),),
        source="MathReal, D: Prompt for OCR and Figure Understanding Generation",
        owner=f"perceiver ({name})",
    )


add_prompt(_describe("read-text", purpose="reads the printed text of a problem from its pictures"))
add_prompt(_describe("read-figures", purpose="describes the figures of a problem"))


def readings(question: Question, setting: Setting, folder: str | Path = "") -> list[Conversation]:
    """Return the texts to read before the answer: text, then figures; empty if none.

    The model sees the pictures as the setting shows them, and none of the question's text.
    """
    if setting.perception is None or not setting.perception.reads:
        return []
    bare = wordless(question.model_copy(update={"choices": None}))
    pictures = show_pictures(bare, setting.images, folder)
    names = ["read-text", "read-figures"] if "DM" in setting.perception.given else ["read-text"]
    prompts = (_load_reading(name, setting.prompts) for name in names)
    return [apply_prompt(bare, prompt, pictures) for prompt in prompts]


def _load_reading(name: str, files: Mapping[str, str]) -> Prompt:
    return read_template(files[name], find_prompt(name)) if name in files else _READINGS[name]


def add_readings(question: Question, perception: Perception, read: Sequence[str] = ()) -> Question:
    """Return the question with the texts of its setting: `read` are the results of `readings`."""
    if perception.given == "I":
        return wordless(question)
    text = question.question
    if perception.reads:
        text = "\n".join(filter(None, (marks(question), _plain(read[0]))))
    described = read[1] if "DM" in perception.given else None
    if "DG" in perception.given:
        described = "\n".join(_descriptions(question))
    if described:
        text = f"{text}\n\n{_HEADING}\n{_plain(described)}"
    return question.model_copy(update={"question": text})


def _descriptions(question: Question) -> Iterator[str]:
    order = question.all_images()
    for number, index in enumerate(order, 1):
        if caption := (question.images[index].caption or "").strip():
            yield f"Picture {number}: {caption}" if len(order) > 1 else caption


def _plain(words: str) -> str:
    """Return text without marks of pictures, since it was not written as a question."""
    return IMAGE_MARK.sub(r"image \1", words.strip())


# Steps: the next request of a setting, given the earlier answers (design, section 6).
#
# Most settings have one request. Others query a captioner first, or have the model read a picture
# before it solves the problem, or let it zoom in with tools, or follow a strategy of several turns.
# Each is a pure function from a task and the earlier responses to the next step; an empty step
# means that the last response is the answer.


class Task(NamedTuple):
    """One sample of a question under a setting. Image paths are relative to `folder`.

    `examples` are the candidates for in-context examples; `sample` counts the draws; `first` is its
    first step if that is already known.
    """

    question: Question
    setting: Setting
    folder: Path
    examples: Sequence[Example] = ()
    sample: int = 0
    first: Step | None = None


class Ask(NamedTuple):
    """One conversation that a step needs an answer to.

    `model` None is the cell's own; otherwise one of the setting's helpers. An answer that is the
    same for all samples (a caption) is `shared`: it is requested once, as sample 0.
    """

    conversation: Conversation
    decoding: Decoding
    role: Role = "respondent"
    model: str | None = None
    shared: bool = False


ERRAND_DECODING = Decoding(max_tokens=1024)
"""Of a request to what carries out a tool, which generates nothing."""
Step = tuple[Ask, ...]
"""Requests sent at once. The last step of a task has one Ask, of the role `respondent`."""


def next_step(task: Task, earlier: Sequence[Sequence[Response]] = ()) -> Step:
    """Return the next step; empty if the last of the earlier responses answers the question.

    `earlier` contains the responses to each step so far, in the order of its asks. Raises
    ParamsError if the setting cannot be applied, with a remedy.
    """
    setting = task.setting
    if earlier and not setting.in_steps:
        return ()
    question = ablate(task.question, setting.without)
    first = [
        *_caption_asks(question, setting, task.folder),
        *_reading_asks(question, task),
        *_perceiver_asks(question, task),
    ]
    if first and not earlier:
        return tuple(first)
    if len(earlier) > bool(first) and not setting.in_turns:
        return ()
    texts = [response.text for response in earlier[0]] if first else []
    captions = texts if setting.images.show == "captions" else []
    if setting.perception:
        question = add_readings(question, setting.perception, texts)
    if setting.perceiver:
        texts = [cut_description(setting.perceiver, text) for text in texts]
        if setting.perceiver.put == "with":
            question = add_descriptions(question, setting.perceiver, texts)
        else:
            images = Images(show="captions", model=setting.perceiver.model)
            setting = setting.model_copy(update={"images": images})
            captions = [text.replace("\n", "; ") for text in texts]
    context = _choose_context(task)
    conversation = present(question, setting, task.folder, captions, context)
    responses = [response for step in earlier[bool(first) :] for response in step]
    if setting.strategy is not None:
        turn = continue_dialogue(setting.strategy, question, conversation, responses)
        return () if turn is None else (Ask(turn, setting.decoding),)
    if setting.tools is None:
        return (Ask(conversation, setting.decoding),)
    return _continue_tools(setting, setting.tools, task, conversation, responses)


def _continue_tools(
    setting: Setting,
    tools: Tools,
    task: Task,
    opening: Conversation,
    responses: Sequence[Response],
) -> Step:
    folder = locate_pictures(task.folder) / "tools"
    turn = next_turn(opening, tools, folder, responses, setting.prompts)
    if isinstance(turn, Errand):
        return (Ask(turn.conversation, ERRAND_DECODING, "tool", turn.model, shared=True),)
    return () if turn is None else (Ask(turn, setting.decoding),)


def _choose_context(task: Task) -> PromptContext:
    lettered, params = bool(task.question.choices), task.setting.examples
    if params is None:
        return PromptContext(lettered=lettered)
    examples = choose_examples(task.question, task.examples, params, task.sample)
    return show_examples(examples, task.setting, task.folder)._replace(lettered=lettered)


def _caption_asks(question: Question, setting: Setting, folder: Path) -> Iterator[Ask]:
    images = setting.images
    if images.show != "captions":
        return
    for index in range(len(question.images)):
        yield Ask(
            caption_conversation(question, index, folder, images.prompt),
            CAPTION_DECODING,
            role="captioner",
            model=images.model,
            shared=True,
        )


def _perceiver_asks(question: Question, task: Task) -> Iterator[Ask]:
    if perceiver := task.setting.perceiver:
        for index in range(len(question.images)):
            asked = perceiver_conversation(question, index, task.setting, task.folder)
            yield Ask(asked, PERCEIVER_DECODING, "captioner", perceiver.model, shared=True)


def _reading_asks(question: Question, task: Task) -> Iterator[Ask]:
    if not task.setting.perception:
        return
    once = task.setting.decoding.model_copy(update={"samples": 1})
    reader = task.setting.perception.by
    for conversation in readings(question, task.setting, task.folder):
        yield Ask(conversation, once, role="perceiver", model=reader, shared=True)


# Rounds: all samples of all questions take the steps of their setting together.
#
# A round sends the next step of all tasks at once, so that a provider sees many requests, and each
# caption or transcript that several samples share is requested once.

Asking = Callable[[str, Sequence[Request]], Sequence[tuple[str, Response]]]
"""(model, requests) -> the key and the response of each."""


class Exchange(NamedTuple):
    """One request of a task and its response."""

    model: str
    request: Request
    key: str
    response: Response


TaskHistory = list[tuple[Exchange, ...]]
"""The requests and responses of a task, step by step."""


class AnsweredTask(NamedTuple):
    """A finished task: all its requests, step by step. The last answers the question.

    A task whose last step is not the respondent's ended early, because a required request failed.
    """

    task: Task
    steps: TaskHistory

    @property
    def last(self) -> Exchange:
        """The last request: the respondent's, or the first one without an answer."""
        step = self.steps[-1]
        return next((a for a in step if a.response.outcome != "answered"), step[-1])


def run_tasks(
    tasks: Sequence[Task], model: str, setting: str, study: str, ask: Asking
) -> list[AnsweredTask]:
    """Run every task to its end, in the order of `tasks`.

    A task ends if its captioner, reader or earlier turn has no answer. Raises what `ask` raises.
    """
    histories: list[TaskHistory] = [[] for _ in tasks]
    going = list(range(len(tasks)))
    while going:
        requests = [
            (n, helper or model, request)
            for n in going
            for helper, request in requests_next(tasks[n], histories[n], setting, study)
        ]
        exchanges: dict[int, Exchange] = {}
        for recipient in dict.fromkeys(recipient for _, recipient, _ in requests):
            places = [i for i, (_, to, _) in enumerate(requests) if to == recipient]
            batch = [requests[i][2] for i in places]
            for i, request, (key, response) in zip(
                places, batch, ask(recipient, batch), strict=True
            ):
                exchanges[i] = Exchange(recipient, request, key, response)
        going = []
        for n, places_of_step in groupby(range(len(requests)), key=lambda i: requests[i][0]):
            step = tuple(exchanges[i] for i in places_of_step)
            histories[n].append(step)
            if all(exchange.response.outcome == "answered" for exchange in step):
                going.append(n)
    return [
        AnsweredTask(task, steps) for task, steps in zip(tasks, histories, strict=True) if steps
    ]


def requests_next(
    task: Task, history: TaskHistory, setting: str, study: str
) -> Iterator[tuple[str | None, Request]]:
    """Return the requests of a task's next step, each with its helper, if any."""
    step = None if history else task.first
    if step is None:
        step = next_step(task, [[a.response for a in earlier] for earlier in history])
    for ask in step:
        # A helper's answer is the same under every setting, so its tags contain no setting.
        named = setting if ask.role == "respondent" else ""
        yield (
            ask.model,
            Request(
                conversation=ask.conversation,
                decoding=ask.decoding,
                index=0 if ask.shared else task.sample,
                tags=Tags(role=ask.role, problem=task.question.id, study=study, setting=named),
            ),
        )
