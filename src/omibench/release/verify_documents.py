"""Verification of a release's documents: file names, card, Croissant, schema, canary."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from omibench.datasets.releases.folder import DOCUMENT_BYTES, SUMS
from omibench.datasets.releases.schema import ReleaseProvenance
from omibench.errors import OmibenchError
from omibench.files.intake import parse_json, read_bytes
from omibench.files.intake.containment import Container
from omibench.files.yaml_file import parse_yaml

_NAME: Final = re.compile(
    r"(data|sample)/[a-z][a-z0-9_]{0,29}-\d{5}-of-\d{5}\.parquet"
    r"|(README|CHANGELOG|EXTRACTION|datasheet)\.md"
    r"|(schema|croissant|provenance)\.json|(manifest|questions|answers)\.jsonl"
)
_CANARY: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
"""Dataset names may be escaped in some files."""
_CONFIG_KEYS: Final = {"config_name", "default", "data_files"}


def check_documents(
    folder: Path, sums: Mapping[str, str], provenance: ReleaseProvenance
) -> Iterator[str]:
    """Yield the findings about a release's documents, whose bytes match `sums`.

    Args:
        folder: The release.
        sums: SHA-256 by path, as in SHA256SUMS.
        provenance: The provenance of the release.

    Yields:
        One line per finding.
    """
    for name in sums:
        if not _NAME.fullmatch(name):
            yield f"{folder / name[:120]}: not a file of a release"
    yield from _check_canary(folder, sums, provenance.canary)
    yield from _check_card(folder, sums, provenance)
    yield from _check_croissant(folder, sums)


def _check_canary(folder: Path, sums: Mapping[str, str], canary: str) -> Iterator[str]:
    """Check that text files contain the canary, in every line of row-based files."""
    container = Container(folder)
    identity = _CANARY.search(canary)
    if identity is None:
        yield f"{folder / 'provenance.json'}: its canary does not end in a UUID"
        return
    text = identity[0].encode()
    for name in sums:
        path = container.path(name)
        if name.endswith(".jsonl"):
            content = read_bytes(path, 16 * DOCUMENT_BYTES)
            if any(text not in line for line in content.splitlines()):
                yield f"{path}: a line lacks the canary of provenance.json"
        elif not name.endswith(".parquet") and text not in read_bytes(path, DOCUMENT_BYTES):
            yield f"{path}: lacks the canary of provenance.json"


def _check_card(
    folder: Path, sums: Mapping[str, str], provenance: ReleaseProvenance
) -> Iterator[str]:
    """Check that the card's header lists exactly the data files of the release."""
    path = Container(folder).path("README.md")
    parts = read_bytes(path, DOCUMENT_BYTES).split(b"---\n", 2)
    if len(parts) < 3 or parts[0]:
        yield f"{path}: has no YAML header"
        return
    try:
        header = parse_yaml(parts[1])
    except (yaml.YAMLError, ValueError, OmibenchError) as error:
        yield f"{path}: its header is not YAML: {' '.join(str(error).split())[:200]}"
        return
    configs = header.get("configs") if isinstance(header, dict) else None
    if not isinstance(configs, list) or not configs:
        yield f"{path}: its header lists no data files"
        return
    if header.get("version") != provenance.version:
        yield f"{path}: its version differs from that of provenance.json, {provenance.version}"
    for config in configs:
        if not isinstance(config, dict) or set(config) - _CONFIG_KEYS:
            yield f"{path}: a configuration in its header has unexpected keys"
            continue
        files = config.get("data_files")
        for entry in files if isinstance(files, list) else [files]:
            pattern = entry.get("path") if isinstance(entry, dict) else entry
            if not isinstance(pattern, str) or not _matches(pattern, sums):
                yield f"{path}: lists data files that are not in {SUMS}: {str(pattern)[:80]!r}"


def _matches(pattern: str, sums: Mapping[str, str]) -> bool:
    head, star, tail = pattern.partition("*")
    if not star:
        return pattern in sums
    return any(name.startswith(head) and name.endswith(tail) for name in sums)


def _check_croissant(folder: Path, sums: Mapping[str, str]) -> Iterator[str]:
    """Check that all files and file sets belong to the release and have their hashes."""
    path = Container(folder).path("croissant.json")
    document = parse_json(read_bytes(path, DOCUMENT_BYTES), str(path))
    entries = document.get("distribution") if isinstance(document, dict) else None
    if not isinstance(entries, list) or not entries:
        yield f"{path}: lacks the list `distribution`"
        return
    for entry in entries:
        if not _is_of_release(entry, sums):
            name = entry.get("@id") if isinstance(entry, dict) else entry
            yield f"{path}: {str(name)[:80]!r} is not the file of its SHA-256 in {SUMS}"


def _is_of_release(entry: Any, sums: Mapping[str, str]) -> bool:
    if not isinstance(entry, dict):
        return False
    if entry.get("@type") == "cr:FileSet":
        pattern = entry.get("includes")
        return "containedIn" not in entry and isinstance(pattern, str) and _matches(pattern, sums)
    name = entry.get("contentUrl")
    is_file = entry.get("@type") == "cr:FileObject" and isinstance(name, str) and name in sums
    return is_file and entry.get("sha256") == sums[str(name)]
