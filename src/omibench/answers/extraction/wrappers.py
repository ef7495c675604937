"""Commands around a text, such as `\\text{...}`, taken off in time linear in the text."""

from __future__ import annotations

import re

_PASSES = 8
"""Taking one off may make another (`\\te\\text{xt}{A}`): no one writes so more than once."""


def unwrap(text: str, opens: re.Pattern[str]) -> str:
    """The text without the commands that `opens` finds and their braces, their contents kept.

    `opens` matches a command with its opening brace, or one brace. A group stays as it is where
    braces are left inside of it, or where it is never closed.
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
