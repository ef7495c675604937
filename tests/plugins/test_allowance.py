"""Code of a study's folder runs only where it was allowed: by hash, or as a folder made here."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
import yaml
from tests.command_line import call_main
from tests.plugins.test_files import RULE

from omibench.errors import PluginError, UntrustedError
from omibench.params.study import parse_study_file
from omibench.plugins.allowance import (
    ALLOW_ENV,
    allow_code,
    allow_folder,
    allow_for_jobs,
    are_allowed,
    find_code,
    find_state,
    hash_code,
    list_states,
    require_allowed,
)

PARAMS = {"plugins": ["rules.py"], "score": {"scorers": ["halves"]}}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stranger's study: nothing of it was allowed, and the state is empty."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv(ALLOW_ENV, raising=False)
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "")
    folder = tmp_path / "study"
    folder.mkdir()
    (folder / "rules.py").write_text(f'from pathlib import Path\nPath("ran").touch()\n{RULE}')
    (folder / "params.yaml").write_text(yaml.safe_dump(PARAMS))
    monkeypatch.chdir(folder)
    return folder


def refusal(**changes: object) -> str:
    with pytest.raises(UntrustedError) as raised:
        require_allowed({**PARAMS, **changes}, ["params.yaml"], find_code)
    return str(raised.value)


def test_a_plug_in_runs_only_after_it_was_allowed(folder: Path) -> None:
    with pytest.raises(UntrustedError, match=r"rules\.py \(new\); .*omibench allow --show"):
        parse_study_file("params.yaml")
    assert not (folder / "ran").exists()
    shown = call_main("allow", "--show")
    assert "new      rules.py" in shown.stdout
    with pytest.raises(UntrustedError):
        parse_study_file("params.yaml")
    assert call_main("allow").returncode == 0
    assert parse_study_file("params.yaml").score.scorers == ["halves"]
    assert find_state().stat().st_mode & 0o777 == 0o600
    (folder / "rules.py").write_text(f"{RULE}\n# a remark\n")
    with pytest.raises(UntrustedError, match=r"rules\.py \(changed\)"):
        parse_study_file("params.yaml")
    call_main("allow")
    parse_study_file("params.yaml")
    assert call_main("allow", "--forget").returncode == 0
    with pytest.raises(UntrustedError):
        parse_study_file("params.yaml")


def test_a_command_says_it_in_one_line_and_others_work(folder: Path) -> None:
    done = call_main("plan")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert call_main("status").returncode == 0
    assert not (folder / "ran").exists()


def test_the_hash_in_the_environment_allows_what_it_was_made_of(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = call_main("allow", "--show").stdout.rpartition("hash: ")[2].strip()
    assert digest == hash_code(find_code(PARAMS))
    monkeypatch.setenv(ALLOW_ENV, f"{'0' * 64} {digest}")
    parse_study_file("params.yaml")
    (folder / "rules.py").write_text(RULE.replace("0.5", "0.25"))
    monkeypatch.setenv(ALLOW_ENV, digest)
    with pytest.raises(UntrustedError, match="new"):
        parse_study_file("params.yaml")


def test_jobs_get_the_hashes_of_what_they_run(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment: dict[str, str] = {}
    assert not allow_for_jobs({"models": {}}, environment)
    assert allow_for_jobs(PARAMS, environment)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "another machine"))
    monkeypatch.setenv(ALLOW_ENV, environment[ALLOW_ENV])
    parse_study_file(json.dumps(PARAMS))
    (folder / "rules.py").write_text(RULE)
    with pytest.raises(UntrustedError):
        parse_study_file(json.dumps(PARAMS))


def test_a_folder_that_init_or_new_made_is_allowed_whatever_its_code(tmp_path: Path) -> None:
    assert call_main("init", "mine", "--benchmark", "emma", cwd=tmp_path).returncode == 0
    mine = tmp_path / "mine"
    (mine / "rules.py").write_text("x = 1\n")
    with (mine / "Snakefile").open("a") as file:
        file.write("\nprint(1)\n")
    assert are_allowed(find_code(PARAMS, mine), mine)
    empty = tmp_path / "empty"
    empty.mkdir()
    assert call_main("new", "scorer", "thirds", cwd=empty).returncode == 0
    (empty / "thirds.py").write_text("x = 1\n")
    assert are_allowed(find_code({}, empty), empty)


def test_new_and_init_allow_no_folder_with_code_of_others(folder: Path) -> None:
    done = call_main("new", "scorer", "thirds")
    assert "had other code, which is not allowed" in done.stderr
    assert list_states(find_code(PARAMS))["rules.py"] == "new"
    (folder / "params.yaml").unlink()
    done = call_main("init", str(folder), "--benchmark", "emma")
    assert done.returncode == 0, done.stderr
    assert "had other code, which is not allowed" in done.stderr
    assert not are_allowed(find_code(PARAMS))


@pytest.mark.parametrize("mark", ["params.yaml", "Snakefile", ".git"])
def test_a_folder_that_is_allowed_allows_no_study_below_it(folder: Path, mark: str) -> None:
    allow_folder(folder)
    inner = folder / "theirs"
    inner.mkdir()
    (inner / mark).touch()
    (inner / "evil.py").write_text(RULE)
    with pytest.raises(UntrustedError, match=r"theirs/evil\.py \(new\)"):
        require_allowed({"plugins": ["theirs/evil.py"]}, ["params.yaml"])
    with pytest.raises(UntrustedError):
        require_allowed(PARAMS, ["theirs/params.yaml"])
    with pytest.raises(UntrustedError):
        require_allowed(PARAMS, ["../params.yaml"])
    require_allowed(PARAMS, ["params.yaml"])


@pytest.mark.parametrize(
    "name",
    [
        "Snakefile", "snakefile", "workflow/Snakefile", "rules/more.smk", "polars.py",
        "polars.so", "deep/package/__init__.py", "profiles/default/config.yaml", "profiles/x",
        "default/config.v9+.yaml", "workflow/profiles/default/config.yaml", "scripts/x.R",
        "package/__pycache__/x.cpython-311.pyc",
    ],
)  # fmt: skip
def test_every_file_that_a_run_may_execute_counts(folder: Path, name: str) -> None:
    allow_code(find_code(PARAMS))
    require_allowed(PARAMS, ["params.yaml"], find_code)
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x")
    assert f"{name} (new)" in refusal()
    allow_code(find_code(PARAMS))
    require_allowed(PARAMS, ["params.yaml"], find_code)
    path.write_text("y")
    assert f"{name} (changed)" in refusal()


def test_the_name_of_a_data_folder_hides_no_code(folder: Path) -> None:
    (folder / "polars").mkdir()
    (folder / "polars/__init__.py").touch()
    assert "polars/__init__.py (new)" in refusal(data="polars", study={"results": "polars"})


def test_links_hide_no_code(folder: Path, tmp_path: Path) -> None:
    (folder / ".hidden").mkdir()
    (folder / ".hidden/x.py").touch()
    assert ".hidden/x.py" not in find_code({})
    (folder / "polars").symlink_to(".hidden")
    (folder / "round").symlink_to(".")
    (folder / "out").symlink_to(tmp_path)
    code = find_code({})
    assert {"polars/x.py", "out/"} <= set(code)
    os.mkfifo(folder / "pipe.py")
    assert find_code({})["pipe.py"] == "", "nothing waits for a pipe"


def test_what_omibench_ships_is_no_code_of_a_folder(folder: Path, root: Path) -> None:
    for name in ("Snakefile", "rules/infer.smk", "profiles/default/config.yaml"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes((root / name).read_bytes())
    assert set(find_code(PARAMS)) == {"rules.py"}
    (folder / "lib").mkdir()
    (folder / "lib/Snakefile").write_bytes((root / "Snakefile").read_bytes())
    assert "lib/Snakefile" in find_code(PARAMS)


@pytest.mark.parametrize("place", ["../elsewhere", "/etc", "link/inner"])
@pytest.mark.parametrize("key", ["results", "store"])
def test_results_outside_the_folder_are_refused(folder: Path, key: str, place: str) -> None:
    (folder / "link").symlink_to("/")
    allow_code(find_code(PARAMS))
    require_allowed({**PARAMS, "study": {key: "deep/out"}}, ["params.yaml"], find_code)
    said = refusal(study={key: place})
    assert f"study.{key}: writes to {os.path.realpath(place)} (new)" in said
    allow_code(find_code({"study": {key: place}}))
    require_allowed({**PARAMS, "study": {key: place}}, ["params.yaml"], find_code)


@pytest.mark.parametrize("key", ["results", "store"])
def test_a_command_of_a_stage_refuses_them_as_run_does(folder: Path, key: str) -> None:
    study = {key: "../elsewhere"}
    (folder / "params.yaml").write_text(yaml.safe_dump({"study": study}))
    ask = ("infer", "questions.jsonl", "--model", "m", "--setting", "s", "--out", "x.parquet")
    for words in (ask, ("plan",)):
        done = call_main(*words)
        assert done.returncode == 2
        assert f"study.{key}: writes to {folder.parent}/elsewhere (new)" in done.stderr
    assert call_main("status").returncode == 0
    parse_study_file("params.yaml", {"study": study})  # the choice of the caller
    with pytest.raises(UntrustedError, match=f"study.{key}: writes to"):
        parse_study_file("params.yaml", pairs={"study": {"seed": 3}})
    parse_study_file("params.yaml", pairs={"study": study})
    done = call_main("plan", "--set", "study={seed: 3}")
    assert f"study.{key}: writes to {folder.parent}/elsewhere (new)" in done.stderr
    assert call_main("allow").returncode == 0
    parse_study_file("params.yaml")


@pytest.mark.parametrize(
    "block",
    [
        {"prompts": "../words"},
        {"settings": {"cot": {"prompt": "/etc/hostname"}}},
        {"settings": {"cot": {"prompts": {"cot": "inner/../../key.txt"}}}},
        {"filter": {"captions": {"caption_prompt": "link/etc/hostname"}}},
    ],
)
def test_files_outside_the_folder_are_sent_as_prompts_only_if_allowed(
    folder: Path, block: dict[str, object]
) -> None:
    (folder / "link").symlink_to("/")
    allow_code(find_code(PARAMS))
    inside = {"prompts": "words", "settings": {"cot": {"prompt": "cot"}}}
    require_allowed({**PARAMS, **inside}, ["params.yaml"], find_code)
    assert "prompts: sends /" in refusal(**block)
    allow_code(find_code(block))
    require_allowed({**PARAMS, **block}, ["params.yaml"], find_code)


def test_own_code_of_a_model_is_allowed_at_its_revision() -> None:
    def values(revision: str) -> dict[str, object]:
        block = {"provider": "transformers", "id": "org/model", "revision": revision}
        return {"models": {"m": {**block, "trust_remote_code": True}}}

    first, second = values("a" * 40), values("b" * 40)
    with pytest.raises(UntrustedError, match=r"models\.m: code of org/model at a{40} \(new\)"):
        require_allowed(first)
    allow_code(find_code(first))
    require_allowed(first)
    with pytest.raises(UntrustedError):
        require_allowed(second)


def test_an_experiment_of_dvc_is_as_its_project(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    allow_folder(folder)
    copy = folder / ".dvc/tmp/exps/tmpab12"
    copy.mkdir(parents=True)
    (copy / "rules.py").write_text(RULE)
    (copy / "params.yaml").write_text(yaml.safe_dump(PARAMS))
    monkeypatch.chdir(copy)
    parse_study_file("params.yaml")


def test_a_broken_state_is_named_and_nothing_is_allowed(folder: Path) -> None:
    allow_folder(folder)
    for text in ("[1]", json.dumps({str(folder): [1]}), "{"):
        find_state().write_text(text)
        done = call_main("plan")
        assert done.returncode == 2
        assert done.stderr.startswith(f"omibench: {find_state()}")
        assert not (folder / "ran").exists()


def test_a_refusal_is_no_mistake_of_a_plug_in() -> None:
    assert not issubclass(UntrustedError, PluginError)
