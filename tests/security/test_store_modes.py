"""What is asked and answered is read by nobody else on the machine, whatever the umask."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.store.filling import fill, segments

from omibench.models.api.batch_api import Submission, SubmissionFolder
from omibench.models.provider import Reservation
from omibench.store.compaction import compact_partition
from omibench.store.ledger import BudgetAccount, Ledger
from omibench.store.share import write_increment
from omibench.store.store import CLAIMS, claim, partition_folders
from omibench.store.verify import verify_store


@pytest.fixture(autouse=True, params=[0o000, 0o022, 0o077])
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, str]:
    """The modes of a folder and of everything in it, by path."""
    paths = [folder, *folder.rglob("*")]
    return {str(p.relative_to(folder)): oct(stat.S_IMODE(p.stat().st_mode)) for p in paths}


def use(store: Path) -> None:
    """Leave in a store one of everything that is ever written to it."""
    fill(store, range(3))
    for folder in partition_folders(store):
        compact_partition(folder)
    torn = fill(store, range(3, 5)) and segments(store)[0]
    torn.write_bytes(torn.read_bytes()[:-9])
    for folder in partition_folders(store):
        compact_partition(folder)
    fill(store, range(5, 6))
    with claim(store / CLAIMS / "m", {"a"}), Ledger(store) as ledger:
        ledger.reserve(BudgetAccount("study", "m", 1.0, 60), 0.1)
        desk = SubmissionFolder(store / "batches" / "m")
        with desk.lock():
            desk.save(Submission(fingerprint="ab", asked_at=0.0, lines=()))
            desk.draft().note(Reservation(1, 0.1))
    write_increment(store, store.parent / "archive")


def test_files_are_their_owners_alone(tmp_path: Path) -> None:
    store = tmp_path / "deep" / "store"
    use(store)
    for where in (store, *(tmp_path / "deep" / "archive").iterdir()):
        found = modes(where)
        assert len(found) > 5
        for path, mode in found.items():
            assert mode == ("0o700" if (where / path).is_dir() else "0o600"), path


def test_a_folder_that_a_group_shares_is_shared_whole(tmp_path: Path) -> None:
    store = tmp_path / "store"
    store.mkdir()
    store.chmod(0o2770)
    use(store)
    for path, mode in modes(store).items():
        assert mode == ("0o2770" if (store / path).is_dir() else "0o660"), path


def test_an_older_store_is_closed_to_others_by_the_next_write(tmp_path: Path) -> None:
    fill(tmp_path / "store", range(2))
    for path in (tmp_path / "store").rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    (tmp_path / "store").chmod(0o755)
    fill(tmp_path / "store", range(2, 4))
    found = modes(tmp_path / "store")
    assert found["."] == "0o700", "nobody gets past the first folder"
    assert {mode for path, mode in found.items() if path.startswith("test")} <= {
        "0o700", "0o600", "0o644",
    }  # fmt: skip


def test_verify_closes_every_file_of_an_older_store(tmp_path: Path) -> None:
    fill(tmp_path, range(2))
    for path in (tmp_path, *tmp_path.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    outside = tmp_path.parent / "outside"
    outside.write_text("mine")
    outside.chmod(0o644)
    (tmp_path / "link").symlink_to(outside)
    done = verify_store(tmp_path, partition_folders(tmp_path))
    assert done.tightened == 1 + len([p for p in tmp_path.rglob("*") if not p.is_symlink()])
    assert verify_store(tmp_path, partition_folders(tmp_path)).tightened == 0
    (tmp_path / "link").unlink()
    assert set(modes(tmp_path).values()) == {"0o700", "0o600"}
    assert stat.S_IMODE(outside.stat().st_mode) == 0o644, "a link leads out of the store"
