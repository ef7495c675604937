"""File systems that the tests of the store imitate."""

from __future__ import annotations

import pytest
from tests.store.network_disk import lock_as_nfs


@pytest.fixture
def nfs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Locks as the Linux client of NFS gives them, in this process and in those it forks."""
    lock_as_nfs(monkeypatch)
