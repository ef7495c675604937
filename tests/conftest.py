"""What every test may use."""

from __future__ import annotations

import gc
import importlib.util
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from omibench.plugins.files import forget_plugin
from omibench.plugins.sources import LEFT_OUT, SOURCES

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from model_server.handle import ServerHandle

ROOT = Path(__file__).parents[1]
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync",
    "--disable-component-update", "--no-first-run", "--disable-dev-shm-usage",
]  # fmt: skip

Build = Callable[[str, Callable[[Path], object]], Path]

# Plug-ins installed next to omibench are not part of it, in processes that a test starts neither.
os.environ[LEFT_OUT] = os.pathsep.join(entry for entry in sys.path if entry)

# On a loaded machine any example may take long. `make test-long` looks at many more of them.
settings.register_profile("omibench", deadline=None, max_examples=50)
settings.register_profile("thorough", deadline=None, max_examples=500)
settings.load_profile("omibench")

# In the background of a shell Ctrl-C is ignored, by every process that a test starts, too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_itemcollected(item: pytest.Item) -> None:
    """What is long or walks in a browser is slow as well, so that `-m "not slow"` leaves it out."""
    if item.get_closest_marker("long") or "browser" in getattr(item, "fixturenames", ()):
        item.add_marker(pytest.mark.slow)


# Of what is imported and collected nothing is garbage: looking for some took a tenth of the time.
gc.disable()


def pytest_collection_finish() -> None:
    """Nothing of ten thousand collected tests is garbage: the collector need not look at them.

    Each collection that a test asks for, as the release of a local engine does, took half a second.
    """
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _state_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What tests allow to run is remembered in a folder of theirs, also by processes they start.

    These write no caches: in the folder of a study they would be code that was not allowed.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONDONTWRITEBYTECODE", "1")
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture
def own_folder(tmp_path: Path) -> Path:
    """The folder of a test, as if `omibench init` had made it: its code may run."""
    from omibench.plugins.allowance import allow_folder

    allow_folder(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real exam papers, responses and photographs that the project may test on but not ship."""
    folder = Path(os.environ.get("OMIBENCH_SHARED_DATA", ROOT / "../shared/data")).resolve()
    if not folder.is_dir():
        pytest.skip("the shared test data is absent: set OMIBENCH_SHARED_DATA to its folder")
    return folder


@pytest.fixture(scope="session")
def build_once(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Have a folder filled by the first worker that needs it; the others wait, and use it too.

    Who gets it only reads it, or works on a copy.
    """
    from omibench.files.locks import open_lock, wait_lock

    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def build(name: str, fill: Callable[[Path], object]) -> Path:
        folder, done = shared / name, shared / f"{name}.built"
        lock = open_lock(shared / f"{name}.lock")
        try:
            wait_lock(lock)
            if folder.exists() and not done.exists():
                pytest.fail(f"{name}: cannot be built, as an earlier test says")
            if not done.exists():
                folder.mkdir()
                fill(folder)
                done.touch()
        finally:
            os.close(lock)
        return folder

    return build


@pytest.fixture(scope="session")
def sample_papers(build_once: Build, root: Path) -> Path:
    """The folder with what is read of the sample papers, at 100 dpi; no test changes it."""

    def read(folder: Path) -> None:
        from omibench.params.stages.ocr import OcrParams
        from omibench.stages.ocr import read_papers

        read_papers(
            [], folder / "ocr", OcrParams(sources=str(root / "sample/sources.yaml"), dpi=100)
        )

    return build_once("sample-papers", read) / "ocr"


@pytest.fixture(scope="session")
def root() -> Path:
    """The root of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def module_at(root: Path) -> Callable[[str], ModuleType]:
    """A module by its file below the root, such as a benchmark: it is no part of the package."""

    def load(file: str) -> ModuleType:
        path = root / file
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        return module

    return load


@pytest.fixture(scope="session")
def model_server() -> Iterator[ServerHandle]:
    """A process that serves the models' APIs: one for all tests of a worker."""
    from model_server.handle import running_server

    with running_server() as handle:
        yield handle


@pytest.fixture(scope="module")
def server_config() -> dict[str, Any]:
    """How the tests of a module want `server`: fields of `model_server.config.Config`."""
    return {}


@pytest.fixture
def server(
    model_server: ServerHandle, server_config: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> ServerHandle:
    """The models' APIs as a new server has them, and the key of the models in the environment."""
    from model_server.handle import KEY, KEY_ENV

    model_server.restart(**server_config)
    monkeypatch.setenv(KEY_ENV, KEY)
    return model_server


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A real browser, for pages."""
    path = next((p for name in CHROMIUM if (p := shutil.which(name))), None)
    if path is None:
        pytest.skip("no Chromium is installed")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=QUIET)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session", autouse=True)
def _end_worker() -> Iterator[None]:
    """Processes that compare formulas end with the tests."""
    yield
    symbolic = sys.modules.get("omibench.answers.formulas.symbolic")
    if symbolic is not None:
        symbolic.stop()


@contextmanager
def leave_undrawn() -> Iterator[None]:
    """Figures are put together but not drawn, for reports of whose figures a test says nothing.

    Drawing takes most of the time of a small report.
    """
    from omibench.stages.analyze.figures import theme

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(theme, "describe_chart", lambda chart: {})
        patch.setattr(theme, "render_specification", lambda specification: "<svg></svg>")
        yield


@pytest.fixture
def undrawn() -> Iterator[None]:
    """The reports of a test are left undrawn."""
    with leave_undrawn():
        yield


@pytest.fixture(autouse=True)
def _plugins_of_a_test_end_with_it() -> Iterator[None]:
    """What a test loads is unknown to the next one."""
    yield
    for origin in list(SOURCES):
        forget_plugin(origin)
