"""The built wheel alone, installed into an environment of its own, makes a study and runs it."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

pytest.importorskip("snakemake", reason="the extra `workflow` is not installed")
pytest.importorskip("hatchling", reason="the tools of requirements-build.txt are not installed")

pytestmark = pytest.mark.slow

STORE, PARTIAL = "  store: store\n", "  limit: {n: 6}\n"


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    """The programs of an environment with the wheel, which sees the packages of this one."""
    folder = tmp_path_factory.mktemp("wheel of its own")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    offline = ["--no-deps", "--no-index"]
    build = [*pip, "wheel", "--no-build-isolation", *offline, "--wheel-dir", str(folder), str(root)]
    venv = [sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")]
    python = folder / "venv/bin/python"
    subprocess.run(build, check=True)
    subprocess.run(venv, check=True)
    (wheel,) = folder.glob("*.whl")
    install = [*pip, "--python", str(python), "install", *offline, str(wheel)]
    subprocess.run(install, check=True)
    (site,) = folder.glob("venv/lib/python*/site-packages")
    (site / "packages.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python.parent


def test_a_study_is_made_and_run_in_a_folder_whose_path_has_a_space(
    programs: Path, tmp_path: Path
) -> None:
    study = tmp_path / "my study"

    def run(*command: str, cwd: Path = study) -> str:
        """What a program of the environment says; nothing is found beside the environment's."""
        path = os.pathsep.join([str(programs), "/usr/bin", "/bin"])
        environment = {**os.environ, "PATH": path}
        environment.pop("PYTHONPATH", None)
        words = [str(programs / "python"), "-P", "-m", *command]
        done = subprocess.run(
            words, cwd=cwd, env=environment, text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout
        return done.stdout

    run("omibench", "init", "my study", "--benchmark", "usnco-v", cwd=tmp_path)
    params = study / "params.yaml"
    params.write_text(params.read_text("utf-8").replace(STORE, STORE + PARTIAL), "utf-8")
    assert "generated questions like those of usnco-v" in run("omibench", "plan", "--simulated")

    said = run("snakemake", "--cores", "2", "--config", "simulated=true")
    assert "12 of 12 requests answered" in said  # what the Snakefile's hooks say at the end
    assert (study / "results-simulated/analyze/report.html").is_file()

    said = run("omibench", "run", "--simulated", "--", "--quiet", "rules")
    assert said.splitlines()[-1] == "report: results-simulated/analyze/report.html"
    assert "complete" in run("omibench", "status", "--set", "simulated=true")
    said = run("snakemake", "-n", "--cores", "1", "--config", "simulated=true")
    assert "Nothing to be done" in said, "results stay as they are"

    run("omibench", "init", "replication", "--study", "usnco_v", cwd=tmp_path)
    said = run("omibench", "run", "--simulated", "--dry-run", cwd=tmp_path / "replication")
    assert "infer" in said
