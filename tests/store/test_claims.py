"""Claims: no two at once, none of the dead, and none left behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from omibench.errors import StoreError
from omibench.store.claims import claim

HOLDER = """
import sys
from pathlib import Path
from omibench.store.claims import claim
with claim(Path(sys.argv[1]), {"a", "b"}) as ours:
    print(sorted(ours), flush=True)
    sys.stdin.read()
"""


def test_what_one_has_claimed_the_other_has_not(tmp_path: Path) -> None:
    folder = tmp_path / "claims" / "model"
    with claim(folder, {"a", "b"}) as first, claim(folder, {"b", "c"}) as second:
        assert (first, second) == ({"a", "b"}, {"c"})
        with claim(folder, {"a", "c"}) as third:
            assert third == set()
    with claim(folder, {"a", "c"}) as later:
        assert later == {"a", "c"}
    assert list(folder.iterdir()) == []


def test_an_error_lets_go(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), claim(tmp_path, {"a"}):
        raise RuntimeError
    with claim(tmp_path, {"a"}) as ours:
        assert ours == {"a"}


def test_a_claim_dies_with_its_process(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "['a', 'b']"
        with claim(tmp_path, {"b", "c"}) as ours:
            assert ours == {"c"}
        process.kill()
    assert len(list(tmp_path.iterdir())) == 1, "the dead left its claim behind"
    with claim(tmp_path, {"b"}) as ours:
        assert ours == {"b"}
    assert list(tmp_path.iterdir()) == []


def test_a_file_system_without_locks_holds_nobody_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("omibench.store.claims.hold", lambda _: True)
    with claim(tmp_path, {"a"}), claim(tmp_path, {"a"}) as ours:
        assert ours == {"a"}


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(StoreError, match=r"file/model: cannot be used"),
        claim(tmp_path / "file" / "model", {"a"}),
    ):
        pass
