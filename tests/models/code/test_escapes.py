"""Fifty attempts to leave the sandbox or to outlast it: none leaves, none hangs, nothing stays.

Each attempt knows what an attacker would like to know: the path of a secret on this machine, the
path of a file to change, the port of a server, and the id of the process that runs it.
"""

from __future__ import annotations

import os
import socket
import struct
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest
from tests.models.code.sandboxes import needs_sandbox, run

SECRET = "the-secret-of-this-machine"
SECONDS = 3.0
LASTING = {"delete everything", "read a disk", "refuse to end", "memory", "sleep", "deep recursion"}
"""Attempts that only the limit ends: half of it shows as much."""


class World(NamedTuple):
    """What the attempts want."""

    secret: Path
    target: Path
    server: socket.socket

    def fill(self, code: str) -> str:
        """Return code with the places that it attacks."""
        names = {"SECRET": self.secret, "TARGET": self.target, "FOLDER": self.secret.parent}
        names |= {"PORT": self.server.getsockname()[1], "PARENT": os.getpid()}
        for name, value in names.items():
            code = code.replace(f"@{name}", str(value))
        return code


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    (tmp_path / "secret.txt").write_text(SECRET)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield World(tmp_path / "secret.txt", tmp_path / "target", server)


ATTEMPTS = {
    # Files.
    "read a file": "print(open('@SECRET').read())",
    "climb out": "print(open('/mnt/folder/' + '../' * 20 + '@SECRET').read())",
    "read the users": "print(open('/etc/shadow').read()); print(open('/etc/passwd').read())",
    "read the environment": "print(open('/proc/1/environ').read())",
    "through the root of a process": "print(open('/proc/1/root@SECRET').read())",
    "through the folder of a process": "print(open('/proc/self/cwd/@SECRET').read())",
    "through a link": "import os; os.symlink('@SECRET', 'l.png'); print(open('l.png').read())",
    "a link as a picture": "import os; os.symlink('@SECRET', 'l.png')",
    "a hard link": "import os; os.link('@SECRET', 'l.png')",
    "a folder that is a link": "import os; os.symlink('@FOLDER', 'd'); print(os.listdir('d'))",
    "show a file": "show('@SECRET')",
    "write outside": "open('@TARGET', 'w').write('x')",
    "write over programs": "open('/usr/bin/env', 'ab').write(b'x')",
    "write over the driver": "open('/mnt/inside.py', 'w').write('x')",
    "write a picture of the problem": "open('/mnt/pictures/x.png', 'w').write('x')",
    "write into the root": "open('/x', 'w').write('x')",
    "fill the memory of devices": "f = open('/dev/shm/x', 'wb')\nwhile True: f.write(b'x' * 10**7)",
    "delete everything": (
        "import shutil\nfor place in ('@FOLDER', '/'): shutil.rmtree(place, ignore_errors=True)"
    ),
    "read a disk": "import os\nfor n in os.listdir('/dev'): print(open(f'/dev/{n}', 'rb').read(9))",
    "make a device": "import os; os.mknod('d', 0o60600, os.makedev(8, 0)); open('d').read(9)",
    "change the root": "import os; os.mkdir('r'); os.chroot('r')",
    "mount a disk": (
        "import ctypes as c\nl = c.CDLL(None, use_errno=True)\n"
        "assert l.mount(b'none', b'/mnt/folder', b'tmpfs', 0, None) == 0"
    ),
    "look for open descriptors": (
        "import os\nfor n in range(3, 256):\n"
        "    try:\n        os.lseek(n, 0, 0); print(os.read(n, 99), os.readlink(f'/dev/fd/{n}'))\n"
        "    except OSError: pass"
    ),
    # Network.
    "connect": "import socket; socket.create_connection(('127.0.0.1', @PORT), 2).send(b'x')",
    "fetch": "import urllib.request as u; u.urlopen('http://127.0.0.1:@PORT', None, 2).read()",
    "ask for a name": "import socket; print(socket.getaddrinfo('example.org', 80))",
    "a socket of the machine": (
        "import socket; s = socket.socket(socket.AF_UNIX); s.connect('/var/run/docker.sock')"
    ),
    "a raw packet": "import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)",
    "a socket of the host": "import socket; socket.socket(socket.AF_VSOCK).connect((2, 22))",
    "a socket of the kernel": "import socket; socket.socket(socket.AF_ALG)",
    # Processes and signals.
    "fork": "import os\nwhile True: os.fork()",
    "start a shell": "import subprocess; print(subprocess.run(['sh', '-c', 'cat @SECRET']))",
    "become a shell": "import os; os.execv('/bin/sh', ['sh', '-c', 'cat @SECRET; sleep 99'])",
    "many processes": "import multiprocessing as m; m.Pool(500).map(print, range(500))",
    "many threads": "import threading\nwhile True: threading.Thread(target=input).start()",
    "fork by number": (
        "import ctypes as c, platform\nl = c.CDLL(None, use_errno=True)\n"
        "numbers = [57, 58, 56] if platform.machine() == 'x86_64' else [220]\n"
        "assert all(l.syscall(n, 17, 0, 0, 0, 0) == -1 for n in [*numbers, 435])"
    ),
    "kill what runs it": "import os; os.kill(@PARENT, 9)",
    "kill everything": "import os; os.kill(-1, 9)",
    "kill the first process": "import os; os.kill(1, 9); print('alive')",
    "refuse to end": (
        "import signal\nfor n in range(1, 65):\n"
        "    try: signal.signal(n, signal.SIG_IGN)\n    except (OSError, ValueError): pass\n"
        "while True: pass"
    ),
    "trace a process": (
        "import ctypes as c\nl = c.CDLL(None, use_errno=True)\nassert l.ptrace(16, 1, 0, 0) == 0"
    ),
    "new rights": (
        "import ctypes as c\nl = c.CDLL(None, use_errno=True)\nassert l.unshare(0x10000000) == 0"
    ),
    "become root": "import os; os.setuid(0); print('root')",
    "raise a limit": (
        "import resource as r; r.setrlimit(r.RLIMIT_AS, (r.RLIM_INFINITY, r.RLIM_INFINITY))"
    ),
    # Memory, time, output.
    "memory": "x = []\nwhile True: x.append(bytearray(10**8))",
    "memory in files": (
        "n = 0\nwhile True:\n    n += 1\n    with open(f'f{n}', 'wb') as f: f.write(b'x' * 10**8)"
    ),
    "memory without files": (
        "import os; f = os.memfd_create('x')\nwhile True: os.write(f, b'x' * 10**7)"
    ),
    "endless files": "n = 0\nwhile True: open(f'f{n}', 'w').close(); n += 1",
    "a deep folder": "import os\nwhile True: os.mkdir('d'); os.chdir('d')",
    "endless output": "import os\nwhile True: os.write(1, b'x' * 2**16)",
    "endless errors": "import os\nwhile True: os.write(2, b'\\x1b]0;x\\x07' * 2**12)",
    "sleep": "import time; time.sleep(10**6)",
    "deep recursion": "import sys; sys.setrecursionlimit(10**9)\ndef f(): f()\nf()",
    "crash": "import ctypes; ctypes.string_at(1)",
    "leave at once": "import os; os._exit(0)",
    # Pictures and the report.
    "a bomb as a picture": "open('b.png', 'wb').write(@BOMB)",
    "a picture that is none": "open('b.png', 'wb').write(b'\\x89PNG\\r\\n\\x1a\\n' + b'x' * 99)",
    "a pipe as a picture": "import os; os.mkfifo('p.png')",
    "a picture of gigabytes": "open('b.png', 'wb').truncate(60 * 2**20)",
    "a thousand pictures": "for n in range(1000): open(f'{n}.png', 'wb').write(b'x')",
    "a false report": (
        "import os\nfor n in range(3, 20):\n"
        "    try: os.write(n, b'{\"pictures\": [\"@@\", 7, null]}')\n"
        "    except OSError: pass\nos._exit(0)"
    ),
    "an endless report": (
        "import os\nfor n in range(3, 20):\n"
        "    try:\n        while True: os.write(n, b'[' * 2**16)\n"
        "    except OSError: pass"
    ),
    "a changed driver": "import json; json.dump = lambda *_: print('@SECRET'); json.loads = None",
}  # fmt: skip


def bomb() -> bytes:
    """A PNG of 60,000 x 60,000 white pixels in a few kilobytes."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 60_000, 60_000, 1, 0, 0, 0, 0))
    body = chunk(b"IDAT", zlib.compress(b"\xff" * 10**6, 9))
    return b"\x89PNG\r\n\x1a\n" + head + body + chunk(b"IEND", b"")


def test_there_are_fifty() -> None:
    assert len(ATTEMPTS) >= 50


@needs_sandbox
@pytest.mark.parametrize("name", ATTEMPTS)
def test_no_attempt_leaves_or_hangs(name: str, world: World) -> None:
    code = world.fill(ATTEMPTS[name].replace("@BOMB", repr(bomb())))
    seconds = SECONDS / 2 if name in LASTING else SECONDS
    begun, others = time.monotonic(), psutil.Process().children(recursive=True)
    found = run(code, seconds=seconds)
    assert time.monotonic() - begun < SECONDS + 30
    assert SECRET not in found.text
    assert len(found.text) < 5000
    assert "\x1b" not in found.text
    assert found.drawn == ()
    assert world.secret.read_text() == SECRET
    assert [path.name for path in world.secret.parent.iterdir()] == ["secret.txt"]
    with pytest.raises(BlockingIOError):
        world.server.accept()
    assert set(psutil.Process().children(recursive=True)) <= {*others}


@needs_sandbox
def test_what_is_stopped_leaves_the_session_as_it_was(world: World) -> None:
    assert run("x = 1", "print(x)").text == "1"
