"""Bounds on untrusted YAML: depth, aliases, and the length of numbers.

The library has none: it follows each level by recursion in C, which crashes the process, and a
few nested aliases can represent more values than fit into memory.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from omibench.errors import FileFormatError, OmibenchError, ParamsError
from omibench.files.reading import read_bytes, read_text

if TYPE_CHECKING:
    import yaml


YAML_BYTES: Final = 16 * 2**20
DEPTH: Final = 50
"""Maximum nesting of lists and mappings."""
REPEATED: Final = 100_000
"""Maximum number of values repeated by aliases; a hundred characters of a text count as one."""
_DIGITS: Final = 100


def check_depth(text: str, loader: Any) -> None:
    """Raise ValueError with the line at which a text is nested more than 50 deep.

    Stops reading there. Raises the errors of `loader` for invalid YAML.
    """
    import yaml

    depth = 0
    for event in yaml.parse(text, loader):
        if isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            depth += 1
            if depth > DEPTH:
                place = f"line {event.start_mark.line + 1}: " if event.start_mark else ""
                raise ValueError(f"{place}is nested more than {DEPTH} deep")
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            depth -= 1


def check_aliases(root: yaml.Node | None) -> None:
    """Raise ValueError with the line of a value that aliases repeat too often or recursively.

    Also for a number of more than a hundred characters, which is slow to parse. Check the depth
    of `root` first.
    """
    if root is not None:
        _Weights().of(root)


class _Weights:
    """Counts the values of nodes after every alias is expanded."""

    def __init__(self) -> None:
        self._known: dict[int, int | None] = {}
        """Weights by node identity; None while in progress."""
        self._written = 0

    def of(self, node: yaml.Node) -> int:
        """Return the weight of a node. Raises as `check_aliases` does."""
        if id(node) in self._known:
            weight = self._known[id(node)]
            if weight is None:
                raise ValueError(f"{_line(node)}: the value contains itself through an alias")
            return weight
        self._known[id(node)] = None
        weight = _own_weight(node)
        self._written += weight
        for entry in () if isinstance(node.value, str) else node.value:
            for inner in entry if isinstance(entry, tuple) else (entry,):
                weight += self.of(inner)
        if weight - self._written > REPEATED:
            raise ValueError(f"{_line(node)}: aliases repeat more than {REPEATED:,} values")
        self._known[id(node)] = weight
        return weight


def _own_weight(node: yaml.Node) -> int:
    if not isinstance(node.value, str):
        return 1
    if node.tag.endswith((":int", ":float")) and len(node.value) > _DIGITS:
        raise ValueError(f"{_line(node)}: the number is longer than {_DIGITS} characters")
    return 1 + len(node.value) // 100


def _line(node: yaml.Node) -> str:
    return f"line {node.start_mark.line + 1}"


# User-written YAML files: their values, and the line of each key.


def parse_yaml(text: bytes | str) -> Any:
    """Parse a YAML text to plain values, None if empty.

    Raises ValueError with one line that begins with the line number of the error: for invalid
    UTF-8 or YAML, a repeated key (of which YAML would silently keep the last), nesting above 50,
    and aliases that repeat too many values.
    """
    import yaml  # jobs get their parameters as JSON and do not need this import

    if isinstance(text, bytes):
        text = _decode(text)
    try:
        check_depth(text, _loader())
        loader = _loader()(text)
        root = loader.get_single_node()
        check_aliases(root)
        _refuse_twins(root, set())
        return None if root is None else loader.construct_document(root)
    except yaml.reader.ReaderError as error:
        raise ValueError(
            f"is not text: it contains the character #x{error.character:04x}"
        ) from None
    except yaml.MarkedYAMLError as error:
        raise ValueError(_describe_error(error, text)) from None
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(" ".join(str(error).split()) or "is nested too deeply") from None


def read_yaml(path: str | Path) -> Any:
    """Read a YAML file to plain values, None if empty.

    Raises MissingInputError and FileFormatError with one line that contains the file and, if
    known, the line number.
    """
    try:
        return parse_yaml(read_bytes(path, YAML_BYTES))
    except ValueError as error:
        joint = ", " if str(error).startswith("line ") else ": "
        raise FileFormatError(f"{path}{joint}{error}") from None


def yaml_meaning(paths: Iterable[str | Path]) -> str:
    """Return a hash of the values in YAML files, which comments and layout do not change.

    Raises as `read_yaml` does.
    """
    values = [read_yaml(path) for path in paths]
    text = json.dumps(values, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def read_mapping(path: str | Path) -> dict[str, Any]:
    """Read the blocks of a parameter file. Raises ParamsError for invalid YAML or no blocks."""
    try:
        values = read_yaml(path)
    except OmibenchError as error:
        raise ParamsError(str(error)) from None
    if values is None:
        raise ParamsError(f"{path}: is empty; begin with a block such as `study: {{name: mine}}`")
    if not isinstance(values, dict):
        raise ParamsError(f"{path}: contains {_kind(values)}, not blocks such as `study:`")
    return values


def locate_key(message: str, files: Iterable[str | Path]) -> str | None:
    """Return the place of the key at the start of a message, in the last file: `params.yaml, line
    12`.

    None if no file contains the key.
    """
    path = message.split(maxsplit=1)[0].removesuffix(":")
    for file in reversed(list(files)):
        try:
            line = find_line(read_text(file, YAML_BYTES), path)
        except OmibenchError:
            continue
        if line is not None:
            return f"{file}, line {line}"
    return None


def add_place(value: str, files: Iterable[str | Path]) -> str:
    """Return a value with its place: `nope.txt (params.yaml, line 4)`."""
    for file in reversed(list(files)):
        text = read_text(file, YAML_BYTES)
        node = next((node for node in _scalar_nodes(_compose(text)) if node.value == value), None)
        if node is not None:
            return f"{value} ({file}, line {node.start_mark.line + 1})"
    return value


def find_line(text: str, path: str) -> int | None:
    """Return the line, from 1, of the key at `path` (`models.gpt-4.1.price`).

    If the key is missing, the line of its deepest existing parent; None if there is none.
    """
    node, line = _compose(text), None
    while path and node is not None:
        step = _step(node, path)
        if step is None:
            break
        place, node, path = step
        line = place.start_mark.line + 1
    return line


def list_dates(text: str) -> list[tuple[int, str]]:
    """Return the values that YAML reads as dates or times, each with its line, from 1."""
    root = _compose(text)
    return [
        (node.start_mark.line + 1, str(node.value))
        for node in _scalar_nodes(root)
        if node.tag == "tag:yaml.org,2002:timestamp"
    ]


def list_item_lines(text: str, key: str) -> list[int]:
    """Return the first lines, from 1, of the items of a list, as `list_item_spans` finds them."""
    return [first for first, _ in list_item_spans(text, key)]


def list_item_spans(text: str, key: str) -> list[tuple[int, int]]:
    """Return the first and last line, from 1, of each item of a list.

    Comments after the last value of an item are not part of it.

    Args:
        text: YAML, parsed once for all items.
        key: Top-level key of the list.

    Returns:
        Both lines of each item; empty if the key has no list.
    """
    root = _compose(text)
    step = _step(root, key) if root is not None else None
    items = step[1].value if step is not None else []
    if isinstance(items, str):
        return []
    return [
        (item.start_mark.line + 1, _find_last_line(item))
        for item in items
        if not isinstance(item, tuple)
    ]


def _find_last_line(node: yaml.Node) -> int:
    """Return the last line of a node; a block ends for the library where the next one begins."""
    import yaml

    if isinstance(node, yaml.CollectionNode) and node.value and not node.flow_style:
        pairs = [entry if isinstance(entry, tuple) else (entry,) for entry in node.value]
        return max(_find_last_line(part) for pair in pairs for part in pair)
    return int(node.end_mark.line) + (node.end_mark.column > 0)


def _kind(values: object) -> str:
    return "a list" if isinstance(values, list) else f"a single value ({str(values)[:40]!r})"


def _loader() -> Any:
    import yaml

    # libyaml's reader if the wheel includes it: ten times faster, same values.
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def _compose(text: str) -> yaml.Node | None:
    import yaml

    try:
        check_depth(text, _loader())
        root = yaml.compose(text, _loader())
        check_aliases(root)
    except (yaml.YAMLError, ValueError):
        return None
    return root


def _scalar_nodes(node: yaml.Node | None) -> Iterator[yaml.Node]:
    """Yield the scalar values below a node, without the keys of mappings."""
    if node is None or isinstance(node.value, str):
        yield from [] if node is None else [node]
        return
    for inner in node.value:
        for part in inner[1:] if isinstance(inner, tuple) else [inner]:
            yield from _scalar_nodes(part)


def _step(node: yaml.Node, path: str) -> tuple[yaml.Node, yaml.Node, str] | None:
    """Resolve one key of `path`: its node, the node of its value, and the rest of the path."""
    if not isinstance(node.value, list):
        return None
    named: list[tuple[str, yaml.Node, yaml.Node]] = [
        (str(i), pair, pair) if not isinstance(pair, tuple) else (str(pair[0].value), *pair)
        for i, pair in enumerate(node.value)
    ]
    # A model's name can contain dots, so the longest matching key is used.
    for name, key, value in sorted(named, key=lambda entry: -len(entry[0])):
        if path == name or path.startswith(f"{name}."):
            return key, value, path[len(name) + 1 :]
    return None


def _refuse_twins(node: yaml.Node | None, visited: set[int]) -> None:
    import yaml

    if node is None or id(node) in visited:
        return
    visited.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _refuse_twins(item, visited)
    elif isinstance(node, yaml.MappingNode):
        lines: dict[str, int] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            name = str(key.value)
            if isinstance(key, yaml.ScalarNode) and name in lines and name != "<<":
                raise ValueError(
                    f"line {line}: the key {name!r} occurs twice, first in line {lines[name]}"
                )
            lines[name] = line
            _refuse_twins(value, visited)


def _decode(text: bytes) -> str:
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        byte = f"0x{error.object[error.start]:02x}"
        raise ValueError(f"line {line}: is not UTF-8 text (it contains the byte {byte})") from None


def _describe_error(error: yaml.MarkedYAMLError, text: str) -> str:
    mark, begun = error.problem_mark or error.context_mark, error.context_mark
    if mark is None:
        return " ".join(str(error).split())
    lines = text.splitlines()
    number = min(mark.line + 1, len(lines))
    content = lines[number - 1]
    problem = error.problem or error.context or "cannot be read"
    if "\t" in content[: len(content) - len(content.lstrip())]:
        return f"line {number}: is not valid YAML: a tab indents it; use spaces"
    earlier = begun is not None and begun.line + 1 < number
    since = f" ({error.context}, starting in line {begun.line + 1})" if begun and earlier else ""
    return f"line {number}: is not valid YAML: {problem}{since}"
