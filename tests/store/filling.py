"""Requests to put into a store, and partitions filled with answers to them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from tests.asks import ask

from omibench.files.outputs import write_private
from omibench.schemas.request import (
    ImagePart,
    Request,
    Response,
    Usage,
)
from omibench.store.store import Store, partition_name

IDENTITY = {"provider": "test", "id": "model", "seed": 1}
PICTURE = b"pixels"
SHA256 = hashlib.sha256(PICTURE).hexdigest()


def request(n: int, index: int = 0) -> Request:
    """Request `n`: its tags alternate between two settings."""
    image = ImagePart(sha256=SHA256, path="/somewhere/a.png")
    setting = "direct" if n % 2 else "cot"
    return ask(f"question {n}", image, index=index, problem=f"p{n}", setting=setting)


def answer(n: int) -> Response:
    """The response to request `n`."""
    usage = Usage(input_tokens=10, output_tokens=n)
    return Response(text=f"answer {n} é", usage=usage, cost_usd=0.5, latency_s=0.1)


def fill(folder: Path, numbers: Iterable[int], identity: dict[str, object] = IDENTITY) -> list[str]:
    """Write the answers to some requests by one writer; their keys."""
    keys = []
    with Store(folder) as store:
        write_private(folder / "images" / SHA256[:2] / SHA256, PICTURE)
        partition = store.open_partition(identity)
        for n in numbers:
            keys.append(partition.key(request(n)))
            partition.append(keys[-1], request(n), answer(n))
    return keys


def partition_folder(folder: Path) -> Path:
    """The partition that `fill` writes."""
    return folder / partition_name(IDENTITY)


def segments(folder: Path) -> list[Path]:
    """Every segment of a store."""
    return sorted(folder.glob("*/*.jsonl"))


def packs(folder: Path) -> list[Path]:
    """Every pack of a store."""
    return sorted(folder.glob("*/*.parquet"))


def texts(folder: Path, keys: Iterable[str]) -> list[str | None]:
    """What the store answers to some keys."""
    with Store(folder) as store:
        partition = store.open_partition(IDENTITY)
        found = [partition.get(key) for key in keys]
    return [None if response is None else response.text for response in found]


def expected(numbers: range) -> list[str]:
    """What `texts` gives where every answer is there."""
    return [f"answer {n} é" for n in numbers]


def flip(path: Path, offset: int) -> None:
    """Change a bit of a file, and not its time."""
    state = path.stat()
    data = bytearray(path.read_bytes())
    data[offset] ^= 0x10
    path.write_bytes(data)
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
