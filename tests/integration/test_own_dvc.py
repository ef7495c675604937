"""`dvc repro` in a folder made by `omibench init` notices whatever a user changes there."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from tests.conftest import Build
from tests.extras import require_extra
from tests.integration.own_study import PEOPLE, OwnStudy, add_people, init_dvc, make_own

require_extra("workflow", "dvc")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
REPRO = ("dvc", "repro")


@pytest.fixture(scope="module")
def built(build_once: Build) -> OwnStudy:
    """The study, built by DVC, with a file that only its parameters name."""

    def fill(folder: Path) -> None:
        study = make_own(folder)
        init_dvc(study)
        study.run(*REPRO)
        add_people(study)
        assert study.jobs(*REPRO) == {"analyze": 1}
        study.commit("Built")

    return OwnStudy(build_once("own-dvc", fill) / "study")


def test_a_file_that_parameters_name_is_watched(built: OwnStudy, tmp_path: Path) -> None:
    study = built.own(tmp_path / "study")
    assert study.jobs(*REPRO) == {}
    study.replace(PEOPLE, ",A,", ",B,")
    assert study.jobs(*REPRO) == {"analyze": 1}
    assert "Nothing to be done" in study.to_do()


@pytest.mark.long
def test_another_version_of_the_dataset_is_in_the_report(built: OwnStudy, tmp_path: Path) -> None:
    study = built.own(tmp_path / "study")
    params = study.params()
    params["freeze"]["version"] = "1.0.1"
    study.write_params(params)
    assert study.jobs(*REPRO) == {"freeze": 1, "analyze": 1}
    report = (study.folder / "results/analyze/report.html").read_text("utf-8")
    name = study.manifest()["name"]
    assert f"{name} 1.0.1" in report
    assert f"{name} 1.0.0" not in report


@pytest.mark.long
def test_a_package_without_a_line_in_requirements_is_noticed(
    built: OwnStudy, tmp_path: Path
) -> None:
    study = built.own(tmp_path / "study")
    folder = tmp_path / "site/mpmath-99.0.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: mpmath\nVersion: 99.0\n")
    source = str(Path(__file__).parents[2] / "src")
    done = study.jobs(*REPRO, PYTHONPATH=f"{source}:{folder.parent}")
    assert done["score"] == 2
    assert done["analyze"] == 1
    assert "infer" not in done


def test_results_that_dvc_brings_back_are_accepted_and_edited_ones_are_not(
    built: OwnStudy, tmp_path: Path
) -> None:
    study = built.own(tmp_path / "study")
    shutil.rmtree(study.folder / "results")
    shutil.rmtree(study.folder / ".snakemake")
    study.run("dvc", "checkout")
    assert study.jobs(*REPRO) == {}
    assert study.jobs(*REPRO, "--force") == {}, "Snakemake finds what was checked out as current"
    shutil.rmtree(study.folder / ".snakemake")
    report = study.folder / "results/analyze/report.html"
    report.unlink()
    report.write_text("mine")
    said = study.run(*REPRO, "--force", ok=False)
    assert re.search(r"analyze: report.html: has changed since it was made", said)
