"""The profiles agree where they must, and what they ask of a cluster is what a study says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from benchmarks.graph_scale import make_study
from tests.cluster_plugins import copying_rsync, require_plugins

SHARED = ("printshellcmds", "show-failed-logs", "max-checksum-file-size")


def profile(root: Path, name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((root / f"profiles/{name}/config.yaml").read_text())
    return loaded


@pytest.mark.parametrize("name", ["slurm", "kubernetes"])
def test_a_cluster_profile_keeps_what_the_default_one_sets(root: Path, name: str) -> None:
    """It stands in for profiles/default, which Snakemake then does not read."""
    default, cluster = profile(root, "default"), profile(root, name)
    assert {key: cluster[key] for key in SHARED} == {key: default[key] for key in SHARED}
    assert cluster["executor"] == name
    assert cluster["resources"]["api"] == default["resources"]["api"]


@pytest.mark.parametrize("name", ["slurm", "kubernetes"])
def test_what_is_set_for_a_rule_is_set_for_a_rule_that_exists(root: Path, name: str) -> None:
    rules = "\n".join(path.read_text("utf-8") for path in (root / "rules").glob("*.smk"))
    for rule in profile(root, name).get("set-resources", {}):
        assert f"rule {rule}:" in rules


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_kubernetes_gets_a_job_with_the_image_volume_and_gpus(root: Path, tmp_path: Path) -> None:
    plugins = require_plugins()
    study = tmp_path / "study"
    study.mkdir()
    make_study(study, 1, 1)
    params = yaml.safe_load((study / "params.yaml").read_text("utf-8"))
    params["models"]["big"] = {
        "provider": "vllm", "id": "org/model", "tensor_parallel": 4,
        "resources": {"memory_gb": 48, "cpus": 8},
    }  # fmt: skip
    params["infer"] = {"models": ["big"], "settings": ["s00"]}
    (study / "params.yaml").write_text(yaml.safe_dump(params), "utf-8")
    path = os.pathsep.join(filter(None, [plugins, os.environ.get("PYTHONPATH", "")]))
    programs = f"{copying_rsync(tmp_path)}{os.pathsep}{Path(sys.executable).parent}"
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    environment |= {"PYTHONPATH": path} if path else {}

    def snakemake(*command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=study, env=environment, capture_output=True, text=True, check=False
        )

    frozen = snakemake("snakemake", "freeze_all", "--cores", "1")
    assert frozen.returncode == 0, frozen.stdout + frozen.stderr
    noted = tmp_path / "noted.json"
    done = snakemake(
        sys.executable, str(root / "tests/kubernetes_jobs.py"), str(noted), "infer_all",
        "--workflow-profile", "profiles/kubernetes", "--default-storage-prefix", str(study),
        "--kubernetes-persistent-volumes", f"omibench:{tmp_path}", "--latency-wait", "1",
        "--remote-job-local-storage-prefix", str(tmp_path / "copies"),
    )  # fmt: skip
    jobs = json.loads(noted.read_text("utf-8"))
    assert len(jobs) == 1, done.stdout + done.stderr
    pod = jobs[0]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["image"] == profile(root, "kubernetes")["container-image"]
    gpus, memory = {"nvidia.com/gpu": "4"}, {"memory": "48000M"}
    assert gpus.items() | memory.items() <= container["resources"]["limits"].items()
    assert gpus.items() | memory.items() <= container["resources"]["requests"].items()
    assert [t["key"] for t in pod["tolerations"]] == ["nvidia.com/gpu"]
    assert {"mountPath": str(tmp_path), "name": "omibench"} in container["volumeMounts"]
    claims = [v["persistentVolumeClaim"] for v in pod["volumes"] if "persistentVolumeClaim" in v]
    assert claims == [{"claimName": "omibench"}]
    command = container["args"][-1]
    assert "--target-jobs 'fill:model=big'" in command
    assert "--default-storage-provider 'fs'" in command
