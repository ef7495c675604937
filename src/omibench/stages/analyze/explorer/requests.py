"""Words on the pages of items and cells."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Final

from omibench.errors import MissingInputError, OmibenchError, StoreError
from omibench.files.outputs import write_atomically
from omibench.files.reading import read_bytes
from omibench.models.api.replies import media_type
from omibench.schemas.problem import Answer, Figure, Question
from omibench.schemas.verdict import RIGHT
from omibench.settings.pictures import made_sha256
from omibench.stages.analyze.formatting import count_noun, name_outcome, name_rules
from omibench.store.store import ImageStore, Partition, partition_folders, read_card
from omibench.web.pictures import find_picture, link_file
from omibench.web.verdicts import read_verdict_words

Values = dict[str, Any]
Link = Callable[[str], str | None]
"""Returns the address of a picture by its SHA-256; None if it is missing."""
LONGEST: Final = 20_000
"""The maximum length of a response on a page, in characters; the middle of a longer one is cut."""
LONGEST_LISTED: Final = 120
"""The maximum length of an answer in the list of a cell, in characters."""
PARTS: Final = ("credit", "strict", "ratio")
"""Columns of VerdictRow that can differ from the verdict itself."""


def describe_place(question: Question, figure: Figure) -> str:
    """Return a figure's source: 'papers/physics.pdf, page 3, box 72.0, 90.5 to 232.5, 190.5 pt';
    empty when unknown."""
    words = [question.source] if question.source else []
    if figure.page is not None:
        words.append(f"page {figure.page}")
    if figure.bbox is not None:
        x0, y0, x1, y1 = figure.bbox
        words.append(f"box {x0:.1f}, {y0:.1f} to {x1:.1f}, {y1:.1f} pt")
    return ", ".join(words)


def shorten_response(text: str) -> str:
    """Return a response for display: whole, or its two ends with a note on the cut."""
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    left_out = len(text) - 2 * half
    return f"{text[:half]}\n\n[… {left_out:,} characters omitted …]\n\n{text[-half:]}"


def place_drawn(text: str, places: Sequence[int], number: int) -> int:
    """Return the place of a drawn picture in `shorten_response(text)`, as scripts count it.

    Args:
        text: The response.
        places: `drawn_at` of the response; a picture without a place follows the text.
        number: The picture's number, from 0.

    Returns:
        The UTF-16 code units before it.
    """
    place, half = places[number] if number < len(places) else len(text), LONGEST // 2
    excerpt = shorten_response(text)
    if len(text) > LONGEST and place > half:  # behind the cut, or in the part that it left out
        place = max(half, len(excerpt) - (len(text) - place))
    return len(excerpt[:place].encode("utf-16-le", "surrogatepass")) // 2


def describe_drawn(
    text: str, places: Sequence[int], images: Sequence[str], link: Link
) -> list[Values]:
    """Return the pictures of a response and their places in its shown text; see `place_drawn`."""
    return [
        {"sha256": image, "src": link(image), "at": place_drawn(text, places, number)}
        for number, image in enumerate(images)
    ]


def clip_answer(text: str) -> str:
    """Return an extracted answer for a list; the problem's page shows all of it."""
    return text if len(text) <= LONGEST_LISTED else f"{text[: LONGEST_LISTED - 1].rstrip()}…"


def natural(name: str) -> list[tuple[int, str]]:
    """Return a key that sorts physics-2 before physics-10."""
    parts = re.findall(r"[0-9]+|[^0-9]+", name)
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


def image_words(question: Question, answer: Answer) -> str:
    """Return '2 images', or '2 images, pictures not included' if the dataset lacks files."""
    pictures_held = len(question.images) >= answer.n_images
    return count_noun(answer.n_images, "image") + (
        "" if pictures_held else ", pictures not included"
    )


def describe_verdict(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return one verdict: the extracted answer, the score, or the reason that it has none.

    Args:
        row: A VerdictRow; `judge_simulated` states whether its judge was, and `calibration` is a
            note on the judge.
    """
    scored = row["outcome"] == "scored"
    kind = ("right" if row["verdict"] >= RIGHT else "wrong") if scored else "failed"
    return {
        "rules": row["rules"],
        "title": name_rules(row["rules"]),
        "version": row["version"],
        "verdict": row["verdict"],
        "parts": _describe_parts(row) if scored else "",
        "kind": kind,
        "word": read_verdict_words()[kind] if scored else name_outcome(row["outcome"]),
        "scored": scored,
        "extracted": row["extracted"] or "",
        "method": row["method"],
        "judge": row["judge"] or "",
        "judge_key": row["judge_key"] or "",
        "judge_simulated": bool(row["judge"] and row.get("judge_simulated", row["simulated"])),
        "calibration": row.get("calibration", ""),
    }


def _describe_parts(row: Mapping[str, Any]) -> str:
    """Return the rest of a verdict: its credit, its strict value, or eq. 6's ratio."""
    for name in PARTS:
        if row[name] not in (None, row["verdict"]):
            return f"{name} {row[name]:.3g}"
    return ""


# The requests on the way to an answer, read from the store by key.

CACHE_SIZE = 256
"""The number of cached requests and responses."""
LONGEST_CODE = 2**16
LONGEST_CALL = 2_000
"""The maximum length of a call's arguments on a page, in characters."""


class Trail:
    """The requests of a study's store by key, with their pictures.

    Nothing is opened before it is needed. Requests missing from the store are left out, so results
    can be inspected without their store.
    """

    def __init__(self, store: Path, pictures: Path, freeze: Path) -> None:
        self._store, self._pictures, self._freeze = store, pictures, freeze
        # Captions are shared by many responses; not all bodies of a study fit into memory.
        self._body = lru_cache(maxsize=CACHE_SIZE)(self._read)

    def steps(self, keys: Sequence[str], problem_images: Sequence[str], link: Link) -> list[Values]:
        """Return the step of each key in the store, in order.

        `problem_images` are the SHA-256 of the problem's pictures. Other pictures are shown where
        they are first sent.

        Returns:
            `{key, who, of, simulated, told, pictures, outcome, text, calls, drawn}`: `of` names the
            problem's pictures shown to a helper; `told` is the text since its previous turn, such
            as results of tools.
        """
        seen_images, steps = set(problem_images), []
        for key in keys:
            if (body := self._body(key)) is None:
                continue
            recipient, request, response = body
            request_images = dict.fromkeys(_images(request))
            sent = [image for image in request_images if image not in seen_images]
            seen_images.update(sent)
            drawn = [part["sha256"] for part in response.get("drawn", [])]
            seen_images.update(drawn)
            answer, places = response.get("text", ""), response.get("drawn_at", [])
            steps.append(
                {
                    "key": key,
                    "who": recipient,
                    "of": []
                    if recipient.startswith("respondent")
                    else _names(request_images, problem_images),
                    "simulated": bool(response.get("simulated")),
                    "told": [shorten_response(text) for text in _list_new_texts(request)],
                    "pictures": [{"sha256": image, "src": link(image)} for image in sent],
                    "outcome": name_outcome(response.get("outcome", "answered")),
                    "text": shorten_response(answer),
                    "calls": [write_call(call) for call in response.get("calls", [])],
                    "drawn": describe_drawn(answer, places, drawn, link),
                }
            )
        return steps

    def link_picture(self, sha256: str, page: Path, copies: Path) -> str | None:
        """Return the address of a picture relative to a page; None if there is none.

        Args:
            sha256: Hash of its bytes.
            page: The page.
            copies: Folder for pictures that only the store has, such as those drawn by a model.
        """
        path = self.locate_picture(sha256) or self._copy_picture(sha256, copies)
        return link_file(path, page) if path else None

    def locate_picture(self, sha256: str) -> Path | None:
        """Return the file of a picture derived by settings or in the dataset; None for others."""
        return self._derived_pictures.get(sha256[:16]) or self._dataset_pictures.get(sha256)

    def read_drawn(self, sha256: str) -> bytes | None:
        """Return a picture that only the store has; None if it is missing or not a picture."""
        source = ImageStore(self._store / "images").path(sha256)
        data = read_bytes(source) if source.is_file() else b""
        # An untrusted store may have a page with a script under a hash.
        return data if media_type(data[:12]) else None

    def _copy_picture(self, sha256: str, copies: Path) -> Path | None:
        data = self.read_drawn(sha256)
        kind = media_type(data[:12]) if data else None
        if data is None or kind is None:
            return None
        path = copies / f"{sha256}.{kind.removeprefix('image/')}"
        if not path.is_file():
            write_atomically(path, data)
        return path

    def request(self, key: str) -> dict[str, Any] | None:
        """Return the request with a key, as plain values; None if the store does not have it."""
        body = self._body(key)
        return None if body is None else body[1]

    def _read(self, key: str) -> tuple[str, dict[str, Any], dict[str, Any]] | None:
        """Return receiver, request and response of a key; None if the store does not have it."""
        for partition in self._partitions:
            # Inspecting results must not fail because of a broken store.
            with suppress(OmibenchError, ValueError, TypeError, AttributeError):
                if key in partition and (body := partition.body(key)) is not None:
                    role = json.loads(body.tags).get("role", "respondent")
                    identity = partition.identity
                    recipient = f"{role} {identity.get('id', identity.get('provider', ''))}"
                    return recipient, json.loads(body.request), json.loads(body.response)
        return None

    @cached_property
    def _partitions(self) -> list[Partition]:
        try:
            folders = partition_folders(self._store)
        except MissingInputError:  # a look at results needs no store
            return []
        partitions = []
        for folder in folders:
            try:
                partitions.append(Partition(folder, read_card(folder) or {}))
            except StoreError:  # a look at results must not end for a partition of no concern
                continue
        return partitions

    @cached_property
    def _derived_pictures(self) -> dict[str, Path]:
        files = self._pictures.rglob("*") if self._pictures.is_dir() else []
        return {sha: path for path in files if (sha := made_sha256(path.name))}

    @cached_property
    def _dataset_pictures(self) -> dict[str, Path]:
        folder = self._freeze / "images"
        return {path.stem: path for path in folder.glob("*") if find_picture(folder, path.name)}


def _images(request: Mapping[str, Any]) -> list[str]:
    parts = (part for message in request["messages"] for part in message["parts"])
    return [part["image"] for part in parts if "image" in part]


def _list_new_texts(request: Mapping[str, Any]) -> list[str]:
    messages = request["messages"]
    turns = [n for n, message in enumerate(messages) if message["role"] == "assistant"]
    new = messages[turns[-1] + 1 :] if turns else []
    return [part["text"] for message in new for part in message["parts"] if "text" in part]


def _names(images: Iterable[str], problem_images: Sequence[str]) -> list[str]:
    return [f"IMAGE{problem_images.index(image)}" for image in images if image in problem_images]


def write_call(call: Mapping[str, Any]) -> str:
    """Return a call of a tool as text: its name and arguments; of code, its lines."""
    name, arguments = call["name"], call["arguments"][:LONGEST_CALL]
    with suppress(ValueError, RecursionError):
        values = json.loads(call["arguments"][:LONGEST_CODE])
        if isinstance(values, dict) and [*values] == ["code"]:
            arguments = f"\n{shorten_response(str(values['code']))}"
    return f"{name} {arguments}"


# The messages sent to models, from the store: roles, text, pictures in place.


def describe_sent(
    trail: Trail, key: str, before: Sequence[str], images: Sequence[str], link: Link
) -> Values:
    """Return the messages of a request, and the previous steps.

    Args:
        trail: The store.
        key: The key of the request in the store: of a response, a step or a judgement.
        before: The keys of the requests that led to it, in order.
        images: SHA-256 of the problem's pictures.
        link: Returns the address of a picture.

    Returns:
        `{sent: {messages, tools, pictures} or None, said, steps}`, as plain values for JSON. `sent`
        is None if the store does not contain the request.
    """
    request = trail.request(key)
    steps = trail.steps([*before, key], images, link)
    try:
        sent = describe_conversation(request, link) if request else None
    except (KeyError, TypeError, ValueError, AttributeError):  # stores may be external
        sent = None
    reply = next((step for step in steps if step["key"] == key), None)
    return {"sent": sent, "said": reply, "steps": [step for step in steps if step["key"] != key]}


def describe_conversation(request: Mapping[str, Any], link: Link) -> Values:
    """Return a request of the store as plain values for JSON.

    Args:
        request: The request.
        link: Returns the address of a picture.

    Returns:
        `{messages: [{role, parts, calls, answers}], tools, pictures}`; a part is
        `{text}` or `{picture: {sha256, src}, note}`, of which `note` describes a change of the
        picture.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: The stored request is malformed.
    """
    turns = request.get("turns", {})
    messages = [
        {
            "role": str(message["role"]),
            "parts": [_describe_part(part, link) for part in message["parts"]],
            "calls": [write_call(call) for call in turns.get(str(place), {}).get("calls", [])],
            "answers": str(turns.get(str(place), {}).get("answers") or ""),
        }
        for place, message in enumerate(request["messages"])
    ]
    parts = [part for message in messages for part in message["parts"]]
    return {
        "messages": messages,
        "tools": [str(tool.get("name", "")) for tool in request.get("tools", [])],
        "pictures": sum("picture" in part for part in parts),
    }


def _describe_part(part: Mapping[str, Any], link: Link) -> Values:
    if "image" not in part:
        return {"text": shorten_response(str(part["text"]))}
    patch = part.get("patch")
    picture = {"sha256": part["image"], "src": link(part["image"])}
    return {"picture": picture, "note": f"covered at {patch}" if patch else ""}
