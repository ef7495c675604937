"""A section of the report is one module, ours or a plug-in's."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from tests.stages.analyze.conftest import Folders
from tests.stages.analyze.pages import Page

from omibench.errors import PluginError
from omibench.plugins.registry import loading
from omibench.stages.analyze.sections import SECTIONS

pytestmark = pytest.mark.usefixtures("undrawn")

PLUGIN = Path(__file__).with_name("my_sections.py")


@pytest.fixture
def origin(tmp_path: Path) -> Iterator[str]:
    """The name under which a plug-in is loaded; what it has registered is gone afterwards."""
    name = str(tmp_path / "my_sections.py")
    yield name
    SECTIONS.forget(name)


def load(origin: str, text: str) -> None:
    """Load a plug-in from a file."""
    file = Path(origin)
    file.write_text(text, "utf-8")
    spec = spec_from_file_location("my_sections", file)
    assert spec
    assert spec.loader
    with loading(origin):
        spec.loader.exec_module(module_from_spec(spec))


def run(made: Folders, out: Path) -> Page:
    """Analyze the made study, without its explorer."""
    values = made.study.model_dump(mode="json", exclude_defaults=True)
    values["analyze"] = {"explorer": False}
    return Page(made.analyze(out, type(made.study).model_validate(values)).report)


def test_a_plug_in_adds_cards_tables_and_figures(
    made: Folders, tmp_path: Path, origin: str
) -> None:
    load(origin, PLUGIN.read_text("utf-8"))
    page = run(made, tmp_path / "out")
    page.assert_harmless()
    assert {"main", "languages", "loudest", "own", "provenance"} <= page.ids
    assert "unseen" not in page.ids
    assert "Problems by language" in page.text
    assert "of each <language>." in page.text
    assert '<script>alert("pwned")</script>' in page.text
    with (tmp_path / "out/languages.csv").open() as file:
        assert list(csv.DictReader(file)) == [
            {"language": "de", "problems": "7"},
            {"language": "en", "problems": "21"},
        ]
    assert (tmp_path / "out/figures/loudest.svg").read_text() == "<svg id='own'></svg>"
    assert list(SECTIONS)[-3:] == ["languages", "loudest", "unseen"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("    def view(self):\n        return {}[1]", r"'mine': .*KeyError: 1"),
        (
            "    def __init__(self, analysis):\n        1 / 0",
            r"'mine': .*ZeroDivisionError",
        ),
        (
            "    def tables(self):\n        yield ReportTable('../main', [])",
            r"'mine': '\.\./main' is not a valid table name",
        ),
        (
            "    def tables(self):\n        yield ReportTable('main', [])",
            r"main\.csv is written by the report sections 'main' and 'mine'",
        ),
        ("    template = '{{ nobody }}'\n    def view(self):\n        return {}", "'mine': .*"),
    ],
)
def test_what_fails_in_a_plug_in_is_one_line(
    made: Folders, tmp_path: Path, origin: str, body: str, message: str
) -> None:
    start = "from omibench.stages.analyze.sections import ReportSection, ReportTable, section\n\n\n"
    load(origin, f'{start}@section("mine")\nclass Mine(ReportSection):\n{body}\n')
    with pytest.raises(PluginError, match=message) as told:
        run(made, tmp_path / "out")
    assert len(told.value.lines) == 1


def test_a_section_shows_a_registered_figure_in_its_card(
    made: Folders, tmp_path: Path, origin: str
) -> None:
    load(
        origin,
        "from omibench.stages.analyze.sections import ReportSection, section\n\n\n"
        '@section("mine")\nclass Mine(ReportSection):\n'
        '    shows = "ranks"\n'
        "    template = '<p id=\"mine\">{{ figure.takeaway }}</p>{{ figure.svg }}'\n"
        "    def view(self):\n        return {}\n"
        "    def takeaway(self):\n        return 'Nobody leads.'\n",
    )
    page = run(made, tmp_path / "out")
    assert "Nobody leads." in page.text
    assert "figure-ranks" not in page.ids
    figures = {path.name for path in (tmp_path / "out/figures").glob("*.svg")}
    assert "mine.svg" in figures
    assert "ranks.svg" not in figures
