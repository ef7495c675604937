"""What is read is a regular file of a known size, whatever stands at its path."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from omibench.errors import FileFormatError, MissingInputError
from omibench.files.reading import open_regular, read_bytes, read_csv, read_text, resolve_within


def test_a_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"\xef\xbb\xbfgr\xc3\xbc\xc3\x9fe")
    assert read_text(file) == "grüße"
    assert read_bytes(file) == file.read_bytes()


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(MissingInputError, match=r"pipe: cannot be read: it is a named pipe"):
        read_bytes(tmp_path / "pipe")


@pytest.mark.parametrize(("path", "kind"), [("/dev/zero", "a device"), ("/tmp", "a folder")])
def test_devices_and_folders_are_refused(path: str, kind: str) -> None:
    with pytest.raises(MissingInputError, match=f"it is {kind}, not a file"):
        open_regular(path)


def test_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket has at most 108 characters
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("s")
        with pytest.raises(MissingInputError, match="s: cannot be read"):
            read_bytes("s")


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "holes").open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(FileFormatError, match=r"holes: has 1099\.5 GB, but at most 1\.1 GB are"):
        read_bytes(tmp_path / "holes")


@pytest.mark.parametrize("name", ["a\0b", "x" * 300])
def test_a_name_that_is_none_is_an_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(MissingInputError, match="cannot be read"):
        read_bytes(tmp_path / name)


def test_what_is_not_utf_8_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one\ntwo \xff")
    with pytest.raises(FileFormatError, match=r"line 2: it is not UTF-8 text .*0xff"):
        read_text(tmp_path / "a")


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../a", "a/../../b", "C:\\a", "..\\a", "", ".", "..", "a\0b", "//a"]
)
def test_a_name_that_leads_out_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileFormatError, match=r"leads out of this folder|is not a path"):
        resolve_within(tmp_path, name)


def test_a_link_that_leads_out_is_refused_and_one_within_is_followed(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    (folder / "images").mkdir(parents=True)
    (tmp_path / "secret").touch()
    (folder / "out").symlink_to(tmp_path / "secret")
    (folder / "round").symlink_to("round")
    (folder / "in").symlink_to("images")
    (tmp_path / "link").symlink_to(folder)
    (folder / "round").unlink()
    (folder / "round").symlink_to(tmp_path / "data/round/x")
    (folder / "far").symlink_to(tmp_path)
    for name in ("out", "far", "far/secret", "far/data/images/a.png/../.."):
        with pytest.raises(FileFormatError, match="leads out of this folder"):
            resolve_within(folder, name)
    assert resolve_within(folder, "in/a.png") == folder / "in" / "a.png"
    assert resolve_within(tmp_path / "link", "images/a.png").parent.is_dir()


def test_csv_takes_long_fields_and_tells_of_what_it_is_not(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text(f"id,text\n1,{'x' * 200_000}\n2\n3,a,b\n", "utf-8")
    rows = list(read_csv(file))
    assert [len(row["text"]) for row in rows] == [200_000, 0, 1]
    file.write_text(f'id,text\n1,"{"x" * (17 * 2**20)}\n', "utf-8")
    with pytest.raises(FileFormatError, match=r"a\.csv, line 2: is not CSV: field larger"):
        list(read_csv(file))
    file.write_bytes(b"id\n\xff\n")
    with pytest.raises(FileFormatError, match=r"a\.csv: it is not UTF-8"):
        list(read_csv(file))
