"""Runs the cells of a job inside a sandbox, as a program of its own without omibench.

The job is one JSON object on the input: `cells` (`code`, and the names of the `pictures` that are
new in it) and `limits`. What the last cell prints goes to the error stream, and one JSON object
with its pictures to the output. Earlier cells run again, unheard, for their variables. What
reads the two streams must treat them as written by the code.
"""

from __future__ import annotations

import ast
import base64
import json
import linecache
import os
import random
import resource
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

PICTURES, FOLDER = Path("/mnt/pictures"), Path.cwd()
SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp")


def limit(memory_bytes: int, file_bytes: int, cpu_s: int) -> None:
    """Limit this process; no limit can be raised again."""
    for kind, most in (
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_FSIZE, file_bytes),
        (resource.RLIMIT_CPU, cpu_s),
        (resource.RLIMIT_NOFILE, 256),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(kind, (most, most))


class Session:
    """The variables of the code, and its pictures by name."""

    def __init__(self) -> None:
        self.images: dict[str, Any] = {}
        self.names = {"__name__": "__main__", "images": self.images, "show": self.show}
        self._shown = 0

    def show(self, picture: Any) -> None:
        """Keep a picture as a result: of Pillow, an array, a figure, or the path of a file."""
        from PIL import Image

        self._shown += 1
        path = FOLDER / f"shown-{self._shown:04}.png"
        if hasattr(picture, "savefig"):
            picture.savefig(path)
            return
        if isinstance(picture, str | os.PathLike):
            picture = Image.open(picture)
        elif not isinstance(picture, Image.Image):
            picture = Image.fromarray(picture)
        picture.save(path)

    def run(self, number: int, cell: dict[str, Any]) -> None:
        """Run one cell as a notebook does: the value of a last expression is shown."""
        self._open_pictures(cell["pictures"])
        name, code = f"<cell {number}>", cell["code"]
        linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
        try:
            *body, last = ast.parse(code, name).body or [ast.Pass(lineno=1, col_offset=0)]
            expression: list[ast.stmt] = [last] if isinstance(last, ast.Expr) else []
            rest = body if expression else [*body, last]
            exec(compile(ast.Module(rest, []), name, "exec"), self.names)  # noqa: S102
            exec(compile(ast.Interactive(expression), name, "single"), self.names)  # noqa: S102
            self._show_figures()
        except BaseException as error:  # SystemExit too: the session goes on
            with suppress(BaseException):
                frames = error.__traceback__.tb_next if error.__traceback__ else None
                traceback.print_exception(type(error), error, frames, limit=-8)
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):
                stream.flush()

    def print_value(self, value: Any) -> None:
        """Show the value of a last expression: a picture as one, anything else in words."""
        if value is None:
            return
        if "PIL.Image" in sys.modules and isinstance(value, sys.modules["PIL.Image"].Image):
            self.show(value)
        else:
            print(repr(value))

    def _open_pictures(self, names: list[str]) -> None:
        from PIL import Image

        for name in names:
            file = next(PICTURES.glob(f"{name}.*"))
            with Image.open(file) as image:
                self.images[name] = image.convert("RGB")

    def _show_figures(self) -> None:
        if (pyplot := sys.modules.get("matplotlib.pyplot")) is not None:
            for number in pyplot.get_fignums():
                self.show(pyplot.figure(number))
            pyplot.close("all")


class _NoTimer:
    """Replaces `threading.Timer`: no thread can start, and matplotlib starts one to warn."""

    def __init__(self, *_: Any, **__: Any) -> None: ...
    def start(self) -> None: ...
    def cancel(self) -> None: ...


def list_pictures() -> dict[str, tuple[int, int]]:
    """Return the pictures in the folder, with their sizes and times, in the order of the times."""
    found = {}
    for place, _, names in os.walk(FOLDER):
        for name in names:
            path = os.path.join(place, name)  # noqa: PTH118
            if name.lower().endswith(SUFFIXES):
                with suppress(OSError):
                    status = os.lstat(path)
                    found[path] = (status.st_size, status.st_mtime_ns)
    return dict(sorted(found.items(), key=lambda entry: (entry[1][1], entry[0])))


def read_new(before: dict[str, tuple[int, int]], most: int, most_bytes: int) -> Iterator[str]:
    """Yield the first new pictures in base64."""
    new = [path for path, state in list_pictures().items() if before.get(path) != state]
    for path in new[:most]:
        with suppress(OSError):
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            with os.fdopen(handle, "rb") as file:
                data = file.read(most_bytes + 1)
            if len(data) <= most_bytes:
                yield base64.b64encode(data).decode("ascii")


def _print_to(target: int) -> None:
    os.dup2(target, 1)
    os.dup2(target, 2)


def main() -> None:
    """Run a job."""
    job = json.load(sys.stdin)
    limits = job["limits"]
    limit(limits["memory_bytes"], limits["file_bytes"], limits["cpu_s"])
    answer, heard, unheard = os.dup(1), os.dup(2), os.open(os.devnull, os.O_RDWR)
    os.dup2(unheard, 0)
    os.write(answer, b"ready\n")  # from here on, whatever is reported is the code's
    session = Session()
    sys.displayhook = session.print_value
    threading.Timer = _NoTimer  # type: ignore[assignment,misc]
    random.seed(0)
    if any("numpy" in cell["code"] for cell in job["cells"]):
        with suppress(ImportError):
            import numpy as np

            np.random.seed(0)
    *earlier, last = job["cells"]
    _print_to(unheard)
    for number, cell in enumerate(earlier, 1):
        session.run(number, cell)
    _print_to(heard)
    before = list_pictures()
    session.run(len(job["cells"]), last)
    pictures = list(read_new(before, limits["pictures"], limits["picture_bytes"]))
    with os.fdopen(answer, "w") as file:
        json.dump({"pictures": pictures}, file)


if __name__ == "__main__":
    main()
