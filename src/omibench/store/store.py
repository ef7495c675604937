"""The store: partitions of responses by model, pictures by their hash, and claims on requests."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from time import sleep
from typing import Any, Self, TypeVar

from omibench.errors import MissingInputError, ModelError, OmibenchError, StoreError, reason_of
from omibench.files.locks import LockError, has_none, hold, lock_path, try_lock
from omibench.files.outputs import make_folder, open_new, write_private
from omibench.files.reading import read_json
from omibench.schemas.request import DrawnPart, ImagePart, Request, Response
from omibench.store import packs as pack
from omibench.store import segments as segment
from omibench.store.key import KEY_SCHEMA, Keys, canonical
from omibench.store.ledger import LEDGER
from omibench.store.packs import PackFile
from omibench.store.segments import (
    Body,
    Damage,
    OpenFiles,
    SegmentFile,
    SegmentWriter,
    StoredFile,
    build_body,
    encode_line,
    line_fault,
    new_name,
    parse_response,
    parse_values,
    set_aside,
)

COPIERS = 4
log = logging.getLogger("omibench.store")


class ImageStore:
    """The folder of pictures: `<first two digits>/<sha256>`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._seen: set[tuple[str, str]] = set()

    def path(self, sha256: str) -> Path:
        """Return the path of the picture with this content, if it was kept."""
        return self.folder / sha256[:2] / sha256

    def keep_all(self, images: Iterable[ImagePart]) -> None:
        """Keep many images, several at a time. Raises as `keep` does for the first failure."""
        distinct = {(image.path, image.sha256): image for image in images}
        new = [image for identity, image in distinct.items() if identity not in self._seen]
        if not new:
            return
        # Hashing and copying release the interpreter lock, so threads use the other cores.
        with ThreadPoolExecutor(min(COPIERS, len(new))) as pool:
            try:
                for _ in pool.map(self.keep, new):
                    pass
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def keep(self, image: ImagePart) -> None:
        """Check that an image's file has the expected bytes, and keep a copy.

        Raises MissingInputError if the file is missing, ModelError if its bytes differ.
        """
        identity = (image.path, image.sha256)
        if identity in self._seen:
            return
        size = _size(image.path)
        if size is None:
            raise MissingInputError(
                f"{image.path or 'image ' + image.sha256[:12]}: the image does not exist; a "
                "request is never sent without its pictures"
            )
        self._copy(Path(image.path), image.sha256, size)
        self._seen.add(identity)

    def with_drawn(self, response: Response) -> Response:
        """Store the drawn pictures of a response; returns it with references to them."""
        if not response.drawn:
            return response
        for image in response.drawn:
            if isinstance(image, DrawnPart):
                self.add(image.sha256, image.data)
        plain = tuple(ImagePart(sha256=image.sha256) for image in response.drawn)
        return response.model_copy(update={"drawn": plain})

    def locate_drawn(self, response: Response) -> Response:
        """Return a stored response with the paths of its pictures, to send them back."""
        if not response.drawn:
            return response
        located = tuple(
            ImagePart(sha256=image.sha256, path=str(self.path(image.sha256)))
            for image in response.drawn
        )
        return response.model_copy(update={"drawn": located})

    def add(self, sha256: str, data: bytes, size: int | None = None) -> bool:
        """Store a picture by its known SHA-256; a damaged one is set aside and replaced.

        Returns whether anything was written.
        """
        target = self.path(sha256)
        stored_size = _size(f"{self.folder}/{sha256[:2]}/{sha256}")
        if stored_size == (len(data) if size is None else size) and target.read_bytes() == data:
            return False
        if stored_size is not None:
            aside = set_aside(self.folder.parent, target)
            log.warning(
                "%s: was damaged and is restored; the damaged file is now %s", target, aside
            )
        write_private(target, data)
        return True

    def _copy(self, source: Path, sha256: str, size: int) -> None:
        data = source.read_bytes()
        actual = hashlib.sha256(data).hexdigest()
        if actual != sha256:
            raise ModelError(
                f"{source}: its content ({actual[:12]}) differs from the dataset ({sha256[:12]}); "
                "restore the file or freeze the dataset again"
            )
        self.add(sha256, data, size)


def _size(path: str) -> int | None:
    """Return the size of a regular file in bytes, or None."""
    # Tens of thousands of images are checked per cell: os.stat takes a fifth of Path.stat's time.
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


# The store: partitions of responses by model, and claims on requests that are being sent.

CARD = "model.json"
"""File in a partition's folder that identifies its model."""
T = TypeVar("T")


class Partition:
    """The responses of one model.

    Reading sees the state at opening or the last refresh, plus its own writes. Of two lines with
    one key the first counts, packs before segments.
    """

    def __init__(self, folder: Path, identity: dict[str, Any], thorough: bool = False) -> None:
        self.folder = folder
        self.identity = identity
        self.schemas: set[int] = set()
        """Key schemas of its lines."""
        self._keys = Keys(identity)
        self._thorough = thorough
        self._late: list[Damage] = []
        self._files: dict[str, StoredFile] = {}
        """Its packs, then its segments, each sorted by name; last the one that it writes."""
        self._open_files = OpenFiles()
        self._writer: SegmentWriter | None = None
        self._own: SegmentFile | None = None
        self._load_all()

    def __len__(self) -> int:
        return len(self._distinct())

    def __contains__(self, key: str) -> bool:
        return self._find(key) is not None

    def __iter__(self) -> Iterator[str]:
        """Every key, file by file."""
        return (raw.hex() for raw in self._distinct())

    @property
    def duplicates(self) -> int:
        """Lines whose key an earlier line has."""
        lines = sum(len(file.places) + file.repeated for file in self._files.values())
        return lines - len(self)

    @property
    def files(self) -> list[StoredFile]:
        """Its packs, then its segments."""
        return list(self._files.values())

    @property
    def damaged_lines(self) -> list[Damage]:
        """Every line that was skipped, including those found damaged later."""
        damages = [damage for file in self._files.values() for damage in file.damaged]
        return damages + [damage for damage in self._late if damage not in damages]

    def key(self, request: Request) -> str:
        """Return the key of the response to a request here, stored or not.

        It is the key of the newest schema, unless only one of an older schema is stored.
        """
        newest = self._keys.key(request)
        if self.schemas <= {KEY_SCHEMA} or newest in self:
            return newest
        older = (self._keys.key(request, n) for n in self._older())
        return next((key for key in older if key in self), newest)

    def get(self, key: str) -> Response | None:
        """Return the stored response of a key, or None. Its pictures are those in the store.

        A line that was damaged after the partition was opened is reported as a warning and counted
        in `damaged_lines`; another line with the same key replaces it, if any.
        """
        response = self._fetch(key, lambda file: parse_response(file.response(key)))
        if response is None or not response.drawn:
            return response
        return ImageStore(self.folder.parent / "images").locate_drawn(response)

    def response(self, key: str) -> dict[str, Any] | None:
        """Return the response as stored, including fields of later versions; see `get`."""
        return self._fetch(key, lambda file: _loads(file.response(key)))

    def body(self, key: str) -> Body | None:
        """Return everything in the line of a key; see `get`."""
        return self._fetch(key, lambda file: file.body(key))

    def line(self, key: str) -> bytes | None:
        """Return the whole line, in the form of `append_line`; see `get`."""
        return self._fetch(key, lambda file: file.line(key))

    def append(self, key: str, request: Request, response: Response) -> None:
        """Write one response. Once this returns, the response is stored."""
        self._append(encode_line(key, build_body(request, response)))

    def append_line(self, line: bytes) -> None:
        """Write one line of another store. Raises ValueError if it is not valid."""
        if (fault := line_fault(line)) is not None:
            raise ValueError(fault)
        self._append(line)

    def _append(self, line: bytes) -> None:
        if self._writer is None or self._own is None:
            self._writer = SegmentWriter(self.folder / new_name(segment.SUFFIX))
            card = self.folder / CARD
            if not card.is_file():
                write_private(card, (json.dumps(self.identity, indent=2) + "\n").encode())
            self._own = SegmentFile(self._writer.path, self._open_files)
            self._files[self._own.path.name] = self._own
        self._writer.write(line)
        self._own.append(line)
        self.schemas |= self._own.schemas

    def refresh(self) -> None:
        """Load what other processes have written or compacted since."""
        if self._list_files().keys() != self._files.keys() or not all(
            map(self._current, self._files.values())
        ):
            self._load_all()

    def sync(self) -> None:
        """Sync all appended lines, so that they survive a power cut."""
        if self._writer is not None:
            self._writer.sync()

    def close(self) -> None:
        """Sync and close every file."""
        writer, self._writer, self._own = self._writer, None, None
        for file in self._files.values():
            file.close()
        if writer is not None:
            writer.close()

    def _older(self) -> list[int]:
        return sorted(self.schemas - {KEY_SCHEMA}, reverse=True)

    def _distinct(self) -> dict[bytes, None]:
        return dict.fromkeys(key for file in self._files.values() for key in file.places)

    def _find(self, key: str) -> StoredFile | None:
        """Return the file whose line of a key counts, or None."""
        raw = bytes.fromhex(key)
        return next((file for file in self._files.values() if raw in file.places), None)

    def _list_files(self) -> dict[str, Path]:
        """Return packs, then segments, each sorted by name, so that the two never mix."""
        packs = sorted(self.folder.glob(f"*{pack.SUFFIX}"))
        segments = sorted(self.folder.glob(f"*{segment.SUFFIX}"))
        return {path.name: path for path in [*packs, *segments]}

    def _current(self, file: StoredFile) -> bool:
        if file is self._own:
            return True
        try:
            return file.is_current()
        except FileNotFoundError:
            return False

    def _load_all(self) -> None:
        """List the folder and read the keys of every new or changed file; keep the others."""
        files: dict[str, StoredFile] = {}
        try:
            for name, path in self._list_files().items():
                file = self._files.get(name)
                if file is None or not self._current(file):
                    file = file or self._open(path)
                    file.load(self._thorough)
                files[name] = file
        except FileNotFoundError:
            # Compacted between listing and reading: its lines are in a pack now.
            self._load_all()
            return
        for name in self._files.keys() - files.keys():
            self._files[name].close()
        self._files = files
        self.schemas |= {schema for file in files.values() for schema in file.schemas}

    def _open(self, path: Path) -> StoredFile:
        is_pack = path.suffix == pack.SUFFIX
        return PackFile(path) if is_pack else SegmentFile(path, self._open_files)

    def _fetch(self, key: str, read: Callable[[StoredFile], T]) -> T | None:
        while (file := self._find(key)) is not None:
            try:
                return read(file)
            except FileNotFoundError:
                self.refresh()
            except ValueError as error:
                if not self._distrust(file, key, str(error).partition("\n")[0]):
                    return None
            except OSError as error:
                raise StoreError(f"{file.path}: cannot be read: {reason_of(error)}") from None
        return None

    def _distrust(self, file: StoredFile, key: str, reason: str) -> bool:
        """Check a whole file again, one of whose responses cannot be read.

        Returns whether a second lookup can help.
        """
        log.warning("%s: the response %s cannot be read: %s", file.path, key[:12], reason)
        if file is self._own:
            self._late.append(Damage(file.path.name, 0, reason))
            return False
        before = file.place(key)
        try:
            file.load(thorough=True)
        except FileNotFoundError:
            self.refresh()
            return True
        if bytes.fromhex(key) not in file.places or file.place(key) != before:
            return True
        if not file.damaged:
            raise StoreError(
                f"{file.path}: the response {key[:12]} is intact, but this version of omibench "
                f"cannot read it: {reason}; use a later version"
            )
        return False


def _loads(text: bytes) -> dict[str, Any]:
    value = parse_values(text)
    if not isinstance(value, dict):
        raise ValueError("its response is not a JSON object")
    return value


# Claims: the requests that a process is sending, so that no other sends them too.
#
# Before sending, a process writes the keys of its requests into a file and locks it until they are
# answered. The lock ends with the process in any case, so the claim of a killed process blocks
# nothing. A claim counts as held if its lock is in doubt. If the file system reports that it has no
# locks at all, other processes' claims are ignored.

CLAIMS = "claims"
"""Folder of the store with a folder of claims per model."""
SUFFIX = ".keys"
TURN = ".turn"
"""File that a process locks while it reads the claims and writes its own; never deleted."""
TURN_S = 0.01


@contextmanager
def claim(folder: Path, keys: Iterable[str]) -> Iterator[set[str]]:
    """Claim keys for the duration of the block; yields those that no other process has claimed.

    `folder` contains the claims of one model. Raises StoreError if it cannot be written or locked.
    """
    try:
        make_folder(folder)
        with _turn(folder):
            free = set(keys) - _list_claims(folder)
            claim_file = _write(folder, free) if free else None
    except LockError as error:
        raise StoreError(
            f"{folder}: cannot be locked ({error.strerror}), and without a lock two processes may "
            "send and pay for the same requests; mount its disk with locks, or move "
            "`study.store` to another disk"
        ) from None
    except OSError as error:
        raise StoreError(f"{folder}: cannot be used: {reason_of(error, True)}") from None
    try:
        yield free
    finally:
        if claim_file is not None:
            path, file = claim_file
            path.unlink(missing_ok=True)
            os.close(file)


@contextmanager
def _turn(folder: Path) -> Iterator[None]:
    """Serialise reading the claims of others and writing one's own."""
    os.close(open_new(folder / TURN, os.O_RDWR))
    while True:
        with lock_path(folder / TURN) as locked:
            if locked:
                yield
                return
        sleep(TURN_S)


def _write(folder: Path, keys: set[str]) -> tuple[Path, int]:
    path = folder / new_name(SUFFIX)
    file = open_new(path, os.O_RDWR | os.O_EXCL)
    try:
        try_lock(file)
    except LockError as error:
        if not has_none(error):
            os.close(file)
            path.unlink(missing_ok=True)
            raise
    with os.fdopen(file, "w", closefd=False) as text:
        text.write("\n".join(sorted(keys)))
    return path, file


def _list_claims(folder: Path) -> set[str]:
    keys: set[str] = set()
    for path in folder.glob(f"*{SUFFIX}"):
        try:
            file = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            continue
        with os.fdopen(file, "r+") as text:
            if hold(file):
                path.unlink(missing_ok=True)  # Its process has ended, or has just released it.
            else:
                keys |= set(text.read().split())
    return keys


# The store: a folder with one partition per model, and the pictures that all of them share.

CARD_BYTES = 1 << 20
MARKS = ("images", "batches", "absorbed.txt", CLAIMS, LEDGER)
"""Names that identify a store without partitions."""
_PARTITION = re.compile(r".*-[0-9a-f]{12}")


class Store:
    """Every response ever received, in one folder that many processes can share."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.images = ImageStore(self.folder / "images")
        self._partitions: dict[str, Partition] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def open_partition(self, identity: Mapping[str, Any]) -> Partition:
        """Return the partition of a model, indexed once; damaged lines cause a warning.

        Raises StoreError if the folder cannot be used or belongs to another model.
        """
        name = partition_name(identity)
        if name not in self._partitions:
            partition = Partition(self._folder(name, identity), dict(identity))
            _report(partition)
            self._partitions[name] = partition
        return self._partitions[name]

    def close(self) -> None:
        """Sync and close every partition."""
        for partition in self._partitions.values():
            partition.close()
        self._partitions.clear()

    def _folder(self, name: str, identity: Mapping[str, Any]) -> Path:
        folder = self.folder / name
        owner = read_card(folder) or dict(identity)
        if canonical(owner) != canonical(dict(identity)):
            raise StoreError(f"{folder / CARD}: identifies another model than the requested one")
        return folder


def partition_name(identity: Mapping[str, Any]) -> str:
    """Return the folder name of a model: provider, served id, 12 digits of its identity hash."""
    words = f"{identity.get('provider', 'model')}-{identity.get('id', '')}"
    slug = re.sub(r"[^A-Za-z0-9._-]+", "_", words).strip("-_.")[:60]
    return f"{slug}-{hashlib.sha256(canonical(dict(identity))).hexdigest()[:12]}"


def read_card(folder: Path) -> dict[str, Any] | None:
    """Return the identity of the model of a partition's folder; None without a card.

    Raises StoreError if the card cannot be read.
    """
    card = folder / CARD
    if not os.path.lexists(card):
        return None
    try:
        owner = read_json(card, CARD_BYTES)
    except OmibenchError as error:
        reason = str(error).removeprefix(f"{card}: ")
        raise StoreError(f"{card}: cannot be used: {reason}") from None
    if not isinstance(owner, dict):
        raise StoreError(f"{card}: cannot be used: it contains no model")
    return owner


def partition_folders(store: Path) -> list[Path]:
    """Return the folder of every partition of a store, by name.

    Raises MissingInputError if the folder does not exist or is not a store.
    """
    if not store.is_dir():
        raise MissingInputError(
            f"{store}: there is no store in this folder; give its folder with --store"
        )
    if not _is_store(store) and any(not p.name.startswith(".") for p in store.iterdir()):
        within = store / "store"
        meant = f"; is {within} meant?" if _is_store(within) else ""
        raise MissingInputError(f"{store}: is not a store: it contains no partition{meant}")
    return _partitions(store)


def _is_store(folder: Path) -> bool:
    return folder.is_dir() and (
        any((folder / name).exists() for name in MARKS) or bool(_partitions(folder))
    )


def _partitions(store: Path) -> list[Path]:
    return sorted(p for p in store.iterdir() if p.is_dir() and _PARTITION.fullmatch(p.name))


def _report(partition: Partition) -> None:
    if not partition.damaged_lines:
        return
    first = partition.damaged_lines[0]
    log.warning(
        "%s: %d of its lines cannot be read and were skipped; the first is %s, line %d: %s",
        partition.folder, sum(damage.lines for damage in partition.damaged_lines),
        first.segment, first.line, first.reason,
    )  # fmt: skip
