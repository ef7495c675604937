"""Exported items: every link stays in the folder, and nothing of others becomes markup."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import polars as pl
import pytest
from tests.explore.app.studies import draw, make_sources, write_ocr_page
from tests.stages.analyze.conftest import HOSTILE
from tests.stages.analyze.explorer.test_steps import keep, said
from tests.stages.analyze.pages import Page

from omibench.errors import MissingInputError, OutputError, ParamsError
from omibench.explore.app.live import LiveStudy, Snapshot
from omibench.explore.app.settings import ExplorerSources
from omibench.explore.export import ExportChoice, choose_items, export_items
from omibench.explore.query import ItemQuery
from omibench.explore.selection import Study
from omibench.params.setting import Cell
from omibench.schemas.problem import Answer, Question
from omibench.schemas.request import ImagePart, Response
from omibench.schemas.tables import (
    JudgementRow,
    SaliencyRow,
    map_file,
    read_jsonl,
    write_jsonl,
    write_parquet,
)
from omibench.stages.analyze.pages import problem_file


def choose(snapshot: Snapshot, *texts: str, **query: object) -> ExportChoice:
    return choose_items(snapshot.study, texts or ["?"], ItemQuery(**query))  # type: ignore[arg-type]


def read_pages(folder: Path) -> dict[str, Page]:
    return {p.relative_to(folder).as_posix(): Page(p) for p in sorted(folder.rglob("*.html"))}


@pytest.fixture(scope="session")
def exported(results: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All items of the small study under all cells."""
    folder = tmp_path_factory.mktemp("exported") / "items"
    snapshot = LiveStudy(make_sources(results)).read()
    export_items(folder, snapshot, choose(snapshot))
    return folder


def test_every_link_stays_in_the_folder_and_leads_somewhere(exported: Path) -> None:
    pages = read_pages(exported)
    assert len(pages) == 1 + 28
    anchors = {page.path.resolve(): page.anchors for page in pages.values()}
    for page in pages.values():
        page.assert_harmless()
        for link in page.links() + page.links("src") + page.pictures:
            file, fragment = page.target(link)
            assert file.is_file(), (page.path, link)
            assert file.is_relative_to(exported.resolve()), (page.path, link)
            assert not fragment or fragment in anchors[file], (page.path, link)


def test_a_page_shows_the_item_and_all_responses(exported: Path, results: Path) -> None:
    pages = read_pages(exported)
    del pages["index.html"]
    planted = next(p for p in pages.values() if HOSTILE in p.data["place"]["item"]["question"])
    html = planted.path.read_text()
    assert "<script>alert" not in html
    assert "noscript" in html
    assert len(planted.data["place"]["columns"]) == 9
    assert planted.data["study"]["simulated"]
    assert str(results) not in html


def test_equal_inputs_give_equal_files(exported: Path, results: Path, tmp_path: Path) -> None:
    snapshot = LiveStudy(make_sources(results)).read()
    export_items(tmp_path / "again", snapshot, choose(snapshot))
    files = [p.relative_to(exported) for p in sorted(exported.rglob("*")) if p.is_file()]
    again = tmp_path / "again"
    assert files == [p.relative_to(again) for p in sorted(again.rglob("*")) if p.is_file()]
    assert all((exported / f).read_bytes() == (again / f).read_bytes() for f in files)


def test_the_first_page_has_the_verdict_of_each_cell(exported: Path) -> None:
    index = Page(exported / "index.html")
    marks = [link for link in index.links() if "#" in link]
    assert len(marks) == 28 * 9
    assert "SIMULATED" in index.text
    assert {"right", "wrong"} <= {word.strip() for word in index.words}
    text = (exported / "index.html").read_text("utf-8")
    assert all(f'class="verdict {kind}"' in text for kind in ("right", "wrong"))


def test_what_was_exported_is_listed_for_programs(exported: Path) -> None:
    listed = json.loads((exported / "items.json").read_text())
    assert len(listed["items"]) == 28
    assert len(listed["cells"]) == 9
    assert listed["simulated"] is True
    assert all((exported / item["page"]).is_file() for item in listed["items"])


def test_only_what_was_chosen_is_there(results: Path, tmp_path: Path) -> None:
    snapshot = LiveStudy(make_sources(results)).read()
    first, second, *_ = snapshot.study.items.ids
    chosen = choose(snapshot, second, first, models=("sim-weak",), settings=("cot",))
    export_items(tmp_path / "out", snapshot, chosen)
    pages = read_pages(tmp_path / "out")
    assert len(pages) == 3
    page = pages[f"pages/{problem_file(first)}"]
    assert page.anchors - page.ids == {"sim-weak@cot"}
    assert page.data["files"] == {second: problem_file(second)}
    figures = {
        figure.sha256
        for name in (first, second)
        for figure in snapshot.study.items.questions[name].images
    }
    assert {path.stem for path in (tmp_path / "out" / "pictures").iterdir()} == figures


def test_many_cells_are_counted_in_place_of_columns(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("omibench.stages.analyze.explorer.pages.MOST_COLUMNS", 8)
    snapshot = LiveStudy(make_sources(results)).read()
    export_items(tmp_path / "out", snapshot, choose(snapshot, snapshot.study.items.ids[0]))
    index = Page(tmp_path / "out" / "index.html")
    assert " of 9" in index.text
    assert "The 9 cells" in index.text
    assert "each leads to its response" not in index.text
    assert not [link for link in index.links() if "#" in link]


def test_what_was_sent_stands_on_the_page(folder: Path, tmp_path: Path) -> None:
    question = read_jsonl(folder / "freeze" / "questions.jsonl", Question)[0]
    figure = question.images[0]
    part = ImagePart(sha256=figure.sha256, path=str(folder / "freeze" / figure.file))
    store = tmp_path / "store"
    key = keep(store, "m", "respondent", said(f"Look: {HOSTILE}", part), Response(text="B"))
    cell = ("sim-weak", "cot")
    for stage in ("infer", "score"):
        path = folder / stage / cell[0] / f"{cell[1]}.parquet"
        new = pl.when(pl.col("id") == question.id).then(pl.lit(key)).otherwise("key")
        pl.read_parquet(path).with_columns(key=new).write_parquet(path)
    snapshot = LiveStudy(make_sources(folder, store=store)).read()
    chosen = choose(snapshot, question.id, models=(cell[0],), settings=(cell[1],))
    export_items(tmp_path / "out", snapshot, chosen)
    page = Page(tmp_path / "out" / "pages" / problem_file(question.id))
    page.assert_harmless()
    (sent,) = page.data["conversations"].values()
    text, picture = sent["messages"][0]["parts"]
    assert text == {"text": f"Look: {HOSTILE}"}
    assert picture["picture"]["src"] == f"../pictures/{figure.sha256}.png"
    assert list(page.data["sent"]) == [key]


def test_heat_maps_and_judgements_are_shown(folder: Path, tmp_path: Path) -> None:
    name = read_jsonl(folder / "freeze" / "questions.jsonl", Question)[0].id
    data, sha256 = draw("navy")
    rows = [
        SaliencyRow(id=name, option=option, logprob=-0.5, chosen=option == "A", right=True)
        for option in ("A", "../<b>")
    ]
    write_parquet(folder / "saliency" / "sim-weak" / "cot.parquet", rows, SaliencyRow)
    for option in ("A", "../<b>"):
        path = map_file(folder / "saliency" / "sim-weak" / "cot", name, 0, option)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if option == "A" else b"<script>")
    judgement = JudgementRow(
        id=name, index=0, key="k", version=1, outcome="scored", instrument="tempo", judge="j",
        mark=3.0, lowest=0.0, highest=10.0,
    )  # fmt: skip
    write_parquet(folder / "judge" / "sim-weak" / "cot.parquet", [judgement], JudgementRow)
    snapshot = LiveStudy(make_sources(folder)).read()
    export_items(tmp_path / "out", snapshot, choose(snapshot, name, models=("sim-weak",)))
    page = Page(tmp_path / "out" / "pages" / problem_file(name))
    page.assert_harmless()
    columns = {c["setting"]: c for c in page.data["place"]["columns"]}
    assert columns["cot"]["samples"][0]["judgements"][0]["words"] == "3 of 0 to 10"
    saliency = columns.pop("cot")["saliency"]
    assert [option["logprob"] for option in saliency["options"]] == [-0.5, -0.5]
    assert [entry["address"] for entry in saliency["maps"]] == [f"../pictures/{sha256}.png"]
    assert all(column["saliency"] is None for column in columns.values())


def test_people_and_attributes_stay_where_they_are(folder: Path, tmp_path: Path) -> None:
    path = folder / "freeze" / "answers.jsonl"
    answers = read_jsonl(path, Answer)
    hidden = {"annotator": "Ana Abreu", "note": "seen by hand"}
    write_jsonl(path, [answer.model_copy(update={"attributes": hidden}) for answer in answers])
    (tmp_path / "review").mkdir()
    (tmp_path / "review" / "decisions.jsonl").write_text('{"person": "Ana Abreu"}\n')
    snapshot = LiveStudy(make_sources(folder, pages=tmp_path / "review")).read()
    export_items(tmp_path / "out", snapshot, choose(snapshot))
    for file in (tmp_path / "out").rglob("*"):
        if file.suffix in (".html", ".json"):
            assert "Ana Abreu" not in file.read_text()
            assert "seen by hand" not in file.read_text()


def test_pages_of_papers_are_shown_where_they_are_wanted(folder: Path, tmp_path: Path) -> None:
    questions, data, sha256 = write_ocr_page(folder)
    snapshot = LiveStudy(make_sources(folder)).read()
    chosen = choose(snapshot, questions[0].id)
    out = tmp_path / "out"
    export_items(out, snapshot, chosen)
    assert not (out / "pictures" / f"{sha256}.png").exists()
    export_items(out, snapshot, chosen, with_pages=True)
    assert (out / "pictures" / f"{sha256}.png").read_bytes() == data
    page = Page(out / "pages" / problem_file(questions[0].id))
    page.assert_harmless()
    (shown,) = page.data["place"]["item"]["pages_drawn"]
    assert shown["boxes"] == [[0.25, 0.25, 0.5, 0.5]]


def test_items_alone_are_exported_before_a_model_was_asked(results: Path, tmp_path: Path) -> None:
    snapshot = LiveStudy(ExplorerSources(results / "freeze")).read()
    export_items(tmp_path / "out", snapshot, choose(snapshot, *snapshot.study.items.ids[:2]))
    pages = read_pages(tmp_path / "out")
    assert len(pages) == 3
    assert "Right" not in pages["index.html"].text


def test_a_folder_of_something_else_is_left_alone(results: Path, tmp_path: Path) -> None:
    snapshot = LiveStudy(make_sources(results)).read()
    first, second, *_ = snapshot.study.items.ids
    thesis = tmp_path / "out" / "thesis.tex"
    thesis.parent.mkdir()
    thesis.write_text("mine")
    with pytest.raises(OutputError, match=r"not empty, and has no items\.json"):
        export_items(thesis.parent, snapshot, choose(snapshot, first))
    assert list(thesis.parent.iterdir()) == [thesis]
    thesis.unlink()
    export_items(thesis.parent, snapshot, choose(snapshot, first, second))
    export_items(thesis.parent, snapshot, choose(snapshot, second))
    assert sorted(read_pages(thesis.parent)) == ["index.html", f"pages/{problem_file(second)}"]


# What is exported: ids, files of ids, addresses of the explorer.


ALL = ItemQuery()


def test_ids_are_exported_in_their_order_with_all_cells(explored: Study) -> None:
    first, second, *_ = explored.items.ids
    chosen = choose_items(explored, [second, first, second], ALL)
    assert chosen.ids == (second, first)
    assert explored.run is not None
    assert chosen.cells == explored.run.cells
    assert chosen.rules == explored.run.main_rules


def test_a_file_names_an_item_a_line(explored: Study, tmp_path: Path) -> None:
    path = tmp_path / "ids.txt"
    path.write_text("\n".join(["", explored.items.ids[3], f"  {explored.items.ids[1]} ", ""]))
    assert choose_items(explored, [str(path)], ALL).ids == (
        explored.items.ids[3], explored.items.ids[1],
    )  # fmt: skip
    path.write_text(f"{explored.items.ids[3]}\nnobody\n")
    with pytest.raises(MissingInputError, match=r"ids\.txt: item 'nobody' not found"):
        choose_items(explored, [str(path)], ALL)


@pytest.mark.parametrize("start", ["http://localhost:8766/?", "/?", "?", ""])
def test_an_address_of_the_grid_is_its_filter(explored: Study, start: str) -> None:
    query = ItemQuery(facets={"subject": ("physics",)}, order="hardest", models=("sim-weak",))
    chosen = choose_items(explored, [start + query.to_address() + "&offset=2&limit=1"], ALL)
    assert list(chosen.ids) == explored.select(query).ids
    assert {cell.model for cell in chosen.cells} == {"sim-weak"}


def test_an_address_of_an_item_is_the_item_with_its_columns(explored: Study) -> None:
    name = explored.items.ids[0]
    address = f"/items/{quote(name, safe='')}?cells=sim-weak%2Fcot&is.subject=physics&rules=robust"
    chosen = choose_items(explored, [address], ALL)
    assert (chosen.ids, chosen.cells) == ((name,), (Cell("sim-weak", "cot"),))
    assert chosen.rules == "robust"


def test_models_and_settings_are_chosen_for_all_of_them(explored: Study) -> None:
    only = ItemQuery(models=("sim-strong",), settings=("cot", "direct"))
    chosen = choose_items(explored, [explored.items.ids[0], "?is.subject=physics"], only)
    assert chosen.cells == (Cell("sim-strong", "cot"), Cell("sim-strong", "direct"))


def test_items_without_a_run_have_no_cells(explored: Study) -> None:
    chosen = choose_items(Study(explored.items), [explored.items.ids[0]], ALL)
    assert (chosen.cells, chosen.rules) == ((), None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nobody", "item 'nobody' not found.*a file of ids, or an address"),
        ("x" * 5_000, "' not found"),
        ("/items/nobody", "item 'nobody' not found"),
        ("?search=qxzqxz", "no item matches"),
    ],
)
def test_a_text_without_items_is_one_line(explored: Study, text: str, message: str) -> None:
    with pytest.raises(MissingInputError, match=message):
        choose_items(explored, [text], ALL)


def test_an_address_of_another_study_is_refused(explored: Study) -> None:
    with pytest.raises(ParamsError, match="nobody/cot is not in the run"):
        choose_items(explored, [f"/items/{explored.items.ids[0]}?cells=nobody/cot"], ALL)
    with pytest.raises(ParamsError, match="unknown part of the address"):
        choose_items(explored, ["?colour=red"], ALL)


def test_what_is_too_much_is_refused(explored: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("omibench.explore.export.MOST_RESPONSES", 100)
    with pytest.raises(ParamsError, match="252 responses; the limit is 100"):
        choose_items(explored, ["?"], ALL)
    monkeypatch.setattr("omibench.explore.export.MOST_ITEMS", 20)
    with pytest.raises(ParamsError, match="28 items; the limit is 20"):
        choose_items(explored, ["?"], ALL)
