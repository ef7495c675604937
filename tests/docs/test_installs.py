"""The install line of a page installs what the commands of that page need.

From the wheel, in a fresh environment; skipped where pip reaches no package registry.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from tests.docs.test_tutorials import Reader, copy_booklets
from tests.docs.tutorial import read_extras

from model_server.handle import running_server

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
BASE_MB = 350
"""The base install without pip, as `pip install --no-compile` of the page leaves it."""


def run_quietly(*words: str | Path) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(words, env=env, text=True, capture_output=True, check=False, timeout=800)


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation")
    done = run_quietly(*pip, "--wheel-dir", folder, root)
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("omibench-*.whl")
    return built


@pytest.fixture(scope="module")
def pins(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The versions of the requirements without their hashes, as constraints."""
    text = (root / "requirements-dev.txt").read_text("utf-8")
    file = tmp_path_factory.mktemp("pins") / "pins.txt"
    file.write_text("\n".join(re.findall(r"(?m)^[A-Za-z0-9._-]+==[^\\\n]+", text)), "utf-8")
    return file


def install(folder: Path, wheel: Path, extras: str, pins: Path) -> Path:
    """The folder of programs of a fresh environment with omibench and these extras."""
    venv.create(folder, with_pip=True)
    programs = folder / "bin"
    pip = (programs / "python", "-m", "pip")
    reached = run_quietly(*pip, "download", "--quiet", "--no-deps", "-d", folder, "platformdirs")
    if reached.returncode:
        pytest.skip("pip reaches no package registry")
    words = ("install", "--quiet", "--no-compile", "--constraint", pins, f"{wheel}{extras}")
    done = run_quietly(*pip, *words)
    assert done.returncode == 0, done.stderr
    return programs


def test_the_base_scores_and_certifies(
    tmp_path: Path, root: Path, wheel: Path, pins: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = root / "docs/tutorials/responses.md"
    programs = install(tmp_path / "env", wheel, read_extras(page), pins)
    packages = next((tmp_path / "env").glob("lib/*/site-packages"))
    size = sum(
        file.stat().st_size
        for file in packages.rglob("*")
        if file.is_file() and file.relative_to(packages).parts[0].partition("-")[0] != "pip"
        and "__pycache__" not in file.parts
    )  # fmt: skip
    assert size < BASE_MB * 1e6
    monkeypatch.delenv("PYTHONPATH", raising=False)
    folder = tmp_path / "reader"
    folder.mkdir()
    reader = Reader(folder, programs=programs)
    texts = reader.follow(page)
    assert any("66.7" in text or "4 of 6" in text for text in texts), texts
    for command, extra in (
        ("omibench ocr x.pdf --out x", "pdf"),
        ("omibench run", "workflow"),
        ("omibench review serve --demo", "review"),
        ("omibench explore .", "web"),
    ):
        done = subprocess.run(
            command.split(), cwd=folder, env=reader.env, text=True, capture_output=True,
            check=False, timeout=60,
        )  # fmt: skip
        assert done.returncode != 0, command
        assert f"pip install 'omibench[{extra}]'" in done.stderr, (command, done.stderr)
        assert "Traceback" not in done.stderr


@pytest.mark.long
def test_the_demonstration_opens(
    tmp_path: Path, root: Path, wheel: Path, pins: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = root / "docs/tutorials/reviewers.md"
    programs = install(tmp_path / "env", wheel, read_extras(page), pins)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    (text,) = Reader(tmp_path, programs=programs).follow(page)
    assert "<html" in text


@pytest.mark.long
def test_the_start_page_leads_to_a_report(
    tmp_path: Path, root: Path, wheel: Path, pins: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = root / "docs/start.md"
    programs = install(tmp_path / "env", wheel, read_extras(page), pins)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    texts = Reader(tmp_path, programs=programs, limit=100).follow(page)
    report = tmp_path / "first-study/results-simulated/analyze/report.html"
    assert "SIMULATED" in report.read_text("utf-8")
    assert any("<html" in text for text in texts)


@pytest.mark.long
def test_papers_become_a_dataset_in_one_environment_and_a_table_in_another(
    tmp_path: Path, root: Path, wheel: Path, pins: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    papers, endpoint = root / "docs/tutorials/papers.md", root / "docs/tutorials/endpoint.md"
    building = install(tmp_path / "building", wheel, read_extras(papers), pins)
    evaluating = install(tmp_path / "evaluating", wheel, read_extras(endpoint), pins)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    copy_booklets(root, tmp_path)
    Reader(tmp_path, programs=building).follow(papers)
    study = tmp_path / "regional"
    assert (study / "dataset/manifest.json").is_file()
    with running_server(letters=True) as server:
        Reader(study, server.openai_url, evaluating).follow(endpoint)
    assert (study / "my-table/results/analyze/report.html").is_file()
