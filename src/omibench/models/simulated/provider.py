"""Option scores of a simulated respondent, and the effect of a patch over a picture on them.

The score of the right option depends on ability minus difficulty, those of the others on chance.
Each picture has one spot that supports the right option and one that misleads; a patch changes the
right option's score by its distance to either. The spots are random: no picture is read.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

from omibench.errors import ModelError
from omibench.models.drawn import make_drawn
from omibench.models.provider import (
    NO_BUDGET,
    NO_FOLDERS,
    BaseProvider,
    Budget,
    Folders,
    add_logprobs,
    make_scored_response,
)
from omibench.models.registry import provider
from omibench.models.simulated.answers import (
    Oracle,
    OracleRow,
    load_oracle,
    reasoning,
    respond,
    write_response,
)
from omibench.models.simulated.roles import CHOOSERS, WRITERS, RoleRequest, make_view, reward
from omibench.models.synthetic.items import Drawing, picture
from omibench.params.models.base import Draws
from omibench.params.models.providers import SimulatedModel
from omibench.schemas.request import (
    NOT_YET,
    OPENING,
    READABLE,
    Conversation,
    DrawnPart,
    Message,
    Request,
    Response,
    TextPart,
    ToolCall,
    write_call,
)

REACH = 80.0
"""Pixels over which the effect of a patch falls off."""
FIELD = 320.0
"""Pixels from the top left corner within which the spots are drawn."""


def option_logprobs(
    model: SimulatedModel, row: OracleRow, request: Request, seeded: Callable[..., Random]
) -> dict[str, float]:
    """Return the log-probability (nats) of each option, normalised over the options."""
    edge = model.ability + model.setting_effects.get(request.tags.setting, 0.0) - row.difficulty
    scores = {o: seeded("option", row.id, o).gauss(0.0, 1.0) for o in request.options}
    for right in set(row.answer) & set(scores):
        scores[right] += 1.5 + edge - _lost_log_odds(request, row, seeded)
    total = add_logprobs(scores.values())
    return {option: score - total for option, score in scores.items()}


def _lost_log_odds(request: Request, row: OracleRow, seeded: Callable[..., Random]) -> float:
    lost = 0.0
    for image in request.conversation.images:
        if image.patch is None:
            continue
        x, y, side = image.patch
        middle = (x + side / 2, y + side / 2)
        rng = seeded("spots", row.id, image.sha256)
        for strength in (2.0, -0.7):
            spot = (FIELD * rng.random(), FIELD * rng.random())
            lost += strength * math.exp(-((math.dist(middle, spot) / REACH) ** 2) / 2)
    return lost


# Simulated respondents with tools: they use a tool once, if instructed, before they answer.

_LISTED = re.compile(r"^- ([a-z_]+): ", re.MULTILINE)
_CODE = """\
picture, box = images["image_1"], {}
sides = picture.size * 2
show(picture.crop([round(side * at) for side, at in zip(sides, box)]))"""
_WORDS = "One detail is too small to be read as it stands, so I look closer."


def first_call(conversation: Conversation, rng: Random) -> tuple[str, tuple[ToolCall, ...]] | None:
    """Return a reply's text and tool calls; None if no tool is offered or one was used.

    Under the text protocol the call is part of the text.
    """
    turns = conversation.messages
    if any(map(_calls, turns)):
        return None
    rules = "\n".join(_text(m) for m in turns if m.role == "system")
    native = [tool.name for tool in conversation.tools]
    names = native or (_LISTED.findall(rules) if OPENING in rules else [])
    if not names:
        return None
    name = next((n for n in ("python", "crop", "zoom", "look") if n in names), names[0])
    box = _box(rng)
    arguments = json.dumps(
        {"code": _CODE.format(box)}
        if name == "python"
        else {"image": "image_1"} | ({} if name == "look" else {"box": box})
    )
    if native:
        return _WORDS, (ToolCall(id="call_1", name=name, arguments=arguments),)
    return f"{_WORDS}\n\n{write_call(name, arguments)}", ()


def reads_first(conversation: Conversation) -> bool:
    """Return whether the current stage reads the pictures without requesting an answer.

    A stage begins with a user turn that contains no tool result.
    """
    before = (None, *conversation.messages)
    pairs = zip(before, conversation.messages, strict=False)
    begun = [m for old, m in pairs if m.role == "user" and not (old and _calls(old))]
    return bool(begun) and NOT_YET in _text(begun[-1])


def _carry_out(prompt: str) -> Response:
    """Return the output of a tool that another block carries out: made up, with one picture."""
    name = hashlib.sha256(prompt.encode()).hexdigest()
    data = picture(Drawing(name, int(name[:2], 16) % 40))
    drawn = DrawnPart(sha256=hashlib.sha256(data).hexdigest(), data=data)
    response = write_response("(simulated: nothing was run)", prompt)
    return response.model_copy(update={"drawn": (drawn,)})


def _calls(message: Message) -> bool:
    """Return whether a turn calls a tool or contains a tool result."""
    written = message.role == "assistant" and OPENING in _text(message)
    return message.role == "tool" or bool(message.calls) or written


def _text(message: Message) -> str:
    return "\n".join(part.text for part in message.parts if isinstance(part, TextPart))


def _box(rng: Random) -> list[float]:
    left, top = round(0.5 * rng.random(), 2), round(0.5 * rng.random(), 2)
    return [left, top, round(left + 0.4, 2), round(top + 0.4, 2)]


# Simulated respondents that draw: pictures between the paragraphs of a reply.

_SIZE = (240, 160)


def add_pictures(response: Response, draws: Draws | None, rng: Random) -> Response:
    """Return a readable reply with one to `draws.pictures` pictures between its paragraphs."""
    if draws is None or response.outcome not in READABLE:
        return response
    ends = [match.end() for match in re.finditer(r"\n\n", response.text)] or [0]
    places = sorted(rng.choice(ends) for _ in range(rng.randint(1, draws.pictures)))
    tokens = draws.tokens * len(places)
    output = (response.usage.output_tokens or 0) + tokens
    counts = {"output_tokens": output, "image_output_tokens": tokens}
    return response.model_copy(
        update={
            "drawn": tuple(_draw_sketch(rng) for _ in places),
            "drawn_at": tuple(places),
            "usage": response.usage.model_copy(update=counts),
        }
    )


def _draw_sketch(rng: Random) -> DrawnPart:
    from PIL import Image, ImageDraw

    image = Image.new("RGB", _SIZE, "white")
    pen = ImageDraw.Draw(image)
    corners = [(rng.randrange(_SIZE[0]), rng.randrange(20, _SIZE[1])) for _ in range(4)]
    pen.polygon(corners, outline="black")
    pen.text((6, 4), "SIMULATED", fill="red")
    out = io.BytesIO()
    image.save(out, "PNG")
    return make_drawn(out.getvalue())


# The `simulated` provider: a seeded simulation of a model in every role, with known answers.
#
# An answer depends on the model, the problem, the role, the setting and the sample index (and, in
# roles other than the respondent's, on the text of the request), never on the order of requests.
# The part common to all samples of a problem depends only on the model and the problem.

VERSION = 2
"""Version of the simulation, part of its identity, since its draws depend on it. 2: a lasting
component."""


@provider("simulated", block=SimulatedModel)
class SimulatedProvider(BaseProvider[SimulatedModel]):
    """A simulated model. Every response is marked `simulated`.

    The known answers are read from the model's `oracle` file unless they are given.
    """

    def __init__(
        self,
        name: str,
        model: SimulatedModel,
        folders: Folders = NO_FOLDERS,
        oracle: Oracle | None = None,
    ) -> None:
        super().__init__(name, model, folders)
        _check_slips(name, model)
        self.oracle = oracle or load_oracle(model.oracle)

    @property
    def identity(self) -> Mapping[str, Any]:
        """See `Provider.identity`: the content of the `oracle` file, not its path."""
        fields = self.model.identity_fields
        apart = ("provider", "oracle")
        return {
            "provider": self.model.provider,
            "version": VERSION,
            "id": self.name,
            "parameters": {name: value for name, value in fields.items() if name not in apart},
            "oracle": self.oracle.sha256,
            "reads_tags": True,
        }

    def answer(
        self, requests: Sequence[Request], budget: Budget = NO_BUDGET
    ) -> Iterator[tuple[Request, Response]]:
        """Yield every request with its response, in the order given.

        Raises ModelError if the `oracle` file lacks a problem or a field that the role needs.
        """
        for request in requests:
            if request.tags.role == "formula_reader":  # the formulas of a page are in no file
                yield request, write_response("", request.conversation.text)
            elif request.tags.role == "tool":
                yield request, _carry_out(request.conversation.text)
            else:
                yield request, self.respond(request)

    def respond(self, request: Request) -> Response:
        """Return the response to one request."""
        tags, prompt = request.tags, request.conversation.text
        row = self.oracle.row(tags.problem)
        if request.options:
            logprobs = option_logprobs(self.model, row, request, self._rng)
            return make_scored_response(logprobs, simulated=True)
        if tags.role == "respondent":
            if early := self._before_answering(request, row):
                return early
            rng = self._rng(tags.role, tags.problem, tags.setting, str(request.index))
            reply = respond(self.model, self.oracle, request, self._rng("lasting", row.id), rng)
            sketching = self._rng("draws", row.id, tags.setting, str(request.index))
            return add_pictures(reply, self.model.draws, sketching)
        rng = self._rng(tags.role, tags.problem, prompt, str(request.index))
        view = make_view(self.model, row, self._rng, rng)
        if self.model.reward:
            response = request.conversation.messages[-1]
            words = "".join(p.text for p in response.parts if isinstance(p, TextPart))
            return write_response(reward(words, view), prompt)
        if choose := CHOOSERS.get(tags.role):
            return write_response(choose(prompt, view), prompt)
        asked = RoleRequest(self.model, row, self.oracle, prompt, rng)
        return write_response(WRITERS[tags.role](asked), prompt)

    def _before_answering(self, request: Request, row: OracleRow) -> Response | None:
        """Return the text of a tool turn before the answer."""
        conversation, tags = request.conversation, request.tags
        rng = self._rng("tools", tags.problem, tags.setting, str(request.index))
        if called := first_call(conversation, rng):
            words, calls = called
            return write_response(words, conversation.text).model_copy(update={"calls": calls})
        if reads_first(conversation):
            return write_response(reasoning(row.n_images, rng), conversation.text)
        return None

    def _rng(self, *parts: str) -> Random:
        text = "\0".join((self.name, str(self.model.seed), *parts))
        return Random(hashlib.blake2b(text.encode(), digest_size=8).digest())  # noqa: S311


def _check_slips(name: str, model: SimulatedModel) -> None:
    total = sum(model.slips.model_dump().values())
    if total > 1 + 1e-9:
        raise ModelError(
            f"model {name!r}: the shares of its slips add up to {total:.4g}; the maximum is 1"
        )
