"""A file that a person wrote as YAML: what it holds, and in which line a key of it stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omibench.errors import FileFormatError, OmibenchError, ParamsError
from omibench.files.intake.regular import read_bytes, read_text
from omibench.files.intake.yaml_bounds import YAML_BYTES, check_aliases, check_depth

if TYPE_CHECKING:
    import yaml


def parse_yaml(text: bytes | str) -> Any:
    """The plain values of a YAML text, None for an empty one.

    Raises ValueError with one line that begins with the number of the line that is wrong: for what
    is no UTF-8 text, what is no YAML, a key that stands twice, of which YAML would keep the last
    without a word, nesting of more than 50, and aliases that stand for very many values.
    """
    import yaml  # jobs are given their parameters as JSON and need not pay for this import

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
        raise ValueError(f"is no text: it holds the character #x{error.character:04x}") from None
    except yaml.MarkedYAMLError as error:
        raise ValueError(_describe_error(error, text)) from None
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(" ".join(str(error).split()) or "is nested too deeply") from None


def read_yaml(path: str | Path) -> Any:
    """The plain values of a YAML file, None for an empty one.

    Raises MissingInputError and FileFormatError with one line that names the file and, where there
    is one, the line.
    """
    try:
        return parse_yaml(read_bytes(path, YAML_BYTES))
    except ValueError as error:
        joint = ", " if str(error).startswith("line ") else ": "
        raise FileFormatError(f"{path}{joint}{error}") from None


def read_mapping(path: str | Path) -> dict[str, Any]:
    """The blocks of a parameter file. Raises ParamsError as `read_yaml` does, and for no blocks."""
    try:
        values = read_yaml(path)
    except OmibenchError as error:
        raise ParamsError(str(error)) from None
    if values is None:
        raise ParamsError(f"{path}: is empty; begin with a block such as `study: {{name: mine}}`")
    if not isinstance(values, dict):
        raise ParamsError(f"{path}: holds {_kind(values)}, not blocks such as `study:`")
    return values


def locate_key(message: str, files: Iterable[str | Path]) -> str | None:
    """`params.yaml, line 12`: where the key that a message begins with stands, in the last file.

    None where the key is nowhere.
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
    """The value with the place where it is given: `nope.txt (params.yaml, line 4)`."""
    for file in reversed(list(files)):
        text = read_text(file, YAML_BYTES)
        line = next((n for n, scalar in _scalars(_compose(text)) if scalar == value), None)
        if line is not None:
            return f"{value} ({file}, line {line})"
    return value


def find_line(text: str, path: str) -> int | None:
    """The line, from 1, of the key that `path` (`models.gpt-4.1.price`) leads to.

    The line of the deepest key on the way that is there; None where not even the first is.
    """
    node, line = _compose(text), None
    while path and node is not None:
        step = _step(node, path)
        if step is None:
            break
        place, node, path = step
        line = place.start_mark.line + 1
    return line


def list_item_lines(text: str, key: str) -> list[int]:
    """The lines, from 1, in which the items of a list begin.

    Args:
        text: YAML, whose blocks are read once for all items.
        key: The key of the list among those of the text.

    Returns:
        A line for each item; none where the key leads to no list.
    """
    root = _compose(text)
    step = _step(root, key) if root is not None else None
    items = step[1].value if step is not None else []
    if isinstance(items, str):
        return []
    return [item.start_mark.line + 1 for item in items if not isinstance(item, tuple)]


def _kind(values: object) -> str:
    return "a list" if isinstance(values, list) else f"a lone value ({str(values)[:40]!r})"


def _loader() -> Any:
    import yaml

    # libyaml's reader where the wheel has it: ten times as quick, the same values.
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


def _scalars(node: yaml.Node | None) -> Iterator[tuple[int, str]]:
    if node is None or isinstance(node.value, str):
        yield from [] if node is None else [(node.start_mark.line + 1, node.value)]
        return
    for inner in node.value:
        for part in inner[1:] if isinstance(inner, tuple) else [inner]:
            yield from _scalars(part)


def _step(node: yaml.Node, path: str) -> tuple[yaml.Node, yaml.Node, str] | None:
    """One key of `path`: the node of the key, that of its value, and the rest of the path."""
    if not isinstance(node.value, list):
        return None
    named: list[tuple[str, yaml.Node, yaml.Node]] = [
        (str(i), pair, pair) if not isinstance(pair, tuple) else (str(pair[0].value), *pair)
        for i, pair in enumerate(node.value)
    ]
    # A model's name may hold dots, so the longest key that fits is meant.
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
                    f"line {line}: the key {name!r} is there already, in line {lines[name]}"
                )
            lines[name] = line
            _refuse_twins(value, visited)


def _decode(text: bytes) -> str:
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        byte = f"0x{error.object[error.start]:02x}"
        raise ValueError(f"line {line}: is not UTF-8 text (it holds the byte {byte})") from None


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
    since = f" ({error.context}, begun in line {begun.line + 1})" if begun and earlier else ""
    return f"line {number}: is not valid YAML: {problem}{since}"
