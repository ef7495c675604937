"""Bounds on untrusted YAML: depth, aliases, and the length of numbers.

The library has none: it follows each level by recursion in C, which crashes the process, and a
few nested aliases can represent more values than fit into memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

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
