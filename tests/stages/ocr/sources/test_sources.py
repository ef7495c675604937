"""Papers: manifest, download, import, photographs."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from tests.stages.ocr.conftest import exam

from omibench.errors import FileFormatError, MissingInputError, PaperError
from omibench.params.stages.ocr import OcrParams
from omibench.params.study import parse_study
from omibench.schemas.problem import Answer, Problem
from omibench.schemas.tables import read_jsonl
from omibench.stages.filter.stage import filter_problems
from omibench.stages.freeze import freeze_dataset
from omibench.stages.ocr import read_papers, stage
from omibench.stages.ocr.jobs import OcrOutcome
from omibench.stages.ocr.sources.files import fetch
from omibench.stages.ocr.sources.imports import list_photographed
from omibench.stages.ocr.sources.manifest import (
    list_inputs,
    load_manifest,
    read_manifest,
    select_sources,
    slug,
)
from small_freeze import make_picture

# Papers that a manifest says where to get: whole and right, or not there at all.

PAPER = exam().tobytes(no_new_id=True)

DIGEST = hashlib.sha256(PAPER).hexdigest()


class Papers(BaseHTTPRequestHandler):
    """Gives the paper, moves it, loses it, breaks off, or fails twice before it gives it."""

    failures = 0

    def do_GET(self) -> None:
        kind = self.path.split("?")[0].strip("/")
        if kind == "moved":
            self.send_response(302)
            self.send_header("Location", "/paper.pdf")
            self.end_headers()
        elif kind == "gone":
            self.send_error(404)
        elif kind == "down" or (kind == "shaky" and self._fails()):
            self.send_error(500)
        else:
            self.send_response(200)
            self.send_header("Content-Length", str(len(PAPER)))
            self.end_headers()
            self.wfile.write(PAPER[:100] if kind == "broken" else PAPER)

    def _fails(self) -> bool:
        type(self).failures += 1
        return type(self).failures <= 2

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Papers) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{serving.server_address[1]}"
        serving.shutdown()


@pytest.mark.parametrize("name", ["paper.pdf", "moved", "shaky"])
def test_a_paper_arrives_whole(server: str, tmp_path: Path, name: str) -> None:
    path = tmp_path / "papers" / "a.pdf"
    fetch(path, f"{server}/{name}", DIGEST.upper(), tmp_path, pause_s=0)
    assert path.read_bytes() == PAPER
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize(
    ("url", "digest", "code", "told"),
    [
        ("{}/paper.pdf", "00" * 32, "sha256_mismatch", DIGEST),
        ("{}/gone?token=secret", DIGEST, "download_failed", "HTTP 404 Not Found"),
        ("{}/down", DIGEST, "download_failed", "HTTP 500"),
        ("{}/broken", DIGEST, "download_failed", "bytes"),
        ("http://ada:secret@127.0.0.1:9/a.pdf", DIGEST, "download_failed",
         r"cannot be downloaded from http://127\.0\.0\.1:9/a\.pdf"),
    ],
)  # fmt: skip
def test_what_goes_wrong_is_told_in_one_line_and_leaves_nothing(
    server: str, tmp_path: Path, url: str, digest: str, code: str, told: str
) -> None:
    path = tmp_path / "a.pdf"
    with pytest.raises(PaperError, match=told) as error:
        fetch(path, url.format(server), digest, tmp_path, pause_s=0)
    assert error.value.code == code
    message = str(error.value)
    assert str(path) in message
    assert "\n" not in message
    assert "secret" not in message
    assert list(tmp_path.iterdir()) == []


def test_a_paper_that_is_there_is_not_fetched_again(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_text("mine")
    fetch(path, "http://127.0.0.1:9/a.pdf", DIGEST, tmp_path)
    assert path.read_text() == "mine"


def test_a_manifest_brings_its_papers_and_one_that_fails_stops_no_other(
    server: str, tmp_path: Path
) -> None:
    manifest = tmp_path / "sources.yaml"
    manifest.write_text(
        f"""sources:
- {{name: a, paper: p/a.pdf, url: "{server}/paper.pdf", sha256: {DIGEST}}}
- {{name: b, paper: p/b.pdf, url: "{server}/gone", sha256: {DIGEST}}}
- {{name: c, paper: p/c.pdf, url: "{server}/paper.pdf", sha256: {"0f" * 32}}}
""",
        "utf-8",
    )
    report = read_papers([], tmp_path / "out", OcrParams(dpi=72), manifest=manifest)
    codes = [(file.source, file.codes) for file in report.files if file.status == "error"]
    assert codes == [("b", ["download_failed"]), ("c", ["sha256_mismatch"])]
    problems = list(read_jsonl(tmp_path / "out/problems.jsonl", Problem))
    assert [(p.id, p.source_sha256, p.language) for p in problems] == [
        ("a-1", DIGEST, "en"), ("a-2", DIGEST, "en"),
    ]  # fmt: skip
    assert [path.name for path in (tmp_path / "p").iterdir()] == ["a.pdf"]


# Existing benchmarks beside papers: their rows and pictures reach the filter as problems.

HEAD = "id,question,answer,images,choices,subject,language,group,solution,licence"


def picture(path: Path, shade: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    image = Image.new("RGB", (64, 64), (shade, 255 - shade, 40))
    image.paste((255, 255, 255), (shade // 8, 8, shade // 8 + 20, 40))
    image.save(path)


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    """Two rows with pictures, one whose picture is missing, and a paper beside them."""
    folder = tmp_path / "mine"
    for k in range(3):
        picture(folder / f"img/{k}.png", 60 * k)
    asked = "In which of the two figures [IMAGE0] and [IMAGE1] does the ball move faster?"
    rows = [
        HEAD,
        f"a 1,{asked},B,img/0.png | img/1.png,first | second,physics,,g1,Count.,CC0",
        f"b,{asked} Give v.,3 m/s,img/1.png | img/2.png,,,fr,g1,,",
        "c,What does the figure show?,x,img/9.png,,,,,,",
    ]
    (folder / "problems.csv").write_text("\n".join(rows), "utf-8")
    exam().save(tmp_path / "paper.pdf")
    path = tmp_path / "sources.yaml"
    path.write_text(
        """sources:
- {name: paper, paper: paper.pdf}
benchmarks:
- {name: Old Set, folder: mine, competition: Cup, year: 2020, subject: physics, licence: MIT}
""",
        "utf-8",
    )
    return path


def test_rows_become_problems_beside_those_of_papers(tmp_path: Path, manifest: Path) -> None:
    out = tmp_path / "ocr"
    report = read_papers([], out, OcrParams(dpi=72), manifest=manifest)
    assert [(f.source, f.codes) for f in report.files] == [
        ("paper", []), ("Old Set", ["picture_missing"]),
    ]  # fmt: skip
    problems = {p.id: p for p in read_jsonl(out / "problems.jsonl", Problem)}
    assert list(problems) == ["paper-1", "paper-2", "Old_Set-a_1", "Old_Set-b"]
    first, second = problems["Old_Set-a_1"], problems["Old_Set-b"]
    assert (first.answer, first.solution, first.number) == (["B"], "Count.", "a 1")
    assert [choice.text for choice in first.choices or []] == ["first", "second"]
    assert (first.licence, second.licence) == ("CC0", "MIT")
    assert (first.subject, second.subject) == ("physics", "physics")
    assert (first.language, second.language) == ("en", "fr")
    assert first.group == second.group == "Old_Set-g1"
    assert (first.competition, first.year, first.pages) == ("Cup", 2020, [])
    assert all((out / figure.file).is_file() for p in problems.values() for figure in p.images)


def test_attributes_of_a_paper_reach_the_frozen_answers(tmp_path: Path) -> None:
    exam().save(tmp_path / "paper.pdf")
    (tmp_path / "key.txt").write_text("1. A\n2. A\n", "utf-8")
    text = """sources:
- {name: p, paper: paper.pdf, key: key.txt, year: 2024, attributes: {exam: local, skills: [a, b]}}
"""
    (tmp_path / "sources.yaml").write_text(text, "utf-8")
    read_papers([], tmp_path / "ocr", OcrParams(dpi=72), manifest=tmp_path / "sources.yaml")
    freeze_dataset(tmp_path / "ocr/problems.jsonl", tmp_path / "freeze", parse_study({}, "p.yaml"))
    answers = read_jsonl(tmp_path / "freeze/answers.jsonl", Answer)
    assert [answer.attributes for answer in answers] == [
        {"year": "2024", "exam": "local", "skills": ["a", "b"]}
    ] * 2


def test_a_table_with_a_mistake_fails_alone_and_names_the_row(
    tmp_path: Path, manifest: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "mine/problems.csv").write_text(f"{HEAD}\nx7,,B,,,,,,,", "utf-8")
    report = read_papers([], tmp_path / "ocr", OcrParams(dpi=72), manifest=manifest)
    assert [(f.source, f.status) for f in report.files] == [("paper", "ok"), ("Old Set", "error")]
    assert "x7" in caplog.text


def test_a_published_format_is_read_by_its_adapter(tmp_path: Path) -> None:
    folder = tmp_path / "omi"
    picture(folder / "images/p.png", 30)
    row = {
        "id": "phys-1", "subject": "physics", "answer_type": "open", "question": "See [IMAGE0].",
        "image_list": ["p.png"], "choice_list": [], "answer": ["3"], "solution": "Three.",
    }  # fmt: skip
    (folder / "test.jsonl").write_text(json.dumps(row), "utf-8")
    manifest = tmp_path / "sources.yaml"
    manifest.write_text("benchmarks:\n- {name: omi, folder: omi, format: omibench}", "utf-8")
    report = read_papers([], tmp_path / "ocr", OcrParams(), manifest=manifest)
    assert [(f.source, f.status, f.codes) for f in report.files] == [("omi", "ok", [])]
    (problem,) = read_jsonl(tmp_path / "ocr/problems.jsonl", Problem)
    assert (problem.id, problem.answer, len(problem.images)) == ("omi-phys-1", ["3"], 1)


def test_topics_and_attributes_reach_the_frozen_answers(tmp_path: Path) -> None:
    folder = tmp_path / "mv"
    for name in ("a", "b"):
        picture(folder / f"images/{name}.png", 40 if name == "a" else 200)
    row = {
        "problem_id": 5, "question": "How much higher is the bar of <image_1> than <image_2>?",
        "input_image": ["a.png", "b.png"], "answer": "(1) 3 (2) 4", "answer_type": "multi-step",
        "difficulty": "High", "grade": "Junior", "subject": "Statistics", "analysis": "Read off.",
    }  # fmt: skip
    (folder / "MV-MATH.json").write_text(json.dumps([row]), "utf-8")
    manifest = tmp_path / "sources.yaml"
    manifest.write_text(
        "benchmarks:\n- {name: mv, folder: mv, format: mv-math, year: 2025, "
        "attributes: {exam: final, grade: unknown}}",
        "utf-8",
    )
    read_papers([], tmp_path / "ocr", OcrParams(), manifest=manifest)
    study = parse_study({}, "params.yaml")
    filter_problems(tmp_path / "ocr/problems.jsonl", tmp_path / "filter", study)
    freeze_dataset(tmp_path / "filter/problems.jsonl", tmp_path / "freeze", study)
    (answer,) = read_jsonl(tmp_path / "freeze/answers.jsonl", Answer)
    assert (answer.id, answer.answer, answer.topic) == ("mv-mv-math-5", ["3", "4"], "Statistics")
    assert answer.attributes == {
        "type": "multi-step", "difficulty": "High", "grade": "Junior", "category": "Statistics",
        "exam": "final", "year": "2025",
    }, "what a row tells of itself goes before what its manifest says of all"  # fmt: skip
    (problem,) = read_jsonl(tmp_path / "ocr/problems.jsonl", Problem)
    assert problem.question.startswith("How much higher is the bar of [IMAGE0] than [IMAGE1]?")


# The manifest, and what is wrong with one in one clear line.


def write(folder: Path, text: str) -> Path:
    path = folder / "sources.yaml"
    path.write_text(text, "utf-8")
    return path


def test_paths_are_relative_to_the_manifest(tmp_path: Path) -> None:
    digest = "0f" * 32
    text = f"sources:\n- {{name: a, paper: p/a.pdf, key: p/k.pdf, sha256: {{p/a.pdf: {digest}}}}}"
    (source,) = load_manifest(write(tmp_path, text))
    assert source.paper == str(tmp_path / "p/a.pdf")
    assert source.files == [str(tmp_path / "p/a.pdf"), str(tmp_path / "p/k.pdf")]
    assert source.sha256 == {str(tmp_path / "p/a.pdf"): digest}


TWINS = "sources:\n- {{name: {}, paper: x}}\n- {{name: {}, paper: y}}"
PAPER_URL = "sources:\n- {name: a, paper: a.pdf, "


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (None, "cannot be read"),
        ("sources: []", "lists no sources, photographs, benchmarks or generators"),
        ("sources:\n- {name: a}", r"sources\.0\.paper: Field required"),
        ("sources:\n- {name: a, paper: b, papr: c}", r"line 2: sources\.0\.papr: unknown key; did"),
        ("sources:\n- name: a\n  papr: b", r"line 3: sources\.0\.papr: .* did you mean 'paper'\?"),
        ("sorces:\n- {name: a, paper: b}", r"line 1: sorces: .* did you mean 'sources'\?"),
        ("benchmarks:\n- name: a\n  foldr: b\n  format: emma",
         r"yaml, line 3: benchmarks\.0\.foldr: .* did you mean 'folder'\?"),
        ("sources:\n- {name: a, paper: b, subject: magic}", r"sources\.0\.subject"),
        ("- 1", "is .1., but must be a block of keys"),
        ("sources: [", "line 1: is not valid YAML"),
        (TWINS.format("a b", "a b"), "'a b' is given twice"),
        (TWINS.format("a b", "a_b"), "'a b' and 'a_b' would share"),
        (TWINS.format("a", "A"), "'a' and 'A' would share"),
        (PAPER_URL + "url: 'https://x.org/a.pdf'}", "a.pdf has no sha256"),
        (PAPER_URL + f"url: 'ftp://x.org/a.pdf', sha256: {DIGEST}}}", "does not begin with http"),
        (PAPER_URL + "url: {b.pdf: 'https://x.org/b.pdf'}}", "'b.pdf' is not a file of this sourc"),
        (PAPER_URL + "sha256: abc}", r"sha256\.a\.pdf: String should match"),
        (PAPER_URL + "attributes: {rules: x}}", "attributes: 'rules' is the name of a column"),
        ("photographs:\n- {name: n, folder: none}", "is not a folder of photogr"),
        ("photographs:\n- {name: n, folder: photos, clean: none}",
         "none: the folder of clean pictures does not exist"),
        ("photographs:\n- {name: x, folder: photos}\n- {name: x, folder: photos}",
         "the name 'x' is given twice"),
        ("sources:\n- {name: n_a, paper: a.pdf}\nphotographs:\n- {name: n, folder: photos}",
         "the names 'n_a' and 'n/a' would share one folder"),
        ("photographs:\n- {name: n, folder: photos, pictures: clean}",
         r"sources\.yaml.*pictures"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_in_one_line(
    photograph_manifest: Path, text: str | None, told: str
) -> None:
    if text is None:
        photograph_manifest.unlink()
    else:
        photograph_manifest.write_text(text)
    with pytest.raises((FileFormatError, MissingInputError), match=told) as error:
        list_photographed(read_manifest(photograph_manifest), photograph_manifest)
    assert "\n" not in str(error.value), str(error.value)


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["x/a.pdf", "y/a.pdf", "z/a.pdf-2"], ["a.pdf", "a.pdf-2", "a.pdf-2-2"]),
        (["x/a.pdf-2", "y/a.pdf", "z/a.pdf"], ["a.pdf-2", "a.pdf", "a.pdf-3"]),
        (["x/a.pdf", "y/A.pdf", "z/a.PDF"], ["a.pdf", "A.pdf-2", "a.PDF-3"]),
        (["x/\uac00.pdf", "y/\u1100\u1161.pdf"], ["\uac00.pdf", "\u1100\u1161.pdf-2"]),
    ],
)
def test_no_two_files_share_a_place(paths: list[str], names: list[str]) -> None:
    assert [source.name for source in select_sources([Path(p) for p in paths], None)] == names


@given(st.lists(st.sampled_from(["a", "A", "a-2", "A-2", "a-2-2", "a b", "a_b"]), max_size=8))
def test_places_are_distinct_on_a_disk_without_upper_case(names: list[str]) -> None:
    found = select_sources([Path(str(k)) / name for k, name in enumerate(names)], None)
    assert len({source.slug.casefold() for source in found}) == len(names)


@given(st.text())
def test_a_slug_is_one_plain_part_of_a_path(name: str) -> None:
    part = slug(name)
    assert part not in ("", ".", "..")
    assert not set(part) & set("/\\: \n")


def test_what_can_be_downloaded_need_not_be_there_and_tables_are_watched(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old/problems.csv").write_text("id")
    digest = "0f" * 32
    path = write(
        tmp_path,
        f"""sources:
- {{name: a, paper: a.pdf, key: k.pdf, url: 'https://x.org/a.pdf', sha256: {digest}}}
benchmarks:
- {{name: old, folder: old}}""",
    )
    names = [Path(file).relative_to(tmp_path).as_posix() for file in list_inputs(path)]
    assert names == ["sources.yaml", "k.pdf", "old/problems.csv"]


def test_a_file_that_the_manifest_does_not_name_is_read_on_its_own_and_said_to_be(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = write(tmp_path, "sources:\n- {name: a, paper: a.pdf, key: k.pdf}")
    named, loose = select_sources([tmp_path / "a.pdf", tmp_path / "b.pdf"], path)
    assert (named.key, loose.key) == (str(tmp_path / "k.pdf"), None)
    assert [r.message for r in caplog.records] == [
        f"{tmp_path / 'b.pdf'}: is not in a source of {path}; read alone, without a key"
    ]


def test_a_source_states_attributes(tmp_path: Path) -> None:
    text = """sources:
- {name: a, paper: a.pdf, country: Brazil, attributes: {exam: local, level: [school, city]}}
"""
    (source,) = load_manifest(write(tmp_path, text))
    assert source.stated_attributes == {
        "country": "Brazil", "exam": "local", "level": ["school", "city"],
    }  # fmt: skip


# A folder of photographs as a source: each is one problem, kept whole, with its clean picture.

UNREAD = OcrParams(engine="textlayer")
"""Reads no photograph, so that tests need no engine."""


@pytest.fixture
def photograph_manifest(tmp_path: Path) -> Path:
    """Two photographs, of which the first has a clean picture, and a note that is no picture."""
    for name in ("photos/b.png", "photos/a.png", "photos/clean/a.png", "photos/notes.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(make_picture(len(path.parts) + ord(path.stem[0])))
    path = tmp_path / "sources.yaml"
    path.write_text(
        "photographs:\n- {name: Home work, folder: photos, pictures: both, language: zh,"
        " licence: CC0, attributes: {school: north}}\n"
    )
    return path


def test_each_photograph_is_one_problem_that_is_kept_whole(
    tmp_path: Path, photograph_manifest: Path
) -> None:
    out = tmp_path / "ocr"
    report = read_papers([], out, UNREAD, manifest=photograph_manifest)
    assert [(file.source, file.status, file.codes) for file in report.files] == [
        ("Home work/a", "ok", []),
        ("Home work/b", "ok", []),
    ]
    problems = read_jsonl(out / "problems.jsonl", Problem)
    assert [(p.id, p.photograph, p.group, p.number) for p in problems] == [
        ("Home_work_a", "real", "Home_work_a", "a"),
        ("Home_work_a-clean", "clean", "Home_work_a", "a"),
        ("Home_work_b", "real", "Home_work_b", "b"),
    ]
    assert {p.source for p in problems} == {"Home work"}
    assert [p.attributes.get("pair") for p in problems] == ["real", "clean", None]
    assert all(p.attributes["school"] == "north" for p in problems)
    assert all((p.question, p.language, p.licence) == ("[IMAGE0]", "zh", "CC0") for p in problems)
    for problem, name in zip(problems, ("a.png", "clean/a.png", "b.png"), strict=True):
        (figure,) = problem.images
        taken = (out / figure.file).read_bytes()
        assert taken == (tmp_path / "photos" / name).read_bytes()
        assert figure.sha256 == hashlib.sha256(taken).hexdigest()


def test_a_damaged_photograph_is_named_and_the_others_are_done(
    tmp_path: Path, photograph_manifest: Path
) -> None:
    (tmp_path / "photos/a.png").write_bytes(make_picture(1)[:40])
    report = read_papers([], tmp_path / "ocr", UNREAD, manifest=photograph_manifest)
    assert [(file.status, file.codes) for file in report.files] == [
        ("error", ["pdf_damaged"]),
        ("ok", []),
    ]
    (problem,) = read_jsonl(tmp_path / "ocr/problems.jsonl", Problem)
    assert problem.id == "Home_work_b"


def test_a_photograph_whose_text_cannot_be_read_is_kept(
    tmp_path: Path, photograph_manifest: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> OcrOutcome:
        return OcrOutcome(error=("paper_timeout", "a.png: not read within 1 s of wall time"))

    monkeypatch.setattr(stage, "_outcome", fail)
    report = read_papers([], tmp_path / "ocr", OcrParams(), manifest=photograph_manifest)
    assert [(file.status, file.codes) for file in report.files] == [
        ("warning", ["photograph_unread"]),
    ] * 2
    assert "not read within 1 s" in report.files[0].where["photograph_unread"]
    problems = read_jsonl(tmp_path / "ocr/problems.jsonl", Problem)
    assert [problem.question for problem in problems] == ["[IMAGE0]"] * 3


def test_a_clean_picture_is_no_item_by_default_and_a_damaged_one_is_left_out(
    tmp_path: Path, photograph_manifest: Path
) -> None:
    text = photograph_manifest.read_text()
    photograph_manifest.write_text(text.replace("pictures: both, ", ""))
    read_papers([], tmp_path / "ocr", UNREAD, manifest=photograph_manifest)
    problems = read_jsonl(tmp_path / "ocr/problems.jsonl", Problem)
    pairs = [(p.photograph, p.attributes.get("pair")) for p in problems]
    assert pairs == [("real", "real"), ("real", None)]
    photograph_manifest.write_text(text)
    (tmp_path / "photos/clean/a.png").write_bytes(make_picture(1)[:40])
    report = read_papers([], tmp_path / "ocr", UNREAD, manifest=photograph_manifest)
    assert [file.codes for file in report.files] == [["clean_picture_unread"], []]
    problems = read_jsonl(tmp_path / "ocr/problems.jsonl", Problem)
    assert [(p.photograph, p.attributes.get("pair")) for p in problems] == [("real", None)] * 2


def test_a_change_of_any_picture_runs_the_stage_again(photograph_manifest: Path) -> None:
    folder = photograph_manifest.parent / "photos"
    inputs = [Path(name) for name in list_inputs(photograph_manifest)]
    assert inputs == [
        photograph_manifest,
        folder / "a.png",
        folder / "clean/a.png",
        folder / "b.png",
    ]
