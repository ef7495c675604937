"""Real papers: what was counted by hand is found; each paper gives problems or says why not."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Build

from omibench.params.stages.filter import ProblemSelection
from omibench.params.stages.ocr import OcrParams
from omibench.schemas.pages import OcrReport
from omibench.schemas.problem import Problem
from omibench.schemas.tables import read_jsonl, read_typed_json
from omibench.stages.filter.selection import describe_unread_lines, join_selection
from omibench.stages.ocr import read_papers

pytestmark = pytest.mark.slow

COUNTS = {
    "CNAO_2023.pdf": 11,
    "CNAO_2023_ans.pdf": 11,
    "IOAA_2023_Data.pdf": 2,
    "MockFMA-2021.pdf": 25,
    "MockFMA-2021_sol.pdf": 25,
    "Resolução_OBB_VII_fase2.pdf": 102,
    "Soluções-IJSO-2012-Prova-Teste.pdf": 30,
    "opho2023_open.pdf": 35,
    "simscan_CNAO_2023_p1-3.pdf": 0,
    "simscan_MockFMA-2021_p2-7.pdf": 0,
}


Exams = tuple[OcrReport, dict[str, list[Problem]]]


@pytest.fixture(scope="module")
def exams(shared_data: Path, build_once: Build) -> Exams:
    """Every paper read once, with its problems by file name."""
    files = sorted((shared_data / "exam_pdfs").glob("*.pdf"))
    params = OcrParams(dpi=72, engine="textlayer")
    out = build_once("exams", lambda folder: read_papers(files, folder / "ocr", params)) / "ocr"
    report = read_typed_json(out / "report.json", OcrReport)
    problems: dict[str, list[Problem]] = {file.name: [] for file in files}
    for problem in read_jsonl(out / "problems.jsonl", Problem):
        problems[problem.source].append(problem)
    return report, problems


def truths(shared_data: Path) -> list[dict[str, Any]]:
    files = sorted((shared_data / "exam_pdfs").glob("*.gt.json"))
    return [json.loads(file.read_text("utf-8")) for file in files]


def test_every_paper_gives_its_problems_or_says_that_it_needs_ocr(
    exams: Exams,
) -> None:
    report, problems = exams
    assert {name: len(found) for name, found in problems.items()} == COUNTS
    for file in report.files:
        assert file.status != "error"
        assert problems[file.source] or file.codes == ["page_needs_ocr"]


def test_problems_counted_by_hand_are_found_with_pages_figures_and_choices(
    shared_data: Path, exams: Exams
) -> None:
    for truth in truths(shared_data):
        found = {problem.number: problem for problem in exams[1][truth["pdf"]]}
        assert sorted(found, key=int) == [str(p["number"]) for p in truth["problems"]]
        for wanted in truth["problems"]:
            problem = found[str(wanted["number"])]
            where = f"{truth['pdf']} {problem.number}"
            stems = [s for s in truth["shared_stems"] if wanted["number"] in s["problems"]]
            assert problem.pages == wanted["pages"], where
            figures = wanted["n_figures"] + sum(s["n_figures"] for s in stems)
            assert len(problem.images) == figures, where
            letters = [choice.label for choice in problem.choices or []]
            assert letters == (wanted["choices"] or []), where
            assert problem.group == (
                f"{truth['pdf']}-{stems[0]['problems'][0]}-{stems[0]['problems'][-1]}"
                if stems
                else problem.id
            )


def test_no_figure_is_found_twice_and_none_is_left_out(shared_data: Path, exams: Exams) -> None:
    for truth in truths(shared_data):
        shown = {figure.file for p in exams[1][truth["pdf"]] for figure in p.images}
        assert len(shown) == truth["total_figures"], truth["pdf"]


def test_problems_begin_as_on_the_page(shared_data: Path, exams: Exams) -> None:
    total, right = 0, 0
    for truth in truths(shared_data):
        found = {problem.number: problem for problem in exams[1][truth["pdf"]]}
        for wanted in truth["problems"]:
            head = _letters(wanted["statement80"])[:20]
            total += 1
            problem = found[str(wanted["number"])]
            # A list of solutions has no statements.
            text = problem.solution if "IJSO" in truth["pdf"] else problem.question
            # Where the truth was taken, the text layer of some papers gave no formulas.
            without = re.sub(r"\$[^$]*\$", "", text or "")
            right += head in _letters(text or "") or head in _letters(without)
    assert total == 66
    assert right >= 65


def test_the_letters_of_picture_choices_name_the_right_pictures(
    exams: Exams,
) -> None:
    picture_choices = [p for p in exams[1]["MockFMA-2021.pdf"] if p.number in ("5", "20")]
    assert len(picture_choices) == 2
    for problem in picture_choices:
        boxes = {}
        for choice in problem.choices or []:
            assert choice.image is not None
            bbox = problem.images[choice.image].bbox
            assert bbox is not None
            boxes[choice.label] = bbox
        # Two columns: A, C, E on the left from top to bottom, B, D on the right.
        assert boxes["A"][1] < boxes["C"][1] < boxes["E"][1]
        assert boxes["B"][1] < boxes["D"][1]
        assert boxes["A"][0] < boxes["B"][0]


def test_answers_that_a_paper_itself_states_are_read_and_cancelled_ones_are_not_guessed(
    shared_data: Path, exams: Exams
) -> None:
    ijso = next(t for t in truths(shared_data) if "IJSO" in t["pdf"])
    read = {p.number: p.answer for p in exams[1][ijso["pdf"]]}
    assert read == {str(p["number"]): [p["answer"]] for p in ijso["problems"]}
    biology = exams[1]["Resolução_OBB_VII_fase2.pdf"]
    cancelled = [
        p.number
        for p in biology
        if any(warning.code == "answer_cancelled" for warning in p.warnings)
    ]
    assert [p.number for p in biology if p.answer is None] == cancelled == ["23"]


def test_no_paper_asks_its_own_answer(exams: Exams) -> None:
    mark = re.compile(
        r"\b(?:solution|answer|resposta|gabarito)\s*[:：]|【|参考答案|correct\b\.?$|anulad|"
        r"^item [a-h]\)|[（(] ?[A-H] ?[)）]\s*$|[\u4e00-\u9fff]\s*[A-D]\s*(?:[．。]|角)",
        re.I | re.M,
    )
    for name, problems in exams[1].items():
        for problem in problems:
            shown = [problem.question, *(c.text or "" for c in problem.choices or [])]
            assert not [text for text in shown if mark.search(text)], (name, problem.number)
            # "A" may be an article; where there are no choices a letter is no answer either.
            for gold in problem.answer or [] if not problem.choices else []:
                head = re.compile(rf"[(（]?{re.escape(gold)}[)）]?[.):]?(?:\s|$)")
                assert not head.match(problem.question), problem.id


@pytest.mark.parametrize(
    ("paper", "solved"),
    [("MockFMA-2021.pdf", "MockFMA-2021_sol.pdf"), ("CNAO_2023.pdf", "CNAO_2023_ans.pdf")],
)
def test_a_solved_paper_asks_what_the_paper_asks_and_has_its_answers(
    shared_data: Path,
    exams: Exams,
    paper: str,
    solved: str,
) -> None:
    truth = next(t for t in truths(shared_data) if t["pdf"] == paper)
    gold = {str(p["number"]): p["answer"] for p in truth["problems"]}
    both = zip(exams[1][paper], exams[1][solved], strict=True)
    pairs = [(asked, answered) for asked, answered in both if asked.choices]
    assert len(pairs) == (25 if "Mock" in paper else 6)
    for asked, answered in pairs:
        assert answered.question == asked.question
        assert len(answered.images) == len(asked.images)
        answer = gold[asked.number]
        assert answered.answer == (answer if isinstance(answer, list) else [answer])
        assert bool(answered.solution) == ("Mock" in paper)


def test_lists_of_solutions_ask_nothing(
    exams: Exams,
) -> None:
    for name in ("Resolução_OBB_VII_fase2.pdf", "Soluções-IJSO-2012-Prova-Teste.pdf"):
        for problem in exams[1][name]:
            assert (problem.question, problem.choices) == ("", None)
            assert problem.solution


@pytest.mark.parametrize(
    ("paper", "solutions"),
    [
        ("MockFMA-2021.pdf", "MockFMA-2021_sol.pdf"),
        ("CNAO_2023.pdf", "CNAO_2023_ans.pdf"),
    ],
)
def test_a_solution_booklet_gives_answers_and_explanations(
    shared_data: Path, tmp_path: Path, paper: str, solutions: str
) -> None:
    folder = shared_data / "exam_pdfs"
    manifest = tmp_path / "sources.yaml"
    source = {"name": "x", "paper": str(folder / paper), "solutions": str(folder / solutions)}
    manifest.write_text(json.dumps({"sources": [source]}), "utf-8")
    read_papers([], tmp_path, OcrParams(dpi=72), manifest=manifest)
    problems = {p.number: p for p in read_jsonl(tmp_path / "problems.jsonl", Problem)}
    truth = next(t for t in truths(shared_data) if t["pdf"] == paper)
    for wanted in truth["problems"]:
        problem = problems[str(wanted["number"])]
        gold = wanted["answer"]
        assert problem.answer == (gold if isinstance(gold, list) or gold is None else [gold])
        if gold is None or paper.startswith("Mock"):
            assert problem.solution
            head = _letters(wanted["statement80"])[:30]
            assert head not in _letters(problem.solution)


def _letters(text: str) -> str:
    """Letters and digits, without Greek ones, which are commands in LaTeX, and other commands."""
    plain = re.sub(r"\\[a-zA-Z]+", "", text)
    return "".join(c for c in plain if c.isalnum() and not "\u0370" <= c <= "\u03ff")


def test_a_list_of_wanted_problems_finds_them_in_a_real_exam(exams: Exams, tmp_path: Path) -> None:
    lines = [f"{number},{'ABCDE'[number % 5]}\n" for number in (1, 9, 24, 26)]
    (tmp_path / "list.csv").write_text("number,answer\n" + "".join(lines))
    selection = ProblemSelection(file=str(tmp_path / "list.csv"), by=["number"])
    mock = exams[1]["MockFMA-2021.pdf"]
    joined = join_selection(mock, selection)
    assert [(p.number, p.answer) for p in joined.problems] == [
        ("1", ["B"]), ("9", ["E"]), ("24", ["E"]),
    ]  # fmt: skip
    assert len(joined.rejects) == 22
    assert describe_unread_lines(mock, selection) == ["26"]
