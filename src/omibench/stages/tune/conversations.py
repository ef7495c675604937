"""Conversations of a training set: read, checked, and compared with the questions."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, Final, NamedTuple

import numpy as np

from omibench.datasets.likeness import difference_hash, normalise, shingles
from omibench.errors import FileFormatError, OmibenchError
from omibench.files.reading import hash_file, read_json, read_json_lines, resolve_within
from omibench.schemas.problem import Question
from omibench.schemas.tuning import Leak, TrainingConversation, TrainingTurn

FILE_BYTES: Final = 8 * 2**30
"""Largest file that is read: MMDU-45k has 0.4 GB."""
ROLES: Final[Mapping[str, str]] = {
    "human": "user", "user": "user", "gpt": "assistant", "assistant": "assistant",
    "system": "system",
}  # fmt: skip
MOST_PICTURES: Final = 64
_MARK = re.compile(r"<image>|<ImageHere>|<Img><ImageHere></Img>")
_REGION = re.compile(
    r"(?:<\|box_start\|>[^<]{0,60}<\|box_end\|>)?\s?<IMG>\s?\d{1,3}\s?</IMG>\s?<image>"
    r"|<\|box_start\|>[^<]{0,60}<\|box_end\|>"
)
"""A region of a picture in a turn of the assistant, as CMMCoT marks it: box, number, picture."""


class ConversationError(Exception):
    """A conversation that cannot be used; the text is the reason."""


class ConversationRow(NamedTuple):
    """A conversation as read: its id, and the conversation or the reason why it is left out."""

    id: str
    conversation: TrainingConversation | None
    reason: str = ""
    regions: int = 0
    """Marks of regions that were removed."""


def read_conversations(file: Path, pictures: Path) -> Iterator[ConversationRow]:
    """Yield the conversations of a file, in order.

    Args:
        file: A JSON list, or JSON Lines.
        pictures: The folder of the pictures. A path in the file is looked up in it, without its
            leading folders if need be (`oss://bucket/train/a.jpg`, `/mmdu-45k_pics/a.jpg`).

    Raises:
        MissingInputError: The file is missing.
        FileFormatError: It is not JSON, or neither a list nor lines of objects.
    """
    for number, row in _read_rows(file):
        name = str(row.get("id", number)) if isinstance(row, dict) else str(number)
        try:
            if not isinstance(row, dict):
                raise ConversationError("not an object")
            conversation, regions = _read_row(name[:200], row, pictures)
        except ConversationError as error:
            yield ConversationRow(name[:200], None, str(error))
        else:
            yield ConversationRow(name[:200], conversation, regions=regions)


def _read_rows(file: Path) -> Iterator[tuple[int, Any]]:
    if file.suffix == ".jsonl":
        yield from read_json_lines(file, FILE_BYTES)
        return
    rows = read_json(file, FILE_BYTES)
    if not isinstance(rows, list):
        raise FileFormatError(f"{file}: is not a list of conversations")
    yield from enumerate(rows, start=1)


def _read_row(name: str, row: Mapping[str, Any], folder: Path) -> tuple[TrainingConversation, int]:
    listed = row.get("image", row.get("images")) or []
    names = [listed] if isinstance(listed, str) else listed
    if not isinstance(names, list) or len(names) > MOST_PICTURES:
        raise ConversationError(f"pictures: not a list, or more than {MOST_PICTURES}")
    turns = row.get("conversations", row.get("messages"))
    if not isinstance(turns, list) or not turns:
        raise ConversationError("no turns under conversations or messages")
    read, count_before, regions = [], 0, 0
    for turn in turns:
        role, content = _read_turn(turn)
        if role == "assistant" and isinstance(content, str):
            content, count = _REGION.subn("", content)
            regions += count
        parts, more = _split_content(content, count_before, names)
        if role == "assistant" and any(isinstance(part, int) for part in parts):
            raise ConversationError("a picture in a turn of the assistant")
        count_before += more
        read.append(TrainingTurn(role=role, content=parts))
    spoken = [turn.role for turn in read if turn.role != "system"]
    if spoken[::2] != ["user"] * len(spoken[::2]) or spoken[1::2] != ["assistant"] * (
        len(spoken) // 2
    ):
        raise ConversationError("user and assistant do not take turns")
    if spoken and spoken[-1] == "user":
        if any(isinstance(part, int) for part in read[-1].content):
            raise ConversationError("a picture without an answer after it")
        read.pop()
    if not any(turn.role == "assistant" and turn.text.strip() for turn in read):
        raise ConversationError("no answer of the assistant")
    if count_before == 0 and names:  # no marks: all pictures come first
        place = next(n for n, turn in enumerate(read) if turn.role == "user")
        first = read[place]
        content = [*range(len(names)), *first.content]
        read[place] = first.model_copy(update={"content": content})
    elif count_before != len(names):
        raise ConversationError("another number of picture marks than of pictures")
    files = [_find_picture(str(item), folder) for item in names]
    return TrainingConversation(id=name, turns=read, pictures=files), regions


def _read_turn(turn: object) -> tuple[Any, Any]:
    if not isinstance(turn, dict):
        raise ConversationError("a turn is not an object")
    role = ROLES.get(str(turn.get("from", turn.get("role"))).lower())
    content = turn.get("value", turn.get("content"))
    if role is None or not isinstance(content, str | list):
        raise ConversationError("a turn has no known role, or no text")
    return role, content


def _split_content(content: Any, first: int, names: list[Any]) -> tuple[list[str | int], int]:
    """Return texts and numbers of pictures, and how many pictures; typed parts may name theirs."""
    if isinstance(content, str):
        texts = _MARK.split(content)
        parts: list[str | int] = []
        for place, text in enumerate(texts):
            parts += [first + place - 1] if place else []
            parts += [text] if text.strip() else []
        return parts, len(texts) - 1
    parts, count = [], 0
    for part in content:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind == "text" and isinstance(part.get("text"), str):
            parts.append(part["text"])
        elif kind in ("image", "image_url"):
            given = part.get("image", part.get("path", part.get("image_url")))
            given = given.get("url") if isinstance(given, dict) else given
            if isinstance(given, str):
                if len(names) != first + count or len(names) >= MOST_PICTURES:
                    raise ConversationError("pictures both in a list and in parts, or too many")
                names.append(given)
            parts.append(first + count)
            count += 1
        else:
            raise ConversationError("a part is neither text nor picture")
    return parts, count


def _find_picture(name: str, folder: Path) -> str:
    parts = PurePosixPath(name.rpartition("://")[2]).parts
    steps = [step for step in parts if step not in ("/", ".", "..")]
    for start in range(len(steps)):
        try:
            path = resolve_within(folder, "/".join(steps[start:]))
        except (OmibenchError, ValueError):
            continue
        if path.is_file():
            return str(path)
    raise ConversationError("a picture is missing")


# Training conversations that share a text or a picture with the frozen problems.

FEWEST_RUNS: Final = 8
"""Three-word runs of the shortest problem that is compared by its text: 10 words."""


class LeakCheck:
    """An index of frozen problems. A conversation has a leak if

    - its turns of the user contain at least `share` of the three-word runs of a problem with its
      choices, in the normal form of the filter's duplicates; or
    - a picture has the bytes of one of theirs, or a perceptual hash that differs in at most `bits`.
    """

    def __init__(
        self, questions: Sequence[Question], folder: Path, share: float, bits: int
    ) -> None:
        """Index the problems.

        Args:
            questions: The frozen problems.
            folder: The folder of their pictures' paths.
            share: Least share of a problem's runs, in [0, 1].
            bits: Largest Hamming distance of two 64-bit hashes of equal pictures.

        Raises:
            MissingInputError: A picture of a problem is missing.
            FileFormatError: It is not readable.
        """
        self._share, self._bits = share, bits
        self._runs: dict[tuple[str, ...], list[str]] = defaultdict(list)
        self._sizes: dict[str, int] = {}
        self._owners: dict[str, str] = {}
        looks: list[int] = []
        for question in questions:
            choices = [choice.text or "" for choice in question.choices or []]
            runs = shingles(normalise(" ".join([question.question, *choices])))
            if len(runs) >= FEWEST_RUNS:
                self._sizes[question.id] = len(runs)
                for run in runs:
                    self._runs[run].append(question.id)
            for figure in question.images:
                if figure.sha256 not in self._owners:
                    self._owners[figure.sha256] = question.id
                    looks.append(difference_hash(folder / figure.file))
        self._hashes = np.array(looks, dtype=np.uint64)

    def find(self, conversation: TrainingConversation) -> Iterator[Leak]:
        """Yield the leaks of a conversation: of its text, then of its pictures, each problem once.

        Raises FileFormatError for a picture that cannot be read.
        """
        text = " ".join(turn.text for turn in conversation.turns if turn.role == "user")
        counts: Counter[str] = Counter()
        for run in shingles(normalise(text)):
            counts.update(self._runs.get(run, ()))
        for problem, count in counts.items():
            if (share := count / self._sizes[problem]) >= self._share:
                yield self._leak(conversation, problem, "text", share)
        seen: set[str] = set()
        for picture in conversation.pictures:
            owner, share = self._find_picture(Path(picture))
            if owner is not None and owner not in seen:
                seen.add(owner)
                yield self._leak(conversation, owner, "picture", share)

    def _find_picture(self, picture: Path) -> tuple[str | None, float]:
        digest = hash_file(picture)
        if digest in self._owners:
            return self._owners[digest], 1.0
        hashes = self._hashes
        if not len(hashes):
            return None, 0.0
        look = np.uint64(difference_hash(picture))
        bits = np.unpackbits((hashes ^ look).view(np.uint8).reshape(len(hashes), 8), axis=1).sum(1)
        nearest = int(bits.argmin())
        if bits[nearest] > self._bits:
            return None, 0.0
        return [*self._owners.values()][nearest], 1 - float(bits[nearest]) / 64

    @staticmethod
    def _leak(conversation: TrainingConversation, problem: str, kind: str, share: float) -> Leak:
        values = {"conversation": conversation.id, "problem": problem, "kind": kind}
        return Leak.model_validate(values | {"share": round(share, 4)})
