"""A stranger's study through the graph: refused, then allowed by the hash in the environment."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml
from tests.extras import require_extra
from tests.integration.conftest import runner
from tests.plugins.test_files import RULE

from omibench.plugins.allowance import ALLOW_ENV
from omibench.schemas.tables import VerdictRow, read_parquet

require_extra("workflow", "snakemake")
pytestmark = pytest.mark.slow

PARAMS = {
    "plugins": ["rules.py"],
    "benchmark": {"name": "synthetic", "like": "emma-mini", "seed": 0},
    "models": {"m": {"provider": "simulated", "oracle": "synthetic:emma-mini"}},
    "settings": {"s": {"prompt": "emma-cot"}},
    "infer": {"models": ["m"], "settings": ["s"]},
    "score": {"scorers": ["halves"]},
    "study": {"limit": 5},
}


def test_jobs_inherit_what_the_hash_allows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made, folder = tmp_path / "made", tmp_path / "theirs"
    runner(tmp_path)("omibench", "init", "made", "--benchmark", "emma")
    shutil.copytree(made, folder)
    trace = f'from pathlib import Path\nPath("{tmp_path}/ran").touch()\n'
    (folder / "rules.py").write_text(trace + RULE)
    (folder / "params.yaml").write_text(yaml.safe_dump(PARAMS))
    for command in ("omibench run", "snakemake --cores 1", "snakemake -n --config study={seed: 3}"):
        done = runner(folder)(*command.split(maxsplit=3), ok=False)
        assert "has code that you did not allow on this machine: rules.py (new)" in done.stderr
        assert "Traceback" not in done.stderr
    assert not (tmp_path / "ran").exists()

    shown = runner(folder)("omibench", "allow", "--show").stdout
    assert shown.splitlines()[0].split() == ["new", "rules.py"], "the rest is omibench's own"
    monkeypatch.setenv(ALLOW_ENV, shown.rpartition("hash: ")[2].strip())
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "nothing remembered"))
    runner(folder)("omibench", "run", "--cores", "2", "--", "score_all")
    rows = read_parquet(folder / "results/score/m/s.parquet", VerdictRow)
    assert set(rows["rules"]) == {"halves"}

    (folder / "profiles/default/config.yaml").write_text("jobs: 1\n")
    done = runner(folder)("omibench", "run", ok=False)
    assert "profiles/default/config.yaml (new)" in done.stderr


def test_results_outside_the_folder_are_refused_by_snakemake_itself(tmp_path: Path) -> None:
    runner(tmp_path)("omibench", "init", "made", "--benchmark", "emma")
    folder = shutil.copytree(tmp_path / "made", tmp_path / "theirs")
    params = {**PARAMS, "plugins": [], "score": {"scorers": ["robust"]}}
    params["study"] = {"results": "../elsewhere", "limit": 5}
    (folder / "params.yaml").write_text(yaml.safe_dump(params))
    for command in ("omibench run", "snakemake --cores 1"):
        done = runner(folder)(*command.split(), ok=False)
        assert f"study.results: writes to {tmp_path}/elsewhere (new)" in done.stderr
    assert not (tmp_path / "elsewhere").exists()
    given = "study={results: ../elsewhere, limit: 5}"
    runner(folder)("snakemake", "-n", "--config", given)
