"""Two people, two clones, one remote: both stores become complete and DVC never touches them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.extras import require_extra
from tests.integration.small_study import Copy, make

from omibench.store.contents import summarise
from omibench.store.store import partition_folders
from omibench.store.verify import verify_store

require_extra("workflow", "dvc")

pytestmark = [pytest.mark.slow, pytest.mark.long]

PROBLEMS = 8


def evaluate(person: Copy, model: str) -> None:
    """Add a model to the params and evaluate it alone."""
    params = person.params()
    params["infer"]["models"] = [model]
    person.write_params(params)
    person.run("snakemake", "--cores", "2", "infer_all")


def held(person: Copy) -> dict[str, int]:
    """Responses by model."""
    folders = partition_folders(person.folder / "store")
    return {str(s.model["id"]): s.counts.responses for s in map(summarise, folders)}


def sound(person: Copy) -> bool:
    store = person.folder / "store"
    return not verify_store(store, partition_folders(store)).faults


@pytest.mark.timeout(900)
def test_two_people_evaluate_different_models_and_share_what_they_bought(
    tmp_path: Path, root: Path
) -> None:
    ana = make(root, tmp_path / "ana", models=1, settings=1)
    ana.run("dvc", "remote", "add", "-d", "folder", str(tmp_path / "remote"))
    # Results are not shared here: without its stages, DVC knows of the archive alone.
    (ana.folder / "dvc.yaml").unlink()
    ana.commit("A remote")
    ana.run("git", "clone", "-q", "--bare", ".", str(tmp_path / "hub"))
    ana.run("git", "remote", "add", "origin", str(tmp_path / "hub"))
    ana.run("git", "clone", "-q", str(tmp_path / "hub"), str(tmp_path / "ben"))
    ben = Copy(tmp_path / "ben")
    assert "no shared responses" in ben.run("omibench", "store", "pull", ok=False)

    for person, model in ((ana, "sim-a"), (ben, "sim-b")):
        evaluate(person, model)
        assert held(person) == {model: PROBLEMS}
        assert "8 responses" in person.run("omibench", "store", "push")
        person.run("git", "add", "archive")
        person.run("git", "commit", "-q", "-m", f"Responses of {model}")
        person.run("git", "checkout", "-q", "params.yaml")
        person.run("git", "pull", "-q", "--no-rebase", "--no-edit", "origin", "main")
        person.run("git", "push", "-q", "origin", "HEAD:main")
    ana.run("git", "pull", "-q", "origin", "main")

    live = {path: path.read_bytes() for path in (ana.folder / "store").rglob("*.jsonl")}
    for person in (ana, ben):
        person.run("omibench", "store", "pull")
        assert held(person) == {"sim-a": PROBLEMS, "sim-b": PROBLEMS}
        assert sound(person)
        assert "nothing new" in person.run("omibench", "store", "pull")
    assert all(path.read_bytes().startswith(text) for path, text in live.items())

    # What DVC does to a working copy leaves the store alone.
    for words in (("pull", "--force"), ("checkout", "--force"), ("gc", "-w", "-f")):
        ana.run("dvc", *words)
    assert held(ana) == {"sim-a": PROBLEMS, "sim-b": PROBLEMS}
    archived = [p.name for p in (ana.folder / "archive").iterdir() if p.is_dir()]
    assert len(archived) == 2
    assert "everything was pushed already (" in ana.run("omibench", "store", "push")
    assert [p.name for p in (ana.folder / "archive").iterdir() if p.is_dir()] == archived

    # A third clone gets everything, and evaluating both models again buys nothing.
    ana.run("git", "clone", "-q", str(tmp_path / "hub"), str(tmp_path / "cleo"))
    cleo = Copy(tmp_path / "cleo")
    assert "omibench store pull" in cleo.run("omibench", "store", "push", ok=False)
    cleo.run("omibench", "store", "pull")
    before = cleo.requests()
    for model in ("sim-a", "sim-b"):
        evaluate(cleo, model)
    assert cleo.requests() == before
    assert held(cleo) == {"sim-a": PROBLEMS, "sim-b": PROBLEMS}
