"""Papers that a manifest says where to get: whole and right, or not there at all."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.stages.ocr.conftest import exam

from omibench.errors import FileFormatError, PaperError
from omibench.params.stages.ocr import OcrParams
from omibench.schemas.problem import Problem
from omibench.schemas.tables import read_jsonl
from omibench.stages.ocr import read_papers
from omibench.stages.ocr.sources.files import fetch, strip_credentials
from omibench.stages.ocr.sources.manifest import load_manifest

PAPER = exam().tobytes(no_new_id=True)
DIGEST = hashlib.sha256(PAPER).hexdigest()


class Papers(BaseHTTPRequestHandler):
    """Gives the paper, moves it, loses it, breaks off, or fails twice before it gives it."""

    failures = 0

    def do_GET(self) -> None:
        kind = self.path.split("?")[0].strip("/")
        if kind == "moved":
            self.send_response(302)
            self.send_header("Location", "/paper.pdf")
            self.end_headers()
        elif kind == "gone":
            self.send_error(404)
        elif kind == "down" or (kind == "shaky" and self._fails()):
            self.send_error(503)
        else:
            self.send_response(200)
            self.send_header("Content-Length", str(len(PAPER)))
            self.end_headers()
            self.wfile.write(PAPER[:100] if kind == "broken" else PAPER)

    def _fails(self) -> bool:
        type(self).failures += 1
        return type(self).failures <= 2

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Papers) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{serving.server_address[1]}"
        serving.shutdown()


@pytest.mark.parametrize("name", ["paper.pdf", "moved", "shaky"])
def test_a_paper_arrives_whole(server: str, tmp_path: Path, name: str) -> None:
    path = tmp_path / "papers" / "a.pdf"
    fetch(path, f"{server}/{name}", DIGEST.upper(), tmp_path, pause_s=0)
    assert path.read_bytes() == PAPER
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    ("name", "digest", "code", "told"),
    [
        ("paper.pdf", "00" * 32, "sha256_mismatch", DIGEST),
        ("gone?token=secret", DIGEST, "download_failed", "HTTP 404 Not Found"),
        ("down", DIGEST, "download_failed", "HTTP 503"),
        ("broken", DIGEST, "download_failed", "bytes"),
    ],
)
def test_what_goes_wrong_is_told_in_one_line_and_leaves_nothing(
    server: str, tmp_path: Path, name: str, digest: str, code: str, told: str
) -> None:
    path = tmp_path / "a.pdf"
    with pytest.raises(PaperError, match=told) as error:
        fetch(path, f"{server}/{name}", digest, tmp_path, pause_s=0)
    assert error.value.code == code
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)
    assert "secret" not in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(PaperError, match=r"cannot be downloaded from http://127\.0\.0\.1:9/a\.pdf"):
        fetch(tmp_path / "a.pdf", "http://127.0.0.1:9/a.pdf", DIGEST, tmp_path, pause_s=0)


def test_a_paper_that_is_there_is_not_fetched_again(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_text("mine")
    fetch(path, "http://127.0.0.1:9/a.pdf", DIGEST, tmp_path)
    assert path.read_text() == "mine"


def test_secrets_in_an_address_are_not_shown() -> None:
    assert (
        strip_credentials("https://ada:pw@example.org/a.pdf?key=1#x") == "https://example.org/a.pdf"
    )


def test_a_manifest_brings_its_papers_and_one_that_fails_stops_no_other(
    server: str, tmp_path: Path
) -> None:
    manifest = tmp_path / "sources.yaml"
    manifest.write_text(
        f"""sources:
- {{name: a, paper: p/a.pdf, url: "{server}/paper.pdf", sha256: {DIGEST}}}
- {{name: b, paper: p/b.pdf, url: "{server}/gone", sha256: {DIGEST}}}
- {{name: c, paper: p/c.pdf, url: "{server}/paper.pdf", sha256: {"0f" * 32}}}
""",
        "utf-8",
    )
    report = read_papers([], tmp_path / "out", OcrParams(dpi=72), manifest=manifest)
    codes = [(file.source, file.codes) for file in report.files if file.status == "error"]
    assert codes == [("b", ["download_failed"]), ("c", ["sha256_mismatch"])]
    problems = list(read_jsonl(tmp_path / "out/problems.jsonl", Problem))
    assert [(p.id, p.source_sha256, p.language) for p in problems] == [
        ("a-1", DIGEST, "en"), ("a-2", DIGEST, "en"),
    ]  # fmt: skip
    assert [path.name for path in (tmp_path / "p").iterdir()] == ["a.pdf"]


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("url: 'https://x.org/a.pdf'", "a.pdf has no sha256"),
        ("url: 'ftp://x.org/a.pdf', sha256: " + DIGEST, "does not begin with http"),
        ("url: {b.pdf: 'https://x.org/b.pdf'}", "'b.pdf' is not a file of this source"),
        ("sha256: abc", r"sha256\.a\.pdf: String should match"),
    ],
)
def test_a_download_that_could_not_be_checked_is_a_mistake_of_the_manifest(
    tmp_path: Path, entry: str, told: str
) -> None:
    manifest = tmp_path / "sources.yaml"
    manifest.write_text(f"sources:\n- {{name: a, paper: a.pdf, {entry}}}", "utf-8")
    with pytest.raises(FileFormatError, match=told) as error:
        load_manifest(manifest)
    assert "\n" not in str(error.value)
