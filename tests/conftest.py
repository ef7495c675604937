"""What every test may use."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# In the background of a shell Ctrl-C is ignored, by every process that a test starts, too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real exam papers, responses and photographs that the project may test on but not ship."""
    folder = Path(os.environ.get("OMIBENCH_SHARED_DATA", ROOT / "../shared/data")).resolve()
    if not folder.is_dir():
        pytest.skip("the shared test data is absent: set OMIBENCH_SHARED_DATA to its folder")
    return folder


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the checkout."""
    return ROOT
