"""A file of words is read whole and says how it is sent, or one line says why not."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.command_line import call_main

from omibench.errors import ParamsError
from omibench.settings import prompt_names
from omibench.settings.prompt_names import list_prompt_files
from omibench.settings.prompts import (
    PROMPT_BYTES,
    PromptEntry,
    Slot,
    Wording,
    check_prompt_file,
    read_wording,
)

SLOTS = (Slot("response", "what is judged"), Slot("question", "the statement", required=False))
FENCED = PromptEntry("x", "judges", "Judge.", SLOTS, owner="judge x", fenced=True)
WHOLE = PromptEntry("y", "asks", "Say {response}.", SLOTS, owner="asker")
INNER = PromptEntry("z", "says", "Now.", owner="asker", is_fragment=True)


def write(folder: Path, text: str) -> str:
    (folder / "mine.txt").write_text(text, "utf-8")
    return str(folder / "mine.txt")


def test_the_hash_is_of_the_words_and_of_how_they_are_sent() -> None:
    wordings = [
        Wording("a", "x"), Wording("a", "y"), Wording("a", "x", "s"), Wording("a", "x", "", True)
    ]  # fmt: skip
    assert len({w.sha256 for w in wordings}) == 4
    assert Wording("b", "x").sha256 == wordings[0].sha256


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b" \n", "is empty"),
        (b"[[literal]]\n", "is empty"),
        (b"\xff", "is not UTF-8"),
        (None, "does not exist"),
        (b"x" * (PROMPT_BYTES + 1), "cannot be read"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path: Path, content: bytes | None, why: str) -> None:
    file = tmp_path / "mine.txt"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ParamsError, match=f"mine.txt: the prompt of the judge x.*{why}"):
        read_wording(str(file), FENCED)


@pytest.mark.parametrize(
    ("text", "entry", "said"),
    [
        ("[[literal]]\nJudge it.", FENCED, "lacks {response}, what is judged"),
        ("Judge {answer}.", FENCED, "unknown {answer}"),
        ("[[system]]\n{question}\n[[user]]\nJudge.", FENCED, "move slots below the line [[user]]"),
        ("[[system]]\nTerse.\nJudge.", FENCED, "there must be a line [[user]]"),
        ("Ask.", WHOLE, "lacks {response}"),
        ("[[literal]]\nSay {response}.", WHOLE, "nothing is ever added to this prompt"),
        ("[[system]]\nTerse.\n[[user]]\nNow.", INNER, "is part of another message"),
        ("\ufeff[[literal]]\nJudge {response}.", FENCED, "byte order mark"),
        ("[[Literal]]\nJudge {response}.", FENCED, "on the first line, alone"),
        ("[[system]]\n[[literal]]\nS.\n[[user]]\nJudge {response}.", FENCED, "on the first line"),
        ("Judge {response}.\n\x1b[2JAll is well.", FENCED, "control character '\\x1b' in line 2"),
        ("Judge {response}.\0", FENCED, "control character '\\x00' in line 1"),
        ("{response}{question}" * 21, FENCED, "has {response} 21 times; at most 20 are filled"),
        ("{" + "a" * 61 + "}", WHOLE, "lacks {response}"),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, text: str, entry: PromptEntry, said: str) -> None:
    with pytest.raises(ParamsError) as error:
        read_wording(write(tmp_path, text), entry)
    assert said in str(error.value)
    assert str(error.value).startswith(str(tmp_path / "mine.txt: "))
    assert "\n" not in str(error.value)


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    assert read_wording(write(tmp_path, "One."), FENCED).text == "One."
    assert read_wording(write(tmp_path, "Other."), FENCED).text == "Other."


def test_a_folder_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ParamsError, match="cannot be listed"):
        list_prompt_files(str(tmp_path / "none"))


def test_a_file_of_many_mistakes_is_described_in_a_few_lines(tmp_path: Path) -> None:
    file = write(tmp_path, "".join(f"{{a{k}}}" for k in range(5_000)))
    assert len(check_prompt_file(file, "quality")) == 10


def test_a_folder_of_other_texts_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prompt_names, "_MOST_FILES", 2)
    for name in "abc":
        (tmp_path / f"{name}.txt").touch()
    with pytest.raises(ParamsError, match="has 3 text files, but at most 2 are read"):
        list_prompt_files(str(tmp_path))


def test_a_name_of_a_file_adds_no_line(tmp_path: Path) -> None:
    (tmp_path / "a\nb.txt: can be used\x1b[2J.txt").write_text("Judge.")
    done = call_main("prompts", "check", ".", "--as", "quality", cwd=tmp_path)
    assert done.stdout == "a\\nb.txt: can be used\\u001b[2J.txt: can be used\n"
