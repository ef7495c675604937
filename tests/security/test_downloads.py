"""A manifest of strangers: its papers are files, and downloads stay in its folder and end."""

from __future__ import annotations

import hashlib
import itertools
import os
import time
from collections.abc import Callable, Iterator
from itertools import repeat
from pathlib import Path
from urllib.request import Request

import pytest
from tests.security.hostile import Answer, Hostile, drip, drip_head, hostile

from omibench.errors import FileFormatError, PaperError
from omibench.params.stages.ocr import OcrParams
from omibench.stages.ocr import read_papers
from omibench.stages.ocr.sources.files import RefusedError, _Redirects, check_bytes, fetch
from omibench.stages.ocr.sources.manifest import load_manifest

CODE = b"open('/tmp/owned', 'w')\n"
DIGEST = hashlib.sha256(CODE).hexdigest()


def send_on(to: str) -> Answer:
    return Answer(302, {"Location": to})


COUNT = itertools.count()
REPLIES: dict[str, Callable[[], Answer]] = {
    "code": lambda: Answer(headers={"Content-Length": str(len(CODE))}, pieces=[CODE]),
    "drip": lambda: Answer(pieces=drip(20)),
    "head": lambda: Answer(0, {}, drip_head(20)),
    "grow": lambda: Answer(pieces=repeat(bytes(2**16))),
    "big": lambda: Answer(headers={"Content-Length": str(2**40)}),
    "file": lambda: send_on("file:///etc/hostname"),
    "ftp": lambda: send_on("ftp://127.0.0.1:9/a.pdf"),
    "circle": lambda: send_on(f"/circle/{next(COUNT)}"),
}
"""What comes by the path: code, what drips or grows for ever, a lie about its length, a way out."""


@pytest.fixture(scope="module")
def server() -> Iterator[Hostile]:
    with hostile(lambda got: REPLIES[got.path.split("/")[1]]()) as serving:
        yield serving


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


def test_a_link_that_leads_out_is_not_followed(server: Hostile, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "in/p").symlink_to(tmp_path / "out")
    source = manifest(tmp_path / "in", "p/new/a.pdf", f"{server.url}/code")
    report = read_papers([], tmp_path / "results", OcrParams(), manifest=source)
    assert report.files[0].codes == ["download_failed"]
    assert list((tmp_path / "out").iterdir()) == []


def test_what_is_no_paper_gets_no_name_although_its_hash_is_right(
    server: Hostile, tmp_path: Path
) -> None:
    source = manifest(tmp_path, "p/a.pdf", f"{server.url}/code")
    report = read_papers([], tmp_path / "results", OcrParams(), manifest=source)
    assert report.files[0].codes == ["not_a_pdf"]
    assert list((tmp_path / "p").iterdir()) == []


@pytest.mark.parametrize("kind", ["drip", "head"])
def test_a_server_that_drips_is_given_up_in_time(
    server: Hostile, tmp_path: Path, kind: str
) -> None:
    began = time.monotonic()
    with pytest.raises(PaperError, match="not complete in time") as error:
        fetch(tmp_path / "a.pdf", f"{server.url}/{kind}", DIGEST, tmp_path, total_s=1.0)
    assert error.value.code == "download_failed"
    assert time.monotonic() - began < 10
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["grow", "big"])
def test_a_reply_without_end_is_cut_and_not_asked_for_again(
    server: Hostile, tmp_path: Path, kind: str
) -> None:
    asked = len(server.got)
    with pytest.raises(PaperError, match="more than 1 MiB"):
        fetch(
            tmp_path / "a.pdf", f"{server.url}/{kind}", DIGEST, tmp_path, max_bytes=2**20, pause_s=0
        )
    assert len(server.got) == asked + 1
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
    server: Hostile, tmp_path: Path, kind: str, told: str
) -> None:
    with pytest.raises(PaperError, match=told):
        fetch(tmp_path / "a.pdf", f"{server.url}/{kind}", DIGEST, tmp_path, pause_s=0)
    assert list(tmp_path.iterdir()) == []


def test_a_redirect_never_leaves_https(server: Hostile) -> None:
    def follow(old: str, new: str) -> Request | None:
        return _Redirects().redirect_request(Request(old), None, 302, "", {}, new)  # type: ignore[arg-type]

    with pytest.raises(RefusedError, match="from https to http"):
        follow("https://a.org/x", "http://a.org/x")
    with pytest.raises(RefusedError, match="neither"):
        follow("https://a.org/x", "file:///etc/passwd")
    assert follow("http://a.org/x", "https://b.org/y") is not None


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "link to a device"])
def test_what_is_no_file_is_not_waited_for(tmp_path: Path, kind: str) -> None:
    paper = tmp_path / "exam.pdf"
    if kind == "pipe":
        os.mkfifo(paper)
    elif kind == "folder":
        paper.mkdir()
    else:
        paper.symlink_to("/dev/zero")
    with pytest.raises(PaperError) as error:
        check_bytes(Path("/dev/zero") if kind == "device" else paper)
    assert error.value.code == "file_missing"


def test_the_other_papers_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "exam.pdf")
    report = read_papers([tmp_path / "exam.pdf"], tmp_path / "out", OcrParams(timeout_s=20))
    assert report.files[0].codes == ["file_missing"]
