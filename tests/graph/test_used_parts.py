"""Parts that a study does not use count for no hash; those that it uses do."""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from omibench import plugins
from omibench.graph import code_hash as source
from omibench.graph.job_hash import IN_CODE, slice_study
from omibench.graph.stages import STAGE_NAMES
from omibench.params.study import Study, parse_study
from omibench.plugins.built_in import built_in_parts
from omibench.plugins.files import forget_plugin
from omibench.plugins.sources import SourceSummary, module_meaning
from omibench.settings.registry import PROMPTS
from omibench.settings.templates import Prompt

STUDY: dict[str, Any] = {
    "study": {"name": "small"},
    "freeze": {"name": "small", "version": "1.0.0"},
    "models": {"sim": {"provider": "simulated", "oracle": "oracle.jsonl"}},
    "settings": {"plain": {"prompt": "cot", "decoding": {"max_tokens": 64}}},
    "infer": {"models": ["sim"], "settings": ["plain"]},
    "score": {"scorers": ["usnco-v"]},
}


def study_with(**blocks: Any) -> Study:
    return parse_study(STUDY | blocks, "params.yaml")


def hashes(study: Study) -> dict[str, str]:
    snapshot = source.Snapshot(study)
    return {stage: snapshot.hash_stage(stage) for stage in STAGE_NAMES}


@cache
def _hash_once(values: str) -> dict[str, str]:
    return hashes(parse_study(json.loads(values), "params.yaml"))


def unchanged(study: Study) -> dict[str, str]:
    """The hashes of a study without plug-ins while nothing is patched, computed once."""
    return _hash_once(study.model_dump_json(exclude_defaults=True))


def changed_by(monkeypatch: pytest.MonkeyPatch, study: Study, module: str) -> set[str]:
    """The stages whose code changes with the meaning of a module."""
    before, read = unchanged(study), source.Tree.source

    def source_of(tree: source.Tree, name: str) -> SourceSummary:
        found = read(tree, name)
        return found._replace(meaning="other") if name == module else found

    with monkeypatch.context() as patch:
        patch.setattr(source.Tree, "source", source_of)
        after = hashes(study)
    return {stage for stage in STAGE_NAMES if after[stage] != before[stage]}


def test_a_scorer_reruns_only_studies_that_use_it(monkeypatch: pytest.MonkeyPatch) -> None:
    scorers = built_in_parts("scorers")
    for name in ("emma", "mathreal", "omibench-release"):
        assert changed_by(monkeypatch, study_with(), scorers[name]) == set(), name
    assert "score" in changed_by(monkeypatch, study_with(), scorers["usnco-v"])
    assert "filter" in changed_by(monkeypatch, study_with(), scorers["robust"])
    uses_emma = study_with(score={"scorers": ["robust", "emma"]})
    assert "score" in changed_by(monkeypatch, uses_emma, scorers["emma"])
    sorts = study_with(rationale={"scorer": "omibench"})
    assert "rationale" in changed_by(monkeypatch, sorts, scorers["omibench"])


def test_code_uses_no_other_scorer_by_name() -> None:
    """A default or literal name in code must be in IN_CODE, or a change of it would be missed."""
    import ast

    scorers = built_in_parts("scorers")
    found = set()
    for name, file in source.Tree().files.items():
        text = file.read_text("utf-8")
        if "score_" not in text and not name.startswith("omibench.answers.scorers."):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "").startswith("score_"):
                values = [*node.args, *(word.value for word in node.keywords)]
                found |= {v.value for v in values if isinstance(v, ast.Constant)} & {*scorers}
            if isinstance(node, ast.FunctionDef) and name.startswith("omibench.answers.scorers."):
                found |= {v.value for v in node.args.defaults if isinstance(v, ast.Constant)} & {
                    *scorers
                }
    assert found == IN_CODE


def test_a_prompt_reruns_only_studies_that_use_it(monkeypatch: pytest.MonkeyPatch) -> None:
    before = unchanged(study_with())
    home = built_in_parts("prompts")["cot"]
    assert changed_by(monkeypatch, study_with(), home) == set()
    for name, reruns in (("least-to-most", False), ("cot", True)):
        PROMPTS.get(name)
        with monkeypatch.context() as patch:
            patch.setitem(PROMPTS._parts, name, Prompt("other {question}", "other {question}"))
            after = hashes(study_with())
        assert (after["infer"] != before["infer"]) == reruns, name
        assert after["ocr"] == before["ocr"]


@pytest.mark.slow
def test_packages_that_results_depend_on_count_and_others_do_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def changed(package: str, study: Study) -> set[str]:
        before, version = unchanged(study), source.Snapshot.version

        def other(snapshot: source.Snapshot, name: str) -> str:
            return "99" if name == package else version(snapshot, name)

        with monkeypatch.context() as patch:
            patch.setattr(source.Snapshot, "version", other)
            after = hashes(study)
        return {stage for stage in STAGE_NAMES if after[stage] != before[stage]}

    assert {"score", "filter", "analyze"} <= changed("mpmath", study_with())
    for name in ("huggingface_hub", "httpx", "platformdirs", "openpyxl", "transformers", "sklearn"):
        assert changed(name, study_with()) == set(), name
    assert "score" in changed("openpyxl", study_with(certify={"labels": "labels.xlsx"}))
    assert changed("transformers", study_with(rationale={"tokenizer": "t.json"})) == {"rationale"}
    assert changed("sklearn", study_with(rationale={"taxonomy": {}})) == {"rationale"}


def test_another_minor_version_of_python_reruns_all(monkeypatch: pytest.MonkeyPatch) -> None:
    before = unchanged(study_with())
    monkeypatch.setattr(sys, "version_info", (3, 99, 1, "final", 0))
    after = hashes(study_with())
    assert all(after[stage] != before[stage] for stage in STAGE_NAMES)
    monkeypatch.setattr(sys, "version_info", (3, 99, 2, "final", 0))
    assert hashes(study_with()) == after


PLUGIN = """
from omibench import scorer


@scorer("{name}", version=1)
def score(item):
    raise NotImplementedError("{words}")
"""


def test_a_plug_in_scorer_counts_only_where_it_is_named(
    own_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(own_folder)
    plain = study_with()
    unplugged = {stage: slice_study(plain, stage) for stage in STAGE_NAMES if stage != "infer"}

    def with_plugin(words: str, *scorers: str) -> Study:
        Path("mine.py").write_text(PLUGIN.format(name="mine", words=words))
        return study_with(plugins=["mine.py"], score={"scorers": ["usnco-v", *scorers]})

    def seen(study: Study) -> tuple[dict[str, Any], dict[str, str]]:
        return {stage: slice_study(study, stage) for stage in unplugged}, hashes(study)

    try:
        before = unchanged(plain)
        assert seen(with_plugin("one")) == (unplugged, before)
        assert seen(with_plugin("two")) == (unplugged, before)
        one, code = seen(with_plugin("one", "mine"))
        two, other = seen(with_plugin("two", "mine"))
        assert {stage for stage in unplugged if one[stage] != two[stage]} == {
            "score", "aggregate", "analyze",
        }  # fmt: skip
        assert "score" in {stage for stage in STAGE_NAMES if code[stage] != other[stage]}
        part = parse_study(two["score"], "the slice")
        assert slice_study(part, "score") == two["score"], "a job finds the same from its slice"
    finally:
        forget_plugin("mine.py")


def test_a_figure_of_a_package_reruns_no_scorer_of_it(tmp_path: Path) -> None:
    package = tmp_path / "lab"
    texts = {
        "__init__.py": "",
        "scorers.py": "from .words import normal\nfrom lab import numbers\n",
        "words.py": "def normal():\n    return 1\n",
        "numbers.py": "x = 1\n",
        "figures.py": "from lab.words import normal\n\nsize = 1\n",
        "units.csv": "m",
    }
    package.mkdir()
    for name, text in texts.items():
        (package / name).write_text(text)
    before = module_meaning(package, "lab.scorers"), module_meaning(package, "lab.figures")

    def changed(file: str, text: str) -> tuple[bool, bool]:
        (package / file).write_text(text)
        after = module_meaning(package, "lab.scorers"), module_meaning(package, "lab.figures")
        (package / file).write_text(texts[file])
        return after[0] != before[0], after[1] != before[1]

    assert changed("figures.py", "size = 2\n") == (False, True)
    assert changed("scorers.py", texts["scorers.py"] + "y = 2\n") == (True, False)
    assert changed("scorers.py", texts["scorers.py"] + "# words\n") == (False, False)
    assert changed("words.py", "def normal():\n    return 2\n") == (True, True)
    assert changed("numbers.py", "x = 2\n") == (True, False)
    assert changed("__init__.py", "x = 2\n") == (True, True)
    assert changed("units.csv", "km") == (True, True)
    (package / "scorers.py").write_text("import importlib\n")
    whole = module_meaning(package, "lab.scorers")
    (package / "figures.py").write_text("size = 3\n")
    assert module_meaning(package, "lab.scorers") != whole, "computed imports: all code counts"


def test_the_parts_of_a_package_count_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    from omibench.plugins.sources import SOURCES, PluginSource

    monkeypatch.setitem(SOURCES, "lab 1.0", PluginSource("lab 1.0", Path("lab"), "abc", True))
    monkeypatch.setitem(PROMPTS._parts, "lab-prompt", Prompt("{question}", "{question}"))
    monkeypatch.setitem(PROMPTS._origins, "lab-prompt", "lab 1.0")
    assert plugins.source_hash(["prompts"]) == plugins.source_hash(["prompts"], {"lab-prompt"})
    assert plugins.source_hash(["prompts"], {"cot"}) == ""


def test_a_scorer_named_for_one_stage_reruns_no_stage_before_it() -> None:
    before, after = unchanged(study_with()), hashes(study_with(score={"scorers": ["emma"]}))
    changed = {stage for stage in STAGE_NAMES if after[stage] != before[stage]}
    assert "score" in changed
    assert not changed & {"ocr", "filter", "rationale", "freeze", "infer", "saliency"}


def test_a_prompt_named_for_one_setting_reruns_no_stage_before_it() -> None:
    setting = {"prompt": "least-to-most", "decoding": {"max_tokens": 64}}
    before, after = unchanged(study_with()), hashes(study_with(settings={"plain": setting}))
    changed = {stage for stage in STAGE_NAMES if after[stage] != before[stage]}
    assert "infer" in changed
    assert not changed & {"ocr", "filter", "rationale", "freeze"}
