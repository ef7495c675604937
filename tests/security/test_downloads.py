"""A manifest of strangers: what it downloads stays in its folder, is a paper, and ends."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.request import Request

import pytest

from omibench.errors import FileFormatError, PaperError
from omibench.params.stages.ocr import OcrParams
from omibench.stages.ocr import read_papers
from omibench.stages.ocr.sources.files import RefusedError, _Redirects, fetch
from omibench.stages.ocr.sources.manifest import load_manifest

CODE = b"open('/tmp/owned', 'w')\n"
DIGEST = hashlib.sha256(CODE).hexdigest()


class Hostile(BaseHTTPRequestHandler):
    """Gives code, drips for ever, grows for ever, lies about its length, leads elsewhere."""

    asked = 0

    def do_GET(self) -> None:
        type(self).asked += 1
        kind = self.path.strip("/").partition("/")[0]
        try:
            getattr(self, f"_{kind}")()
        except OSError:
            self.close_connection = True

    def _code(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(CODE)))
        self.end_headers()
        self.wfile.write(CODE)

    def _drip(self) -> None:
        self.send_response(200)
        self.end_headers()
        self._for_ever(b"x", 0.02)

    def _head(self) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\n")
        self._for_ever(b"X", 0.02)

    def _grow(self) -> None:
        self.send_response(200)
        self.end_headers()
        self._for_ever(bytes(2**16), 0)

    def _big(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(2**40))
        self.end_headers()

    def _file(self) -> None:
        self.send_response(302)
        self.send_header("Location", "file:///etc/hostname")
        self.end_headers()

    def _ftp(self) -> None:
        self.send_response(302)
        self.send_header("Location", "ftp://127.0.0.1:9/a.pdf")
        self.end_headers()

    def _circle(self) -> None:
        self.send_response(302)
        self.send_header("Location", self.path + "/x")
        self.end_headers()

    def _for_ever(self, block: bytes, pause_s: float) -> None:
        until = time.monotonic() + 20
        while time.monotonic() < until:
            self.wfile.write(block)
            self.wfile.flush()
            time.sleep(pause_s)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    ThreadingHTTPServer.daemon_threads = True
    with ThreadingHTTPServer(("127.0.0.1", 0), Hostile) as serving:
        serving.block_on_close = False
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{serving.server_address[1]}"
        serving.shutdown()


def manifest(folder: Path, name: str, url: str) -> Path:
    path = folder / "sources.yaml"
    path.write_text(f"sources:\n- {{name: a, paper: {name}, url: '{url}', sha256: {DIGEST}}}\n")
    return path


@pytest.mark.parametrize("name", ["../a.pdf", "p/../../a.pdf", "/tmp/omibench-a.pdf"])
def test_a_manifest_writes_nothing_outside_of_its_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "in").mkdir()
    with pytest.raises(FileFormatError, match=r"sources\.yaml, line 2: .*outside of the manifest"):
        load_manifest(manifest(tmp_path / "in", name, "https://x.org/a.pdf"))


@pytest.mark.parametrize("name", ["pydantic.py", "a.pdf.pth", "conftest", ".bashrc", "a.PDF.so"])
def test_a_download_has_the_name_of_a_paper(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileFormatError, match=r"the suffix is none of \.pdf, \.png, \.jpg, \.jpeg"):
        load_manifest(manifest(tmp_path, name, "https://x.org/a.pdf"))


def test_a_link_that_leads_out_is_not_followed(server: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "in/p").symlink_to(tmp_path / "out")
    source = manifest(tmp_path / "in", "p/new/a.pdf", f"{server}/code")
    report = read_papers([], tmp_path / "results", OcrParams(), manifest=source)
    assert report.files[0].codes == ["download_failed"]
    assert list((tmp_path / "out").iterdir()) == []


def test_what_is_no_paper_gets_no_name_although_its_hash_is_right(
    server: str, tmp_path: Path
) -> None:
    source = manifest(tmp_path, "p/a.pdf", f"{server}/code")
    report = read_papers([], tmp_path / "results", OcrParams(), manifest=source)
    assert report.files[0].codes == ["not_a_pdf"]
    assert list((tmp_path / "p").iterdir()) == []


@pytest.mark.parametrize("kind", ["drip", "head"])
def test_a_server_that_drips_is_given_up_in_time(server: str, tmp_path: Path, kind: str) -> None:
    began = time.monotonic()
    with pytest.raises(PaperError, match="not complete in time") as error:
        fetch(tmp_path / "a.pdf", f"{server}/{kind}", DIGEST, tmp_path, total_s=1.0)
    assert error.value.code == "download_failed"
    assert time.monotonic() - began < 10
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["grow", "big"])
def test_a_reply_without_end_is_cut_and_not_asked_for_again(
    server: str, tmp_path: Path, kind: str
) -> None:
    asked = Hostile.asked
    with pytest.raises(PaperError, match="more than 1 MiB"):
        fetch(tmp_path / "a.pdf", f"{server}/{kind}", DIGEST, tmp_path, max_bytes=2**20, pause_s=0)
    assert Hostile.asked == asked + 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("file", "HTTP 302"),
        ("ftp", "redirects to 'ftp', which is neither http nor https"),
        ("circle", "HTTP 302"),
    ],
)
def test_redirects_lead_to_http_alone_and_end(
    server: str, tmp_path: Path, kind: str, told: str
) -> None:
    with pytest.raises(PaperError, match=told):
        fetch(tmp_path / "a.pdf", f"{server}/{kind}", DIGEST, tmp_path, pause_s=0)
    assert list(tmp_path.iterdir()) == []


def test_a_redirect_never_leaves_https(server: str) -> None:
    def follow(old: str, new: str) -> Request | None:
        return _Redirects().redirect_request(Request(old), None, 302, "", {}, new)  # type: ignore[arg-type]

    with pytest.raises(RefusedError, match="from https to http"):
        follow("https://a.org/x", "http://a.org/x")
    with pytest.raises(RefusedError, match="neither"):
        follow("https://a.org/x", "file:///etc/passwd")
    assert follow("http://a.org/x", "https://b.org/y") is not None
