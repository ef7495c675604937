"""Results that DVC brings from elsewhere are believed when they are what they are said to be."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from tests.conftest import Build
from tests.extras import require_extra
from tests.integration.small_study import Copy, built_by_dvc

require_extra("workflow", "dvc")

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(900)]

BUCKET = "omibench"
KEYS = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}
NOTHING = "Nothing to be done"
Tampering = Callable[[Path], None]


@pytest.fixture(scope="module")
def origin(build_once: Build, root: Path) -> Copy:
    """A study that was built, committed and pushed to a remote in a folder, in two revisions."""
    first = build_once("by-dvc", lambda folder: built_by_dvc(folder, root)) / "study"
    return Copy(build_once("origin", lambda folder: publish(Copy(first), folder)) / "study")


def publish(first: Copy, folder: Path) -> None:
    """Make that study from one that was built."""
    study = first.copy(folder / "study")
    study.run("dvc", "remote", "add", "-d", "folder", str(folder / "remote"))
    study.commit("First results")
    study.run("git", "tag", "first")
    study.run("dvc", "push")
    params = study.params()
    params["settings"]["direct"]["decoding"]["max_tokens"] = 512
    study.write_params(params)
    assert study.jobs("dvc", "repro") == {"infer": 1, "score": 1, "analyze": 1}
    study.commit("Fewer tokens")
    study.run("dvc", "push")


@pytest.fixture
def clone(origin: Copy, tmp_path: Path) -> Copy:
    """A fresh clone, before anything is pulled."""
    origin.run("git", "clone", "-q", ".", str(tmp_path / "clone"))
    return Copy(tmp_path / "clone")


def test_after_pull_and_trust_nothing_is_to_do_and_a_later_edit_runs_what_it_must(
    clone: Copy,
) -> None:
    clone.run("dvc", "pull")
    assert "`omibench trust`" in clone.run("snakemake", "-n", ok=False)
    assert "Snakemake has nothing to rebuild" in clone.run("omibench", "trust")
    assert NOTHING in clone.to_do()
    assert clone.run("dvc", "status") == "Data and pipelines are up to date.\n"
    assert "trusted: nothing new" in clone.run("omibench", "trust")
    params = clone.params()
    params["settings"]["cot"]["decoding"]["max_tokens"] = 700
    clone.write_params(params)
    assert clone.jobs("snakemake", "--cores", "2") == {"infer": 1, "score": 1, "analyze": 1}
    assert clone.requests() == 8


def test_an_older_revision_is_believed_and_so_is_the_way_back(clone: Copy) -> None:
    clone.run("dvc", "pull")
    clone.run("omibench", "trust")
    for revision in ("first", "main"):
        clone.run("git", "checkout", "-q", revision)
        clone.run("dvc", "fetch")
        clone.run("dvc", "checkout", "--force")
        assert "`omibench trust`" in clone.run("snakemake", "-n", ok=False)
        clone.run("omibench", "trust")
        assert NOTHING in clone.to_do(), revision


def test_results_that_are_missing_here_are_told_with_their_commit_and_the_way_to_get_them(
    clone: Copy,
) -> None:
    """As after `git checkout` of an older commit and `dvc checkout` without its cache."""
    clone.run("git", "checkout", "-q", "first")
    clone.run("dvc", "checkout", ok=False)
    said = clone.run("omibench", "trust", ok=False)
    assert "by A Tester recorded in dvc.lock, are missing; `dvc pull && omibench trust`" in said
    clone.run("dvc", "pull")
    clone.run("omibench", "trust")
    assert NOTHING in clone.to_do()


def test_results_of_another_revision_than_the_parameters_are_named(clone: Copy) -> None:
    clone.run("dvc", "pull")
    clone.run("git", "checkout", "-q", "first", "--", "params.yaml")
    said = clone.run("omibench", "trust", ok=False)
    assert "infer: sim-a/direct.parquet: params changed" in said
    assert "sim-a/cot" not in said.split("Nothing")[0].split("score:")[0]
    assert clone.jobs("dvc", "repro") == {"infer": 1, "score": 1, "analyze": 1}


def forge_headline(results: Path) -> None:
    """Other words in a result, and their hash in its provenance."""
    folder = results / "analyze"
    true, forged = (folder / "headline.txt").read_bytes(), b"everything is right"
    known = folder / "provenance.json"
    text = known.read_text().replace(sha256(true).hexdigest(), sha256(forged).hexdigest())
    assert sha256(forged).hexdigest() in text
    for path, content in ((folder / "headline.txt", forged), (known, text.encode())):
        path.unlink()
        path.write_bytes(content)


def write(file: str, content: bytes) -> Tampering:
    """Replace a result; what DVC links to stays as it is."""

    def edit(results: Path) -> None:
        (results / file).unlink()
        (results / file).write_bytes(content)

    return edit


def remove(file: str) -> Tampering:
    """Remove a result."""
    return lambda results: (results / file).unlink()


TAMPERED: dict[str, Tampering] = {
    "score: sim-a/cot.parquet: has changed": write("score/sim-a/cot.parquet", b"other"),
    "infer: sim-a/cot.parquet: is missing": remove("infer/sim-a/cot.parquet"),
    "freeze: answers.jsonl: has changed": write("freeze/answers.jsonl", b""),
    "infer/provenance.json: cannot be read": write("infer/provenance.json", b"{"),
    "analyze: metrics.json: has changed": write("analyze/metrics.json", b"{}"),
    "analyze: headline.txt: modified (reported by DVC)": forge_headline,
    "infer: there is no provenance.json": remove("infer/provenance.json"),
}


def test_what_was_tampered_with_is_refused_and_named_until_it_is_as_it_was(clone: Copy) -> None:
    clone.run("dvc", "pull")
    for said, tamper in TAMPERED.items():
        tamper(clone.folder / "results")
        assert said in clone.run("omibench", "trust", ok=False)
        refused = "move it away" if "no provenance" in said else "`omibench trust`"
        assert refused in clone.run("snakemake", "-n", ok=False), said
        clone.run("dvc", "checkout", "--force")
    clone.run("omibench", "trust")
    assert NOTHING in clone.to_do()


def test_a_partial_pull_is_refused_and_the_rest_can_be_built(clone: Copy) -> None:
    clone.run("dvc", "pull", "freeze", "infer")
    said = clone.run("omibench", "trust", ok=False)
    assert "score: sim-a/cot.parquet: missing" in said
    assert clone.jobs("snakemake", "--cores", "2") == {"score": 2, "analyze": 1}


def test_a_remote_with_damaged_files_is_noticed(origin: Copy, clone: Copy, tmp_path: Path) -> None:
    shutil.copytree(origin.folder.parent / "remote", tmp_path / "remote")
    clone.run("dvc", "remote", "add", "-d", "-f", "folder", str(tmp_path / "remote"))
    listed = clone.run("dvc", "ls", ".", "--dvc-only", "-R", "--show-hash", "--rev", "HEAD")
    (line,) = [row for row in listed.splitlines() if row.endswith("score/sim-a/cot.parquet")]
    md5 = line.split()[0]
    stored = tmp_path / "remote/files/md5" / md5[:2] / md5[2:]
    stored.chmod(0o644)
    stored.write_bytes(b"damaged")
    clone.run("dvc", "pull")
    assert "score: sim-a/cot.parquet" in clone.run("omibench", "trust", ok=False)


@pytest.fixture
def s3() -> Iterator[str]:
    """A server that speaks S3, with an empty bucket."""
    server = pytest.importorskip("moto.server", reason="moto is not installed")
    pytest.importorskip("dvc_s3", reason="the extra `s3` is not installed")
    boto3 = pytest.importorskip("boto3")
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    url = f"http://{host}:{port}"
    client = boto3.client(
        "s3", endpoint_url=url, region_name="us-east-1",
        aws_access_key_id=KEYS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=KEYS["AWS_SECRET_ACCESS_KEY"],
    )  # fmt: skip
    client.create_bucket(Bucket=BUCKET)
    yield url
    running.stop()


def test_a_remote_on_s3_does_as_well(origin: Copy, clone: Copy, s3: str) -> None:
    for study in (origin, clone):
        study.run("dvc", "remote", "add", "-f", "--local", "s3", f"s3://{BUCKET}/study")
        study.run("dvc", "remote", "modify", "--local", "s3", "endpointurl", s3)
    origin.run("dvc", "push", "-r", "s3", **KEYS)
    clone.run("dvc", "pull", "-r", "s3", **KEYS)
    clone.run("omibench", "trust")
    assert NOTHING in clone.to_do()
