"""Logs of inspect, as it writes them."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

SAMPLE = {
    "id": "p1",
    "epoch": 2,
    "input": [{"role": "user", "content": [{"type": "text", "text": "What?"}, {"type": "image"}]}],
    "choices": ["x", "y", "z"],
    "target": "B",
    "output": {
        "completion": "ANSWER: B",
        "choices": [{
            "stop_reason": "max_tokens",
            "message": {"role": "assistant", "content": [
                {"type": "reasoning", "reasoning": "A"}, {"type": "text", "text": "ANSWER: B"},
            ]},
        }],
    },
    "scores": {"choice": {"value": "C", "answer": "B"}},
    "events": [{}],
    "error": None,
}  # fmt: skip
HEADER = {"version": 2, "status": "success", "eval": {"task": "mmmu", "model": "openai/gpt"}}


def zstandard_zip(path: Path, members: dict[str, bytes]) -> None:
    """A zip file packed by Zstandard, as inspect writes it and Python 3.13 cannot."""
    import pyarrow as pa

    body, directory = b"", b""
    for name, content in members.items():
        packed = pa.compress(content, codec="zstd", asbytes=True)
        sizes = struct.pack("<III", zlib.crc32(content), len(packed), len(content))
        fields = struct.pack("<HHHHH", 20, 0, 93, 0, 33) + sizes
        directory += b"PK\x01\x02\x14\x00" + fields + struct.pack(
            "<HHHHHII", len(name), 0, 0, 0, 0, 0, len(body)
        ) + name.encode()  # fmt: skip
        body += b"PK\x03\x04" + fields + struct.pack("<HH", len(name), 0) + name.encode() + packed
    end = struct.pack("<HHHHIIH", 0, 0, len(members), len(members), len(directory), len(body), 0)
    path.write_bytes(body + directory + b"PK\x05\x06" + end)
