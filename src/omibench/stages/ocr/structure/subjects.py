"""Detect subjects in section headings and tags, in five languages."""

from __future__ import annotations

import re
import unicodedata

from omibench.schemas.problem import Subject

_WORDS: dict[Subject, str] = {
    "biology": "biology biologia biologie 生物 life science",
    "chemistry": "chemistry quimica chemie 化学",
    "mathematics": "mathematics maths math matematica matematicas mathematik 数学",
    "physics": "physics fisica physik 物理",
}
_SUBJECT = {word: subject for subject, words in _WORDS.items() for word in words.split()}
_SECTION = re.compile(
    r"(?:section|part|teil|secci[óo]n|parte|se[çc][ãa]o|abschnitt)\s+[\dIVXA-H]+\b.{0,60}"
    r"|[IVX]{1,4}\s*、\s*\S{1,20}|[一二三四五六七八九十]\s*[、.．]\s*\S{1,20}",
    re.I,
)
_TAG = re.compile(r"\[([^\[\]\d]{3,20})\]\s*")


def subject_word(text: str) -> Subject | None:
    """Return the subject in a short text such as `Biología`, `Section B: Physics`."""
    folded = unicodedata.normalize("NFD", text.lower())
    letters = "".join(c for c in folded if not unicodedata.combining(c))
    subjects = {_SUBJECT[word] for word in re.findall(r"[^\W\d_]+", letters) if word in _SUBJECT}
    return subjects.pop() if len(subjects) == 1 else None


def is_heading(text: str) -> bool:
    """Return whether a line is the heading of a section: `Section B`, `II、简答题`, `Química`."""
    if _SECTION.fullmatch(text):
        return True
    return len(text.split()) <= 3 and subject_word(text) is not None


def leading_tag(text: str) -> tuple[Subject | None, str]:
    """Return the subject of a tag such as `[Physics]` at the start of a statement, and the rest."""
    match = _TAG.match(text)
    subject = subject_word(match[1]) if match else None
    return (subject, text[match.end() :]) if match and subject else (None, text)
