"""The requests on the way to an answer, read from the store by key."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
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
from omibench.web.pictures import find_picture, link_file

CACHE_SIZE = 256
"""The number of cached requests and responses."""
LONGEST_CALL = 2_000
"""The maximum length of a call's arguments on a page, in characters."""


Link = Callable[[str], str | None]
"""Returns the address of a picture by its SHA-256; None if it is missing."""


class StoredPicture(NamedTuple):
    """A picture that is not the problem's; its address is None if it is missing."""

    sha256: str
    src: str | None


class TrailStep(NamedTuple):
    """One request on the way: the receiver, its new inputs and its response."""

    key: str
    who: str
    of: Sequence[str]
    """The names of the problem's pictures shown to a helper."""
    simulated: bool
    told: Sequence[str]
    """The text since its previous turn, such as results of tools; empty in a first turn."""
    pictures: Sequence[StoredPicture]
    outcome: str
    text: str
    calls: Sequence[str]
    drawn: Sequence[StoredPicture]


class Trail:
    """The requests of a study's store by key, with their pictures.

    Nothing is opened before it is needed. Requests missing from the store are left out, so results
    can be inspected without their store.
    """

    def __init__(self, store: Path, pictures: Path, freeze: Path) -> None:
        self._store, self._pictures, self._freeze = store, pictures, freeze
        # Captions are shared by many responses; not all bodies of a study fit into memory.
        self._body = lru_cache(maxsize=CACHE_SIZE)(self._read)

    def steps(
        self, keys: Sequence[str], problem_images: Sequence[str], link: Link
    ) -> list[TrailStep]:
        """Return the step of each key in the store, in order.

        `problem_images` are the SHA-256 of the problem's pictures. Other pictures are shown where
        they are first sent.
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
                    pictures=[StoredPicture(image, link(image)) for image in sent],
                    outcome=name_outcome(response.get("outcome", "answered")),
                    text=shorten_response(response.get("text", "")),
                    calls=[write_call(call) for call in response.get("calls", [])],
                    drawn=[StoredPicture(image, link(image)) for image in drawn],
                )
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
    """Return a call of a tool as text: its name and arguments."""
    return f"{call['name']} {call['arguments'][:LONGEST_CALL]}"
