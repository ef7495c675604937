"""Which files the explorer reads, from what the command line names."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from tests.stages.analyze.conftest import Folders, make_study, study_values

from omibench.cli.explore import find_dataset, find_results_and_study, find_sources
from omibench.datasets.release.build import build_release
from omibench.datasets.release.splits import ReleaseOptions
from omibench.errors import MissingInputError, OmibenchError, ParamsError
from omibench.explore.app.live import LiveStudy
from omibench.explore.app.settings import ExplorerSources
from small_freeze import write_freeze, write_sources


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    """The files of a small study."""
    return make_study(tmp_path_factory.mktemp("explore"))


@pytest.fixture
def results(made: Folders) -> Path:
    """The folder of its results."""
    return made.freeze.parent


def write_params(folder: Path, results: str, **blocks: object) -> None:
    """A params.yaml that names a folder of results."""
    values = study_values()
    values["study"] = {"name": "s", "title": "A title", "results": results, "store": "bought"}
    values |= {"score": {"scorers": ["omibench", "robust"]}, **blocks}
    (folder / "params.yaml").write_text(yaml.safe_dump(values))
    (folder / "oracle.jsonl").touch()


def test_parameters_count_where_they_name_these_results(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").symlink_to(results)
    assert find_results_and_study(results, None)[1] is None
    write_params(tmp_path, "results", review={"folder": "review"})
    sources = find_sources(Path("results"), None, None, None)
    assert sources.title == "A title"
    assert sources.labels["sim-weak"] == "Weak"
    assert sources.main_rules == "omibench"
    assert (sources.store, sources.pages) == (Path("bought"), Path("review"))
    assert sources.review is None
    write_params(tmp_path, "elsewhere")
    assert find_sources(results, None, None, None).study is None
    assert find_sources(results, None, "params.yaml", None).study is not None


def test_broken_parameters_hide_no_results(
    results: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params.yaml").write_text("models: 3\n")
    assert find_results_and_study(results, None)[1] is None
    assert "without their labels" in capsys.readouterr().err
    with pytest.raises(ParamsError):
        find_results_and_study(results, "params.yaml")


def test_what_is_no_results_is_one_line(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder, other, message in (
        (tmp_path, None, "is not a results folder"),
        (results / "freeze", None, "omibench explore --dataset"),
        (results, tmp_path, "is not a results folder"),
    ):
        with pytest.raises(MissingInputError, match=message) as caught:
            find_sources(folder, other, None, None)
        assert len(str(caught.value).splitlines()) == 1


def test_a_dataset_is_shown_before_a_model_is_asked(results: Path, tmp_path: Path) -> None:
    for folder in (results, results / "freeze"):
        live = LiveStudy(find_dataset(folder, None, tmp_path))
        assert len(live.read().study.items.ids) == 28
        assert live.read().study.run is None


def list_shown(sources: ExplorerSources) -> list[str]:
    """The ids of the items that the explorer shows; their pictures are there."""
    snapshot = LiveStudy(sources).read()
    for question in snapshot.study.items.questions.values():
        for figure in question.images:
            assert snapshot.pictures.read(figure.sha256) is not None
    return snapshot.study.items.ids


def test_an_importers_items_are_shown_with_their_pictures(tmp_path: Path) -> None:
    folder = write_freeze(tmp_path / "frozen")
    sources = find_dataset(folder, "frozen", tmp_path / "scratch")
    assert sources.title == "frozen (frozen)"
    assert list_shown(sources) == list_shown(ExplorerSources(folder))


def test_a_release_is_shown_as_its_freeze_was(tmp_path: Path) -> None:
    folder = write_freeze(tmp_path / "results" / "freeze")
    papers = write_sources(tmp_path / "sources.yaml")
    options = ReleaseOptions(sources=papers, version="2.0.0", draft=True)
    build_release(folder, tmp_path / "release", options)
    sources = find_dataset(tmp_path / "release", None, tmp_path / "scratch")
    assert sources.title == "release"
    assert sorted(list_shown(sources)) == sorted(list_shown(ExplorerSources(folder)))


@pytest.mark.parametrize(
    ("benchmark", "error", "message"),
    [
        (None, MissingInputError, "is not a dataset"),
        ("emmma", ParamsError, "--benchmark"),
        ("papers", ParamsError, "is not read from files"),
        ("emma", OmibenchError, "parquet"),
    ],
)
def test_what_is_no_dataset_is_one_line(
    tmp_path: Path, benchmark: str | None, error: type[OmibenchError], message: str
) -> None:
    with pytest.raises(error, match=message) as caught:
        find_dataset(tmp_path, benchmark, tmp_path / "scratch")
    assert len(str(caught.value).splitlines()) == 1


def test_the_results_of_a_rehearsal_belong_to_the_parameters(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_params(tmp_path, "results", benchmark={"name": "emma"}, review={"folder": "review"})
    (tmp_path / "results-simulated").symlink_to(results)
    found = find_sources(Path("results-simulated"), None, None, Path("review"))
    assert found.study is not None
    assert found.study.study.results == "results-simulated"
    assert all(block.is_simulated for block in found.study.models.values())
    assert found.review == Path("review")


def test_tags_need_no_parameters(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sources = find_sources(results, None, None, tmp_path / "review")
    assert (sources.study, sources.review) == (None, tmp_path / "review")
