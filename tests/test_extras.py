"""What is missing of an extra is named with the command that installs it."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from command_line import call_main
from omibench import extras
from omibench.cli.options import read_study
from omibench.datasets.release.build import ReleaseOptions, build_release
from omibench.errors import MissingExtraError
from omibench.extras import EXTRAS, find_extra, has_extra, require_extra
from omibench.stages.analyze import analyze_study
from omibench.store.packs import PackFile, write_pack

ABSENT = "omibench_absent"


def test_every_extra_is_in_pyproject(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    assert set(project["optional-dependencies"]) == set(EXTRAS)


@pytest.mark.parametrize("extra", ["labels", "release", "review", "stats", "web"])
def test_an_extra_that_is_installed_is_enough(extra: str) -> None:
    assert has_extra(extra)
    require_extra(extra, "this")


def test_the_missing_modules_and_the_command_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert not has_extra("stats")
    with pytest.raises(MissingExtraError) as caught:
        require_extra("stats", "analyze: exact intervals")
    assert str(caught.value) == (
        "analyze: exact intervals needs scipy and pandas, which are not installed: "
        "pip install 'omibench[stats]'"
    )


def test_only_the_modules_that_are_needed_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    require_extra("stats", "this", "scipy")
    with pytest.raises(MissingExtraError, match=r"^this needs pandas, which is not .*\), or wait$"):
        require_extra("stats", "this", "pandas", note=" (large), or wait")


def test_a_module_is_of_its_smallest_extra() -> None:
    assert find_extra("scipy.stats") == "stats"
    assert find_extra("starlette") == "web"
    assert find_extra(ABSENT) is None


def test_what_draws_writes_packs_or_releases_names_its_extra(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, root: Path
) -> None:
    write_pack(tmp_path / "old.parquet", [])
    for module in ("altair", "pyarrow"):
        monkeypatch.setitem(sys.modules, module, None)
    study = read_study(str(root / "params.yaml"), None)
    uses: list[tuple[Callable[[], object], str]] = [
        (lambda: analyze_study(tmp_path, tmp_path, study), "report"),
        (lambda: write_pack(tmp_path / "new.parquet", []), "packs"),
        (PackFile(tmp_path / "old.parquet").load, "packs"),
        (lambda: build_release(tmp_path, tmp_path / "out", ReleaseOptions()), "release"),
    ]
    for use, extra in uses:
        with pytest.raises(MissingExtraError, match=rf"pip install 'omibench\[{extra}\]'$"):
            use()


def test_a_command_without_a_package_has_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = "scipy.stats"

    def fail() -> str:
        raise ModuleNotFoundError(f"No module named {missing!r}", name=missing)

    monkeypatch.setattr("omibench.graph.result_files.params_schema", fail)
    assert call_main("schema").stderr == (
        "omibench: schema needs scipy.stats, which is not installed: "
        "pip install 'omibench[stats]'\n"
    )
    missing = ABSENT
    assert "Traceback" in call_main("schema").stderr


def test_a_module_of_a_missing_package_is_missing() -> None:
    assert extras.missing_modules((f"{ABSENT}.part", ABSENT, "json.decoder")) == [
        f"{ABSENT}.part",
        ABSENT,
    ]


def test_a_module_that_was_put_together_by_hand_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    made = ModuleType(ABSENT)
    made.__spec__ = None
    monkeypatch.setitem(sys.modules, ABSENT, made)
    assert extras.missing_modules((ABSENT,)) == []


def test_the_help_imports_no_extra_and_nothing_heavy() -> None:
    code = (
        "import sys, contextlib, io, omibench\n"
        "from omibench.cli.main import make_app\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n"
        "    make_app()(['--help'])\n"
        "print(*sorted({m.split('.')[0] for m in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    optional = {module.split(".")[0] for modules in EXTRAS.values() for module in modules}
    heavy = {"polars", "pyarrow", "numpy", "altair", "sympy", "pydantic", "math_verify", "PIL"}
    assert not (optional | heavy) & set(done.stdout.split())


def test_modules_of_exports_and_reviews_need_no_package_of_the_server() -> None:
    code = (
        "import sys\n"
        f"sys.modules.update(dict.fromkeys({[*EXTRAS['web'], *EXTRAS['review']]!r}))\n"
        "import omibench.explore.export, omibench.explore.app.notes\n"
        "import omibench.review.app.demo, omibench.review.app.overview\n"
        "import omibench.review.app.payload, omibench.review.app.service"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert not done.stderr
