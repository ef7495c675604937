"""A stranger's repository whose configuration names programs: no question to git runs one."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from omibench.files.programs import ask_git

STATUS = ("status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all")
LOG = ("log", "-1", "--format=%h of %as by %an", "--", "a.txt")
EMPTY_GIT = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}


def git(folder: Path, *words: str) -> str:
    """Git as anyone would start it."""
    parts = ("AUTHOR_NAME", "AUTHOR_EMAIL", "COMMITTER_NAME", "COMMITTER_EMAIL")
    who = {f"GIT_{part}": "a@b.c" for part in parts}
    done = subprocess.run(
        ["git", "-C", str(folder), *words], env={**os.environ, **EMPTY_GIT, **who},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one commit of `a.txt`, whose time stamp has changed since."""
    for name, value in EMPTY_GIT.items():
        monkeypatch.setenv(name, value)
    folder = tmp_path / "study"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    (folder / "a.txt").write_text("a\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "One")
    os.utime(folder / "a.txt", (1, 1))
    return folder


def program(folder: Path, then: str = "exec cat") -> str:
    """A program that leaves a trace and passes its input on."""
    path = folder.parent / "program.sh"
    path.write_text(f"#!/bin/sh\ntouch {folder.parent}/ran\n{then}\n")
    path.chmod(0o755)
    return str(path)


def set_fsmonitor(folder: Path) -> None:
    git(folder, "config", "core.fsmonitor", program(folder))


def set_filter(folder: Path, key: str = "clean", name: str = "a.b=c") -> None:
    git(folder, "config", f"filter.{name}.{key}", program(folder))
    git(folder, "config", f"filter.{name}.required", "true")
    (folder / ".git/info/attributes").write_text(f"*.txt filter={name}\n")


def set_process(folder: Path) -> None:
    set_filter(folder, "process")


def set_included_filter(folder: Path) -> None:
    (folder / "more.ini").write_text(f'[filter "x"]\n\tClean = {program(folder)}\n')
    git(folder, "config", "include.path", "../more.ini")
    (folder / ".git/info/attributes").write_text("*.txt filter=x\n")


def set_hook(folder: Path) -> None:
    hook = folder / ".git/hooks/post-index-change"
    hook.parent.mkdir(exist_ok=True)
    Path(program(folder)).rename(hook)


def set_signature(folder: Path) -> None:
    signed = git(folder, "cat-file", "commit", "HEAD").replace(
        "\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n", 1
    )
    done = subprocess.run(
        ["git", "-C", str(folder), "hash-object", "-t", "commit", "-w", "--stdin"],
        input=signed, capture_output=True, text=True, check=True,
    )  # fmt: skip
    git(folder, "update-ref", "HEAD", done.stdout.strip())
    git(folder, "config", "log.showSignature", "true")
    git(folder, "config", "gpg.program", program(folder))


def set_promisor(folder: Path) -> None:
    git(folder, "config", "extensions.partialClone", "origin")
    git(folder, "config", "core.repositoryFormatVersion", "1")
    git(folder, "config", "remote.origin.url", f"ext::{program(folder, 'exit 1')}")
    git(folder, "config", "remote.origin.promisor", "true")
    git(folder, "config", "protocol.ext.allow", "always")
    blob = git(folder, "rev-parse", "HEAD^{tree}").strip()
    (folder / f".git/objects/{blob[:2]}/{blob[2:]}").unlink()


@pytest.mark.parametrize(
    "attack",
    [set_fsmonitor, set_filter, set_process, set_included_filter, set_hook, set_signature,
     set_promisor],
)  # fmt: skip
def test_no_program_of_the_configuration_runs(
    repository: Path, attack: Callable[[Path], None]
) -> None:
    attack(repository)
    ran = repository.parent / "ran"
    for words in (("rev-parse", "--show-toplevel"), ("rev-parse", "HEAD"), STATUS, LOG):
        ask_git(repository, *words)
        assert not ran.exists(), words
    for words in (STATUS, LOG):
        git(repository, *words)
    assert ran.exists(), "the attack works on git as anyone starts it"


def test_its_answers_are_those_of_git(repository: Path) -> None:
    assert ask_git(repository, "rev-parse", "HEAD") == git(repository, "rev-parse", "HEAD").strip()
    assert ask_git(repository, *STATUS) == ""
    (repository / "a.txt").write_text("b\n")
    assert ask_git(repository, *STATUS) == "M a.txt"
    assert ask_git(repository.parent, "rev-parse", "HEAD") == ""


def test_git_is_asked_in_one_place(root: Path) -> None:
    files = [*(root / "src").rglob("*.py"), *(root / "workflows").rglob("*.py")]
    assert [str(f.relative_to(root)) for f in files if '"git"' in f.read_text("utf-8")] == [
        "src/omibench/files/programs.py"
    ]
