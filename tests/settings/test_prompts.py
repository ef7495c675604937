"""Built-in prompts keep the published triggers; a file can replace any of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from omibench.errors import ParamsError
from omibench.settings.present import load_prompt

BOX = 'and then provide the final answer in the exact format: "\\boxed{ANSWER}".'


def test_a_prompt_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("Look.\n{question}\n\n{choices}\n")
    prompt = load_prompt(str(tmp_path / "mine.txt"))
    assert prompt.mcq == prompt.open == "Look.\n{question}\n\n{choices}"


def test_an_unknown_prompt_names_the_nearest() -> None:
    with pytest.raises(
        ParamsError, match="prompt 'cott' is neither a built-in prompt nor a file; did you"
    ):
        load_prompt("cott")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no slot", "lacks {question}"),
        ("{question} {question}", "a prompt contains"),
        ("{question}{choices}{choices}", "a prompt contains"),
    ],
)
def test_a_file_without_its_slots_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "bad.txt").write_text(text)
    with pytest.raises(ParamsError, match=said):
        load_prompt(str(tmp_path / "bad.txt"))


def test_a_system_message_goes_with_problems_of_both_kinds(tmp_path: Path) -> None:
    both, terse, other = (
        f"{system}{{question}}"
        for system in ("", "[[system]]\nTerse.\n[[user]]\n", "[[system]]\nKind.\n[[user]]\n")
    )
    files = {name: str(tmp_path / f"{name}.txt") for name in ("emma-cot", "emma-cot-open")}

    def load(with_choices: str, without: str) -> str:
        for file, text in zip(files.values(), (with_choices, without), strict=True):
            Path(file).write_text(text)
        return load_prompt("emma-cot", files).system

    assert load(terse, both) == load(terse, terse) == "Terse."
    for with_choices, without in ((both, terse), (terse, other)):
        with pytest.raises(ParamsError, match=r"emma-cot-open\.txt: its system message differs"):
            load(with_choices, without)
