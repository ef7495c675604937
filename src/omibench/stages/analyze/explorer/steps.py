"""What was asked on the way to an answer: read from the store by key, as it was sent and said."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from omibench.errors import MissingInputError, OmibenchError, StoreError
from omibench.files.atomic import write_atomically
from omibench.files.intake import read_bytes
from omibench.models.http.pictures import media_type
from omibench.settings.pictures.made import made_sha256
from omibench.stages.analyze.explorer.view import shorten_response
from omibench.stages.analyze.words import name_outcome
from omibench.store.images import ImageStore
from omibench.store.partition.partition import Partition
from omibench.store.store import partition_folders, read_card
from omibench.web.pictures import link_file

CACHE_SIZE = 256
"""Requests and responses that are remembered."""
LONGEST_CALL = 2_000
"""Characters of the arguments of a call that a page shows."""


class StoredPicture(NamedTuple):
    """A picture that is none of the problem's own: where it lies, None when it is not there."""

    sha256: str
    src: str | None


class TrailStep(NamedTuple):
    """One request on the way: who was asked, what was new to see in it, what came back."""

    key: str
    who: str
    of: Sequence[str]
    """The names of the problem's own pictures that a helper was shown."""
    simulated: bool
    told: Sequence[str]
    """What it was told since its own last turn, such as what tools gave; empty in a first turn."""
    pictures: Sequence[StoredPicture]
    outcome: str
    text: str
    calls: Sequence[str]
    drawn: Sequence[StoredPicture]


class Trail:
    """The requests of a study's store by key, and the pictures that they showed.

    Nothing is opened before it is asked for. What the store does not hold is left out, and a page
    says so: results can be looked at without the store that they came from. Pictures that only the
    store has, those that a model drew, are copied to the folder `copies`.
    """

    def __init__(self, store: Path, pictures: Path, freeze: Path, copies: Path) -> None:
        self._store, self._pictures, self._freeze, self._copies = store, pictures, freeze, copies
        # Captions are shared by many responses; all bodies of a study would not fit.
        self._body = lru_cache(maxsize=CACHE_SIZE)(self._read)

    def steps(
        self, keys: Sequence[str], problem_images: Sequence[str], page: Path
    ) -> list[TrailStep]:
        """The step of each key that the store holds, in order.

        `problem_images` are the SHA-256 of the problem's pictures. Each other one is shown where it
        is first sent; addresses are relative to `page`.
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
            steps.append(
                TrailStep(
                    key=key,
                    who=recipient,
                    of=[]
                    if recipient.startswith("respondent")
                    else _names(request_images, problem_images),
                    simulated=bool(response.get("simulated")),
                    told=[shorten_response(text) for text in _list_new_texts(request)],
                    pictures=[self.find_picture(image, page) for image in sent],
                    outcome=name_outcome(response.get("outcome", "answered")),
                    text=shorten_response(response.get("text", "")),
                    calls=[_call(call) for call in response.get("calls", [])],
                    drawn=[self.find_picture(image, page) for image in drawn],
                )
            )
        return steps

    def find_picture(self, sha256: str, page: Path) -> StoredPicture:
        """A picture by its SHA-256, with its address as seen from `page`."""
        path = self.locate_picture(sha256) or self._copy_picture(sha256)
        return StoredPicture(sha256, link_file(path, page) if path else None)

    def locate_picture(self, sha256: str) -> Path | None:
        """The file of a picture that settings derived or the dataset holds; None for others."""
        return self._derived_pictures.get(sha256[:16]) or self._dataset_pictures.get(sha256)

    def read_drawn(self, sha256: str) -> bytes | None:
        """A picture that only the store has; None where it is not there, or is no picture."""
        source = ImageStore(self._store / "images").path(sha256)
        data = read_bytes(source) if source.is_file() else b""
        # A store of others may hold a page with a script under a hash.
        return data if media_type(data[:12]) else None

    def _copy_picture(self, sha256: str) -> Path | None:
        data = self.read_drawn(sha256)
        kind = media_type(data[:12]) if data else None
        if data is None or kind is None:
            return None
        path = self._copies / f"{sha256}.{kind.removeprefix('image/')}"
        if not path.is_file():
            write_atomically(path, data)
        return path

    def request(self, key: str) -> dict[str, Any] | None:
        """What was asked under a key, as plain values; None where the store does not hold it."""
        body = self._body(key)
        return None if body is None else body[1]

    def _read(self, key: str) -> tuple[str, dict[str, Any], dict[str, Any]] | None:
        """Who was asked, what, and what they said; None where the store does not hold it."""
        for partition in self._partitions:
            # A look at results must not end for a store that is broken.
            with suppress(OmibenchError, ValueError, TypeError, AttributeError):
                if key in partition and (body := partition.body(key)) is not None:
                    role = json.loads(body.tags).get("role", "respondent")
                    recipient = f"{role} {partition.identity.get('id', '')}"
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
        return {path.stem: path for path in (self._freeze / "images").glob("*")}


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


def _call(call: Mapping[str, Any]) -> str:
    return f"{call['name']} {call['arguments'][:LONGEST_CALL]}"
