"""The tool python: what code prints and shows, what lasts, and what its limits end."""

from __future__ import annotations

import io
import stat
from pathlib import Path

import pytest
from PIL import Image
from pydantic import ValidationError
from tests.models.code.sandboxes import needs_sandbox, run
from tests.models.local_blocks import picture

from omibench.errors import ModelError
from omibench.models.drawn import redraw_picture
from omibench.params.models.tools import PythonModel
from omibench.schemas.request import STOPPED, DrawnPart, Response


def drawn(response: Response) -> list[Image.Image]:
    parts = [part for part in response.drawn if isinstance(part, DrawnPart)]
    return [Image.open(io.BytesIO(part.data)) for part in parts]


@needs_sandbox
def test_code_prints_and_the_last_value_is_shown() -> None:
    found = run("print('a')\nx = 2\nx + 1")
    assert (found.text, found.outcome, found.finish_reason) == ("a\n3", "answered", "stop")
    assert run("x = 1").text == "(nothing printed)"
    assert "SyntaxError" in run("1 +").text


@needs_sandbox
def test_variables_and_files_last_and_old_output_is_not_repeated() -> None:
    first = "import random\nx = random.random()\nprint('old')\nopen('f', 'w').write('kept')"
    second = "y = x\n1 / 0"
    third = "print(x == y, open('f').read())"
    assert run(first, second, third).text == "True kept"


@needs_sandbox
def test_a_mistake_is_told_with_its_line() -> None:
    found = run("def f():\n    return missing\nf()")
    assert "NameError" in found.text
    assert "return missing" in found.text
    assert "inside.py" not in found.text
    assert run("raise SystemExit(3)").finish_reason == "stop"


@needs_sandbox
def test_pictures_come_in_by_name_and_go_out(tmp_path: Path) -> None:
    image = picture(tmp_path, size=(120, 80))
    code = (
        "show(images['image_1'].crop((0, 0, 50, 40)))\n"
        "import numpy as np\n"
        "show(np.zeros((20, 30, 3), dtype=np.uint8))\n"
        "images['image_1'].save('own.jpg')\n"
        "images['image_1'].resize((4000, 2000), 0)"
    )
    found = run(code, pictures={"image_1": image})
    assert [shown.size for shown in drawn(found)] == [(50, 40), (30, 20), (120, 80), (1024, 512)]
    again = run(code, "print(len(images))", pictures={"image_1": image})
    assert (again.text, again.drawn) == ("1", ())


@needs_sandbox
def test_more_pictures_than_agreed_are_left_out(tmp_path: Path) -> None:
    found = run("for _ in range(9): show(images['a'])", pictures={"a": picture(tmp_path)})
    assert len(found.drawn) == 4


@needs_sandbox
def test_long_output_is_cut_in_its_middle() -> None:
    found = run("print('x' * 300_000 + 'end')", output=100)
    assert len(found.text) < 200
    assert found.text.startswith("x")
    assert found.text.endswith("end")
    assert "characters ..." in found.text


@needs_sandbox
def test_code_that_does_not_end_is_stopped() -> None:
    code = "import time\nprint('begun', flush=True)\nwhile True: time.sleep(1)"
    found = run(code, seconds=4.5)
    assert found.text.startswith("begun\nStopped, since it ran for 4.5 seconds")
    assert found.finish_reason == STOPPED


def test_without_its_program_nothing_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ModelError, match="bwrap is not installed, and code of a model never runs"):
        run("print(1)")
    with pytest.raises(ModelError, match="podman is not installed"):
        run("print(1)", sandbox="podman", image="python")


def test_a_sandbox_that_does_not_start_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake(tmp_path / "bwrap", "echo 'No permissions to create new namespace' >&2; exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(ModelError, match=r"does not start.*No permissions to create new namespace"):
        run("print(1)")


def fake(path: Path, lines: str) -> None:
    path.write_text(f"#!/bin/sh\n{lines}\n")
    path.chmod(path.stat().st_mode | stat.S_IEXEC)


@pytest.mark.parametrize("name", ["podman", "docker"])
def test_a_container_is_started_without_rights_and_ended_by_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    """A stand-in for the program notes its words, and never ends."""
    lines = f'echo "$@" >> {tmp_path}/words; [ "$1" = kill ] || {{ echo ready; sleep 60; }}'
    fake(tmp_path / name, lines)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    found = run("print(1)", sandbox=name, image="some/python:3.12", seconds=2)
    started, ended = (tmp_path / "words").read_text().splitlines()
    for words in (
        "run --rm", "--network none", "--read-only", "--cap-drop ALL", "no-new-privileges",
        "--pids-limit 64", "--memory 2112m --memory-swap 2112m", "/mnt/folder:rw,size=64m",
        ":/mnt/pictures:ro", "--user 65534:65534", "some/python:3.12 python3 -P",
    ):  # fmt: skip
        assert words in started
    assert ended == f"kill {started.split('--name ')[1].split()[0]}"
    assert found.finish_reason == STOPPED


def test_the_block_says_what_is_wrong() -> None:
    with pytest.raises(ValidationError, match="sandbox: docker needs `image`"):
        PythonModel.model_validate({"provider": "python", "sandbox": "docker"})
    with pytest.raises(ValidationError, match="sandbox: bubblewrap takes no `image`"):
        PythonModel.model_validate({"provider": "python", "image": "python"})


@pytest.mark.parametrize("data", [b"", b"GIF89a", b"\x89PNG\r\n\x1a\n" + b"\0" * 40])
def test_what_is_no_picture_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        redraw_picture(data)
