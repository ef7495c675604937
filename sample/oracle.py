"""The knowledge of simulated models about the sample problems: one row per problem."""

from __future__ import annotations

import re
from typing import Any

Booklet = dict[str, Any]
Record = dict[str, Any]

LABELS = "ABCDEFGH"
MATH = re.compile(r"(?<!\\)\$([^$]+)(?<!\\)\$")
SYMBOLS = {"<=": r"\le", ">=": r"\ge", "!=": r"\ne", "->": r"\to", "·": r"\cdot", "dot": r"\cdot"}
NAMED = (
    "alpha beta gamma delta epsilon theta lambda mu nu pi rho sigma tau phi omega times Delta Omega"
)
ROOT_OR_POWER = re.compile(r"(sqrt|[_^])\(([^()]*)\)")
TOKEN = re.compile(r'"([^"]*)"|(<=|>=|!=|->|·)|(?<![A-Za-z\\{])([A-Za-z]{2,})(?![A-Za-z}])')


def _token(match: re.Match[str]) -> str:
    text, sign, word = match.groups()
    if text is not None:
        return rf"\text{{{text}}}"
    if sign:
        return SYMBOLS[sign]
    return SYMBOLS.get(word, f"\\{word}" if word in NAMED.split() else word)


def _formula(match: re.Match[str]) -> str:
    inner = match[1].replace(r"\/", "/")
    inner = TOKEN.sub(_token, inner)
    inner = ROOT_OR_POWER.sub(
        lambda m: rf"\sqrt{{{m[2]}}}" if m[1] == "sqrt" else f"{m[1]}{{{m[2]}}}", inner
    )
    return f"${inner}$"


def latex(markup: str) -> str:
    r"""Typst markup of a booklet as Markdown with LaTeX, as far as booklets use it.

    >>> print(latex("where $n >= 1$ and $v_(max) = sqrt(2 g h)$"))
    where $n \ge 1$ and $v_{max} = \sqrt{2 g h}$
    """
    plain = MATH.sub(_formula, markup.strip())
    return re.sub(r"\\([#*_@<>])", r"\1", plain)


def shown_figures(booklet: Booklet, problem: Record) -> list[Record]:
    """Return every picture of a problem in reading order: its stem's, its own, its picture
    choices."""
    stems = [s for s in booklet.get("stems") or [] if problem["number"] in s["problems"]]
    figures = [f for s in stems for f in s.get("figures") or []]
    figures += problem.get("figures") or []
    pictured = [c for c in problem.get("choices") or [] if isinstance(c, dict)]
    return figures + [{"id": f"Choice {LABELS[i]}", **c} for i, c in enumerate(pictured)]


def caption(figure: Record) -> str:
    """Return a perfect captioner's sentence on a figure."""
    said = [figure.get("caption"), figure.get("supplies")]
    facts = "; it supplies ".join(str(s).rstrip(".") for s in said if s)
    return latex(f"{figure['id']}: {facts or figure['draw'].replace('_', ' ')}.")


def statement(booklet: Booklet, problem: Record) -> str:
    """Return the shared stem of a problem, if any, and its own text."""
    stems = [s["text"] for s in booklet.get("stems") or [] if problem["number"] in s["problems"]]
    return "\n\n".join(latex(text) for text in [*stems, problem["text"]])


def translation(booklet: Booklet, problem: Record) -> str | None:
    """Return a perfect translation into English, with captions after their images."""
    if not problem.get("translation"):
        return None
    captions = [figure.get("translation") for figure in shown_figures(booklet, problem)]
    marked = [f"[IMAGE{i}]\n{latex(said)}" for i, said in enumerate(captions) if said]
    return "\n\n".join([latex(problem["translation"]), *marked])


def row(booklet: Booklet, problem: Record) -> Record:
    """Return the knowledge of simulated models of every role about one problem."""
    choices = problem.get("choices")
    figures = shown_figures(booklet, problem)
    return {
        "id": f"{booklet['booklet']}-{problem['number']}",
        "answer": problem["gold"],
        "answer_type": "mcq" if choices else "open",
        "choices": list(LABELS[: len(choices)]) if choices else None,
        "difficulty": problem["difficulty"],
        "n_images": len(figures),
        "subject": problem.get("subject", booklet["subject"]),
        "topic": problem["topic"],
        "captions": [caption(figure) for figure in figures],
        "translation": translation(booklet, problem),
        "rationale": latex(problem["solution"]),
        "statement": statement(booklet, problem),
        **({"spared": problem["spared"]} if "spared" in problem else {}),
    }
