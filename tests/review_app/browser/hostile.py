"""Texts of somebody who wants a reviewer's browser to do something."""

from __future__ import annotations

from typing import Any, Final

MARKUP: Final = (
    "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>"
    "<style>* { display: none }</style><iframe src='https://evil.example'></iframe>"
    "<a href='javascript:window.hacked = 3'>x</a><base href='https://evil.example/'>"
)
FORMULAS: Final = (
    r"$\href{javascript:window.hacked=4}{x}$ $\url{https://evil.example}$"
    r" $\includegraphics{https://evil.example/a.png}$ $\htmlStyle{position:fixed}{x}$"
    r" $\hspace{-500em}\rule{900em}{900em}$ $\def\a{\a\a}\a$ $" + "{" * 2000 + "$"
    r" $\gdef\frac#1#2{0}1$"
)
PICTURES: Final = "![x](https://evil.example/b.png) [IMAGE7] [IMAGE0]"
DIRECTIONS: Final = "left \u202egnp.exe\u202c right\u200b \u0007 \u2066x"
HOSTILE: Final[dict[str, Any]] = {
    "question": "\n\n".join([MARKUP, FORMULAS, PICTURES, DIRECTIONS]),
    "choices": [{"label": MARKUP, "text": MARKUP}, {"label": "B", "text": DIRECTIONS}],
    "answer": [MARKUP, "x" * 5000],
    "solution": "**" * 3000 + "$a$ " * 4000 + "[`*" * 5000 + "word " * 60_000,
    "facts": {MARKUP: MARKUP, "list": [1, {"a": MARKUP}]},
    "reference": MARKUP,
    "candidates": [{"id": MARKUP, "text": FORMULAS}, {"id": "c2", "text": DIRECTIONS}],
}
