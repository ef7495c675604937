"""Models of this machine that describe pictures for others are loaded once, ahead of the cells."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from tests.workflows_support import environment, study_folder

URL = "http://127.0.0.1:9/v1"
LOCAL = {"provider": "transformers", "id": "/nowhere"}
FAR = {"provider": "openai", "id": "far", "base_url": URL}


def snakemake(folder: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", *words],
        cwd=folder, env=environment(folder), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.long
@pytest.mark.slow
def test_jobs_wait_for_the_models_that_help_them_and_for_nothing_else(
    root: Path, tmp_path: Path
) -> None:
    folder = study_folder(tmp_path / "study", root, URL)
    params = yaml.safe_load((folder / "params.yaml").read_text("utf-8"))
    del params["reevaluate"]
    params["models"] = {"eyes": LOCAL, "own": LOCAL, "far": FAR}
    params["settings"] = {"cot": {}, "words": {"images": {"show": "captions", "model": "eyes"}}}
    params["infer"] = {"models": ["own", "far", "eyes"], "settings": ["cot", "words"]}
    (folder / "params.yaml").write_text(yaml.safe_dump(params), "utf-8")
    snakemake(folder, "--cores", "1", "freeze_all")
    planned = snakemake(folder, "-n", "--cores", "1")
    needs = {
        output: set(re.findall(r"\S*(?:helped|filled)\.txt", inputs))
        for inputs, output in re.findall(r"    input: (.*)\n    output: (.*)\n", planned)
    }
    results = "results/infer"
    helped = f"{results}/eyes/helped.txt"
    assert needs[helped] == set()
    assert needs[f"{results}/own/filled.txt"] == {helped}
    assert needs[f"{results}/eyes/filled.txt"] == set()
    assert needs[f"{results}/far/words.parquet"] == {helped}
    assert needs[f"{results}/far/cot.parquet"] == set()
    assert needs[f"{results}/own/cot.parquet"] == {f"{results}/own/filled.txt"}
    assert needs[f"{results}/eyes/words.parquet"] == {f"{results}/eyes/filled.txt"}
