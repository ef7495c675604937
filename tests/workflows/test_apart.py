"""Prefect stays in omibench.flows: no other part and no job of Snakemake imports it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml


def test_no_module_of_the_package_names_prefect(root: Path) -> None:
    named = re.compile(r"^\s*(?:from|import)\s+(?:prefect|workflows|omibench\.flows)\b", re.M)
    source = root / "src/omibench"
    flows = {*source.glob("flows/*.py"), source / "cli/flows.py"}
    package = [*set(source.rglob("*.py")) - flows, root / "Snakefile", *root.glob("rules/*")]
    assert [str(p) for p in package if named.search(p.read_text("utf-8"))] == []


@pytest.mark.slow
def test_looking_for_new_models_needs_no_prefect() -> None:
    script = (
        "import pkgutil, importlib, sys, omibench.study.reevaluate as r, omibench.cli\n"
        "for m in pkgutil.iter_modules(r.__path__, 'omibench.study.reevaluate.'):\n"
        "    importlib.import_module(m.name)\n"
        "print(sorted({n.split('.')[0] for n in sys.modules} & {'prefect', 'ruamel', 'openai'}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_every_flow_has_a_deployment(root: Path) -> None:
    plan = yaml.safe_load((root / "prefect.yaml").read_text("utf-8"))
    flows = {d["entrypoint"].rpartition(".")[2]: d for d in plan["deployments"]}
    assert set(flows) == {"evaluate", "judge", "rationales", "reevaluate"}
    for name, deployment in flows.items():
        module = root / "src" / deployment["entrypoint"].rpartition(".")[0].replace(".", "/")
        assert f"def {name}(" in module.with_suffix(".py").read_text("utf-8")
    assert flows["reevaluate"]["schedules"] == [{"cron": "17 * * * *", "timezone": "UTC"}]
