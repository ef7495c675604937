"""What is printed of others' names and texts commands no terminal and forges no line."""

from __future__ import annotations

import ast
import logging
import subprocess
import sys
from pathlib import Path

import pytest
from tests.stages.ocr.conftest import exam

from command_line import call_main
from omibench.cli import main as command_line
from omibench.errors import FileFormatError, OmibenchError, PaperError, UntrustedError
from omibench.schemas.verdict import ScoredItem
from omibench.study.explain import explain

EVIL = "a\x1b[2J\x1b]0;owned\x07\nomibench: all papers are sound\r\u202efdp.pdf"
COMMANDS = {"\x1b", "\x07", "\r", "\u202e"}


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[bytes]:
    omibench = str(Path(sys.executable).with_name("omibench"))
    return subprocess.run([omibench, *words], cwd=folder, capture_output=True, check=False)


def assert_harmless(text: str) -> None:
    assert not set(text) & COMMANDS, text
    assert not any(line.startswith("omibench: all papers") for line in text.splitlines()), text


@pytest.mark.slow
def test_the_name_of_a_paper_is_shown_as_it_is(tmp_path: Path) -> None:
    (tmp_path / EVIL).write_bytes(exam().tobytes())
    (tmp_path / "b\x1b[8m\n.pdf").write_bytes(b"no pdf")
    done = run(tmp_path, "ocr", EVIL, "b\x1b[8m\n.pdf", "--out", "out")
    assert done.returncode == 3
    assert_harmless((done.stderr + done.stdout).decode("utf-8"))
    assert b"a\\u001b[2J\\u001b]0;owned\\u0007\\nomibench: all papers" in done.stderr
    assert b"not_a_pdf: b\\u001b[8m\\n.pdf" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("ocr", EVIL, "--out", "out"),
        ("ocr", "--manifest", EVIL, "--out", "out"),
        ("filter", EVIL, "--out", "out", "--params", "{}"),
        ("plan", EVIL),
        ("score", EVIL, "--scorer", "robust", "--out", "v.parquet"),
        ("ocr", f"--{EVIL}", "--out", "out"),
        (EVIL,),
    ],
)
def test_errors_about_names_are_harmless(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = call_main(*words, cwd=tmp_path)
    assert done.returncode in (2, 3)
    assert_harmless(done.stderr + done.stdout)
    assert "\\u001b[2J" in done.stderr or "\\x1b[2J" in done.stderr


def test_every_error_of_ours_is_printable() -> None:
    assert str(FileFormatError(f"{EVIL}: bad")).count("\n") == 0
    assert not set(str(PaperError("x", EVIL))) & COMMANDS
    assert UntrustedError("two things:", EVIL, "end").lines[1].startswith("a\\u001b")
    assert str(UntrustedError("a", "b\nc")) == "a\nb\\nc"
    assert str(OmibenchError("gr\u00f6\u00dfer")) == "größer"


def test_a_traceback_is_harmless(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken() -> None:
        logging.getLogger("omibench.test").warning("log %s", EVIL)
        raise ZeroDivisionError(EVIL)

    monkeypatch.setattr(command_line, "make_app", lambda *_: broken)
    with pytest.raises(SystemExit) as ended:
        command_line.main()
    assert ended.value.code == 1
    said = capsys.readouterr().err
    assert "ZeroDivisionError: a\\u001b[2J" in said
    assert not set(said) & COMMANDS


def test_an_explanation_shows_the_id_on_one_line() -> None:
    item = ScoredItem.model_validate(
        {
            "id": EVIL,
            "gold": ["1"],
            "answer_type": "open",
            "prediction": "\\boxed{1}\x1b[2J",
            "outcome": "answered",
        }
    )
    assert not set(explain(item, ["robust"])) & COMMANDS
    assert "\nomibench: all" not in explain(item, ["robust"])


def test_all_that_is_printed_goes_one_way(root: Path) -> None:
    """`print`, `typer.echo` and writing to a stream are for `text.terminal` and workers."""
    own = (
        "terminal.py",  # the one way
        "worker.py", "ocr/sources/files.py", "page_pictures.py",  # JSON to their parents
        "models/code/inside.py",  # in the sandbox, where the parent reads what is printed
        "plots_page.py",  # a page, to a file
        "watch.py",  # clears the screen
        "glyphtex/command.py",  # a program of its own, without anything of omibench
    )  # fmt: skip
    odd = []
    for path in [*(root / "src").rglob("*.py"), *(root / "workflows").glob("*.py")]:
        text = path.read_text("utf-8")
        if path.as_posix().endswith(own) or not any(
            word in text for word in ("print(", "echo(", "secho(", "write(")
        ):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                if called in ("print", "typer.echo", "typer.secho", "click.echo") or (
                    called.endswith(("stderr.write", "stdout.write"))
                ):
                    odd.append(f"{path.name}:{node.lineno}: {called}")
    assert odd == []
