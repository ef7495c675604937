"""Removal of commands around a text, such as `\\text{...}`, in time linear in the text."""

from __future__ import annotations

import re

_PASSES = 8
"""Removing one command can create another (`\\te\\text{xt}{A}`); real texts nest less deeply."""


def unwrap(text: str, opens: re.Pattern[str]) -> str:
    """Remove the commands found by `opens` and their braces; keep their contents.

    `opens` matches a command with its opening brace, or one brace. A group is kept if braces
    remain inside it or it is never closed.
    """
    for _ in range(_PASSES):
        plain = _unwrap_once(text, opens) if "{" in text else text
        if plain == text:
            break
        text = plain
    return text


def _unwrap_once(text: str, opens: re.Pattern[str]) -> str:
    pieces: list[str] = []
    groups: list[tuple[int, bool, int]] = []
    end = kept_braces = 0
    for match in opens.finditer(text):
        pieces.append(text[end : match.start()])
        end = match.end()
        mark = match.group()
        if mark != "}":
            groups.append((len(pieces), len(mark) > 1, kept_braces))
        elif groups:
            at, is_command, kept_before = groups.pop()
            if is_command and kept_braces == kept_before:
                pieces[at] = mark = ""
            else:
                kept_braces += 1
        pieces.append(mark)
    return "".join([*pieces, text[end:]])
