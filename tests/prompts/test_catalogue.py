"""Every prompt of the catalogue can be replaced, and no words are sent that it does not hold."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import omibench
from omibench.answers.judges.instrument import RULES_OF_MATERIAL
from omibench.params.study import parse_study
from omibench.schemas.request import TextPart
from omibench.settings.prompt_names import prompt_homes
from omibench.settings.prompts import find_prompt
from prompts.senders import SENDERS, write_params

PACKAGE = Path(omibench.__file__).parent
MARK = "Speak like a heron."
WORDS = 7
"""So many words in a row are a sentence of a prompt."""


def sentences(text: str) -> list[str]:
    """The sentences of a prompt that are long enough to be told from others."""
    words = re.sub(r"\{[a-z_]+\}", "\n", text)
    lines = [part.strip() for line in words.splitlines() for part in line.split(". ")]
    return [line for line in lines if len(line.split()) >= WORDS]


def text_of(conversation: object) -> str:
    messages = conversation.messages  # type: ignore[attr-defined]
    return "\n".join(p.text for m in messages for p in m.parts if isinstance(p, TextPart))


@pytest.fixture
def problem_folder(tmp_path: Path) -> Path:
    from PIL import Image

    (tmp_path / "frozen/images").mkdir(parents=True)
    for name in "ab":
        Image.new("RGB", (40, 30), "white").save(tmp_path / f"frozen/images/{name}.png")
    return tmp_path / "frozen"


def test_a_sender_is_known_of_every_prompt() -> None:
    assert SENDERS.keys() == prompt_homes().keys()


@pytest.mark.parametrize("name", prompt_homes())
def test_a_file_takes_the_place_of_a_prompt(
    name: str, tmp_path: Path, problem_folder: Path
) -> None:
    entry = find_prompt(name)
    assert entry.name == name
    assert entry.purpose
    assert entry.owner
    built_in = text_of(SENDERS[name](parse_study(write_params(None), "test"), problem_folder))
    folder = tmp_path / "wordings"
    folder.mkdir()
    slots = " ".join(f"{{{slot.name}}}" for slot in entry.slots if slot.required)
    (folder / f"{name}.txt").write_text(f"{MARK} {slots}".strip())
    study = parse_study(write_params(folder), "test")
    replaced = text_of(SENDERS[name](study, problem_folder))
    assert MARK not in built_in
    assert MARK in replaced
    missing = [line for line in sentences(entry.text) if line not in built_in]
    kept = [line for line in sentences(entry.text) if line in replaced]
    assert not missing
    assert not kept


def test_without_a_file_the_catalogue_holds_what_is_sent(problem_folder: Path) -> None:
    entry = find_prompt("alignment")
    sent = text_of(SENDERS["alignment"](parse_study(write_params(None), "test"), problem_folder))
    assert sent.startswith(f"{entry.text}\n\n{RULES_OF_MATERIAL}")
    assert sent.endswith(entry.closing)


EXEMPT = {
    "study.plan.probe": "asks whether a model answers at all, and no study keeps the answer",
}
"""Modules whose words are no prompt of a study."""
MESSAGES = (
    "the reply does not hold the sections that were asked",
    'it is no object {"name": ..., "arguments": ...}',
    ": without: [question]: {} neither choices nor remaining pictures",
    "problems have no description of a figure and are sent with their text alone; the first is",
)
"""Texts of errors and warnings that stand beside words that are sent."""
NOT_SENT = {"POINTS": "what a vote against a problem says in its evidence"}
"""Constants that are shown to people alone."""


def modules_that_write() -> Iterator[Path]:
    """Modules that make messages or judges."""
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text("utf-8")
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        if name not in EXEMPT and re.search(r"\b(TextPart|Instrument|Prompt)\(", text):
            yield path


def constants(tree: ast.AST) -> Iterator[str]:
    """Texts in code, but for docstrings, errors, logs and descriptions of prompts."""
    aside: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            aside.add(id(node.value))
        outside = isinstance(node, ast.Raise)
        if isinstance(node, ast.Assign):
            outside = any(ast.unparse(target) in NOT_SENT for target in node.targets)
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            outside = called.startswith(("log.", "Slot")) or called.endswith("Error")
        if isinstance(node, ast.keyword):
            outside = node.arg in ("purpose", "source")
        if outside:
            aside |= {id(inner) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in aside:
            yield node.value.replace("{{", "{").replace("}}", "}")


@pytest.mark.parametrize(
    "path", list(modules_that_write()), ids=lambda p: str(p.relative_to(PACKAGE))
)
def test_no_module_sends_words_that_the_catalogue_lacks(path: Path) -> None:
    held = RULES_OF_MATERIAL + "".join(
        f"{find_prompt(name).text}\n{find_prompt(name).closing}\n" for name in prompt_homes()
    )
    sent = [s for text in constants(ast.parse(path.read_text("utf-8"))) for s in sentences(text)]
    assert [line for line in sent if line not in held and not line.startswith(MESSAGES)] == []
