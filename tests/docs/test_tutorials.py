"""Every command of the start page and the tutorials runs, in the order of its page.

With the packages that the install line of the page gives: all others are hidden.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
import yaml
from tests.docs.hidden import hide_others
from tests.docs.tutorial import Step, read_extras, read_steps

from model_server.handle import running_server

PAGES = ("start", "tutorials/papers", "tutorials/endpoint", "tutorials/responses")
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+\S*")


class Reader:
    """Somebody who follows a page in a folder of their own, with no key and no network."""

    def __init__(
        self,
        folder: Path,
        endpoint: str | None = None,
        programs: Path | None = None,
        limit: int | None = None,
    ) -> None:
        self.folder, self.endpoint, self.limit = folder, endpoint, limit
        self.is_fresh = programs is not None
        own = programs or Path(sys.executable).parent
        self.env = {k: v for k, v in os.environ.items() if not k.endswith("_API_KEY")}
        self.env |= {"PATH": f"{own}{os.pathsep}{self.env['PATH']}", "BROWSER": "true"}

    def follow(self, page: Path) -> list[str]:
        """Do what a page says; what its commands print, one text a block."""
        if not self.is_fresh:
            hidden = hide_others(self.folder / ".hidden", read_extras(page))
            paths = [str(hidden), os.environ.get("PYTHONPATH", "")]
            self.env["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        return [self.do(step) for step in read_steps(page)]

    def do(self, step: Step) -> str:
        """Write the file of a block, or run its commands."""
        if step.file:
            text = step.text
            if self.endpoint:
                text = text.replace("http://127.0.0.1:8000/v1", self.endpoint)
            (self.folder / step.file).write_text(text, "utf-8")
            return ""
        if step.edit:
            self.edit(step.edit)
        return "".join(map(self.serve if step.serves else self.run, step.commands))

    def edit(self, change: str) -> None:
        """Change a key of params.yaml."""
        keys, _, value = change.partition(": ")
        path = self.folder / "params.yaml"
        params = yaml.safe_load(path.read_text("utf-8"))
        *outer, last = keys.split(".")
        block = params
        for key in outer:
            block = block[key]
        assert block[last] != yaml.safe_load(value)
        block[last] = yaml.safe_load(value)
        path.write_text(yaml.safe_dump(params, sort_keys=False), "utf-8")

    def run(self, command: str) -> str:
        """Run one command as a shell would; `cd` and `export` hold for those after it."""
        if command.startswith("cd "):
            self.folder /= command.removeprefix("cd ")
            return ""
        if command.startswith("export "):
            name, _, value = command.removeprefix("export ").partition("=")
            self.env[name] = value
            return ""
        done = subprocess.run(
            command, shell=True, cwd=self.folder, env=self.env, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=280,
        )  # fmt: skip
        assert done.returncode == 0, f"{command}\n{done.stdout}"
        if self.limit and command.startswith("omibench init "):
            self.limit_problems(self.folder / command.split()[2] / "params.yaml", self.limit)
        return done.stdout

    def limit_problems(self, path: Path, limit: int) -> None:
        """Have a new study ask so many problems: the commands stay those of the page."""
        params = yaml.safe_load(path.read_text("utf-8"))
        params["study"]["limit"] = limit
        path.write_text(yaml.safe_dump(params, sort_keys=False), "utf-8")

    def serve(self, command: str) -> str:
        """Start a server, read its first page, and end it as Ctrl-C does."""
        words = [*command.split(), "--port", "0"]
        with subprocess.Popen(
            words, cwd=self.folder, env=self.env, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
        ) as server:  # fmt: skip
            assert server.stdout is not None
            try:
                address = next(m[0] for line in server.stdout if (m := _ADDRESS.search(line)))
                text = read_page(address)
            finally:
                os.killpg(server.pid, signal.SIGINT)
            server.wait(60)
        return text


def read_page(address: str) -> str:
    """The page that a browser gets at an address on this machine, also one that asks to log in."""
    asked = urllib.request.Request(address, headers={"Accept": "text/html"})
    try:
        with urllib.request.urlopen(asked, timeout=60) as page:
            return str(page.read().decode())
    except urllib.error.HTTPError as page:
        return page.read().decode()


def copy_booklets(root: Path, folder: Path) -> None:
    """Put two of the sample's booklets into `papers/`."""
    (folder / "papers").mkdir()
    for name in ("physics", "biology"):
        for file in (f"{name}.pdf", f"{name}_key.pdf"):
            shutil.copyfile(root / "sample/papers" / file, folder / "papers" / file)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    """Two of the sample's booklets, as a reader has put papers into a folder."""
    place = tmp_path_factory.mktemp("reader")
    copy_booklets(root, place)
    return place


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_from_papers_to_a_dataset_to_a_table(folder: Path, root: Path) -> None:
    texts = Reader(folder).follow(root / "docs/tutorials/papers.md")
    assert any("kept" in text and "rejected" in text for text in texts)
    study = folder / "regional"
    assert (study / "dataset/manifest.json").is_file()
    assert (study / "looks/physics.html").is_file()
    with running_server(letters=True) as endpoint:
        texts = Reader(study, endpoint.openai_url).follow(root / "docs/tutorials/endpoint.md")
    assert "my-model" in texts[-1]
    assert (study / "my-table/results/analyze/report.html").is_file()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_start_page_leads_to_a_report(tmp_path: Path, root: Path) -> None:
    texts = Reader(tmp_path, limit=299).follow(root / "docs/start.md")
    report = tmp_path / "first-study/results-simulated/analyze/report.html"
    assert "SIMULATED" in report.read_text("utf-8")
    assert any("<html" in text for text in texts), "the explorer has answered"
    assert "0 requests" not in texts[-1]


@pytest.mark.slow
def test_response_files_get_certified_scores(tmp_path: Path, root: Path) -> None:
    texts = Reader(tmp_path).follow(root / "docs/tutorials/responses.md")
    assert any("66.7" in text or "4 of 6" in text for text in texts), texts
    assert (tmp_path / "certify/certificate.json").is_file()


@pytest.mark.slow
def test_the_demonstration_opens(tmp_path: Path, root: Path) -> None:
    (text,) = Reader(tmp_path).follow(root / "docs/tutorials/reviewers.md")
    assert "<html" in text


def test_every_block_of_commands_is_run(root: Path) -> None:
    pages = [root / "docs/start.md", *sorted((root / "docs/tutorials").glob("*.md"))]
    named = {*PAGES, "tutorials/reviewers"}
    assert {p.relative_to(root / "docs").with_suffix("").as_posix() for p in pages} == named
    for page in pages:
        assert [*read_steps(page)]
