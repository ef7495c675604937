"""Two studies of one lab are modules of one Snakefile, in a folder away from the repository."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from tests.extras import require_extra
from tests.integration.own_study import PROBLEMS, OwnStudy, make_own

require_extra("workflow", "snakemake")

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(1200)]
PAGE = "docs/scale.md"


def read_snakefile(root: Path) -> str:
    """The Snakefile in the docs."""
    section = (root / PAGE).read_text("utf-8").partition("## Two studies in one Snakefile\n")[2]
    return section.partition("```python\n")[2].partition("```")[0]


def test_each_study_has_its_store_and_budget_and_the_first_rule_is_the_target(
    root: Path, tmp_path: Path
) -> None:
    study = make_own(tmp_path)
    first = study.params()
    first["infer"]["settings"] = ["cot"]
    second = json.loads(json.dumps(first))
    first["study"] |= {"name": "a", "results": "results/a", "store": "store-a", "budget_usd": 1}
    second["study"] |= {"name": "b", "results": "results/b", "store": "store-b"}
    (study.folder / "params.yaml").unlink()
    for name, params in (("a", first), ("b", second)):
        (study.folder / f"{name}.yaml").write_text(yaml.safe_dump(params, sort_keys=False))
    (study.folder / "Snakefile").write_text(read_snakefile(root))

    done = study.jobs("snakemake", "--cores", "2")
    assert done == {
        f"{study}_{rule}": 1 for study in "ab" for rule in ("freeze", "infer", "score", "analyze")
    } | {"compare": 1}
    for name in "ab":
        lines = (study.folder / f"store-{name}").glob("*/*.jsonl")
        assert sum(len(file.read_bytes().splitlines()) for file in lines) == PROBLEMS
    assert (study.folder / "comparison.txt").is_file()
    assert not (study.folder / "store").exists()
    assert "Nothing to be done" in study.to_do()

    second["study"]["store"] = "store-c"
    (study.folder / "b.yaml").write_text(yaml.safe_dump(second, sort_keys=False))
    done = study.jobs("snakemake", "--cores", "2")
    assert done == {"b_analyze": 1, "compare": 1}, "the location of a store reruns only the report"


def test_a_rule_before_the_module_is_the_target(tmp_path: Path) -> None:
    study = OwnStudy(make_own(tmp_path).folder)
    snakefile = study.folder / "Snakefile"
    text = snakefile.read_text("utf-8")
    assert "rule mine" not in text
    said = study.run("snakemake", "-n")
    assert "analyze" in said
    snakefile.write_text(f"rule mine:\n    shell: 'true'\n\n\n{text}")
    said = study.run("snakemake", "-n")
    assert "mine" in said
    assert "analyze" not in said
