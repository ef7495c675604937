"""Measure how well papers and photographs are read, on manual ground truth.

One paper, as while one works on it:

    python benchmarks/ocr_quality.py exams/MockFMA-2021.gt.json

all papers of a folder with their scans (`simscan_NAME_p2-7.pdf` beside `NAME.gt.json` is a scan of
pages 2 to 7), and photographs, of each kind at most 3:

    python benchmarks/ocr_quality.py exams --out benchmarks/ocr_quality.md
    python benchmarks/ocr_quality.py --photographs photographs.jsonl --images FOLDER --sample 3

`--scan FILE=GT:2-7` names a scan of other pages or of another name; `--solutions exam.pdf=FILE` the
file with a paper's answers (without it keys count only where the paper states them); `--engine`
another engine;
`--keep FOLDER` keeps what was read; `--show` lists every difference. The format of `*.gt.json` and
of the list of photographs is in ocr_quality.md.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import sys
import tempfile
import time
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from statistics import fmean, median
from typing import Any, NamedTuple

from omibench.answers.transcripts import best_window, similarity
from omibench.params.stages.ocr import OcrParams
from omibench.schemas.pages import FileReport
from omibench.schemas.problem import Problem
from omibench.schemas.tables import read_jsonl
from omibench.stages.ocr import read_papers
from omibench.stages.ocr.engines.readers import open_engine
from omibench.stages.ocr.layout.scans import read_photograph
from omibench.stages.ocr.structure.document import read_document

QUARTER = 45.0
HEAD = 20


class Paper(NamedTuple):
    """A PDF to read, what people counted in it, and which of the counted pages it holds."""

    pdf: Path
    truth: dict[str, Any]
    first: int = 1
    last: int = 10_000

    @property
    def problems(self) -> list[dict[str, Any]]:
        """Problems that lie wholly on the pages of the PDF."""
        inside = range(self.first, self.last + 1)
        return [p for p in self.truth["problems"] if all(n in inside for n in p["pages"])]

    def stems(self, number: object) -> list[dict[str, Any]]:
        """The shared stems of a problem."""
        return [s for s in self.truth.get("shared_stems", []) if number in s["problems"]]


class Read(NamedTuple):
    """How near one photograph was read, whether it was turned by quarters, and CPU seconds."""

    near: float
    window: float
    turned: bool
    spent: float


class Shares(NamedTuple):
    """What was found of one paper; pairs are right ones and all."""

    recall: tuple[int, int]
    precision: tuple[int, int]
    heads: tuple[int, int]
    pages: tuple[int, int]
    choices: tuple[int, int]
    figures: tuple[int, int]
    per_page: int
    keys: tuple[int, int]
    wrong_keys: int
    seen: list[str]


def main() -> None:
    """Measure, print tables, and write them where `--out` says."""
    given = _options()
    told: list[str] = []
    with tempfile.TemporaryDirectory() as scratch:
        out = given.keep or Path(scratch)
        params = OcrParams(engine=given.engine, timeout_s=600)
        papers = [*_papers(given.truths), *(_scan(text) for text in given.scan)]
        if papers:
            told += _paper_table(papers, out / "papers", params, _solutions(given), given.show)
        if given.photographs:
            told += _photograph_table(given)
    if not told:
        sys.exit("nothing to measure: name a .gt.json file, a folder of them, or --photographs")
    print("\n".join(told))
    if given.out:
        given.out.write_text("\n".join(told) + "\n", "utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("truths", nargs="*", type=Path, metavar="GT", help=".gt.json, or a folder")
    parser.add_argument("--scan", action="append", default=[], metavar="FILE=GT:FIRST-LAST")
    parser.add_argument(
        "--solutions", action="append", default=[], metavar="PAPER=FILE", help="for the keys"
    )
    parser.add_argument("--engine", default="rapidocr")
    parser.add_argument("--photographs", type=Path, metavar="FILE", help="JSON list or JSONL")
    parser.add_argument("--images", type=Path, help="folder of the photographs")
    parser.add_argument("--fields", default="image,text,kind", help="names of its fields")
    parser.add_argument("--sample", type=int, help="photographs of each kind")
    parser.add_argument("--keep", type=Path, help="folder for what was read")
    parser.add_argument("--out", type=Path, help="Markdown file to write")
    parser.add_argument("--show", action="store_true", help="list every difference")
    return parser.parse_args()


def _papers(given: Iterable[Path]) -> Iterator[Paper]:
    files = [f for g in given for f in (sorted(g.glob("*.gt.json")) if g.is_dir() else [g])]
    for file in files:
        truth = json.loads(file.read_text("utf-8"))
        pdf = file.parent / truth["pdf"]
        yield Paper(pdf, truth)
        for scan in sorted(file.parent.glob(f"simscan_{pdf.stem}_p*-*.pdf")):
            if bounds := re.search(r"_p(\d+)-(\d+)$", scan.stem):
                yield Paper(scan, truth, int(bounds[1]), int(bounds[2]))


def _solutions(given: argparse.Namespace) -> dict[str, str]:
    pairs = [text.partition("=") for text in given.solutions]
    return {paper: str(Path(file).resolve()) for paper, _, file in pairs}


def _scan(text: str) -> Paper:
    match = re.fullmatch(r"(.+)=(.+):(\d+)-(\d+)", text)
    if not match:
        sys.exit(f"--scan {text}: needs the form FILE=GT:FIRST-LAST")
    truth = json.loads(Path(match[2]).read_text("utf-8"))
    return Paper(Path(match[1]), truth, int(match[3]), int(match[4]))


def _paper_table(
    papers: Sequence[Paper], out: Path, params: OcrParams, solutions: dict[str, str], show: bool
) -> list[str]:
    manifest = out / "sources.yaml"
    out.mkdir(parents=True, exist_ok=True)
    sources = [
        {"name": p.pdf.name, "paper": str(p.pdf.resolve()), "solutions": solutions.get(p.pdf.name)}
        for p in papers
    ]
    manifest.write_text(json.dumps({"sources": sources}), "utf-8")
    read_papers([], out, params, manifest=manifest)
    report = json.loads((out / "report.json").read_text("utf-8"))
    files = [FileReport.model_validate(file) for file in report["files"]]
    problems = list(read_jsonl(out / "problems.jsonl", Problem))
    lines = [
        "| paper | recall | precision | begin as printed | pages | choices | figures "
        "| most figures off on a page | keys | wrong keys | CPU s a page | peak MiB |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    notes = []
    for paper, file in zip(papers, files, strict=True):
        found = _shares(paper, [p for p in problems if p.source == file.source])
        cost = f"{file.cpu_s / max(1, file.pages):.2f}" if file.cpu_s else "?"
        cells = [*(f"{a} of {b}" for a, b in found[:6]), str(found.per_page)]
        cells += [f"{found.keys[0]} of {found.keys[1]}", str(found.wrong_keys)]
        row = [file.source, *cells, cost, str(file.peak_mb or "?")]
        lines.append(f"| {' | '.join(row)} |")
        notes += [f"- {file.source}: {code}" for code in file.codes]
        notes += [f"- {file.source}, {text}" for text in found.seen] if show else []
    return [*lines, "", *notes]


def _shares(paper: Paper, problems: Sequence[Problem]) -> Shares:
    wanted = {str(p["number"]): p for p in paper.problems}
    beyond = {str(p["number"]) for p in paper.truth["problems"]} - wanted.keys()
    found = {p.number: p for p in problems if p.number not in beyond}
    both = [(wanted[n], found[n]) for n in wanted if n in found]
    seen = [f"{n}: not found" for n in wanted if n not in found]
    seen += [f"{n}: is no problem" for n in found if n not in wanted]
    right = {"heads": 0, "pages": 0, "choices": 0, "figures": 0, "keys": 0}
    asked, wrong = 0, 0
    for truth, problem in both:
        letters = [choice.label for choice in problem.choices or []]
        count = truth["n_figures"] + sum(s["n_figures"] for s in paper.stems(truth["number"]))
        shift = paper.first - 1
        checks = {
            "heads": (_head(truth), _said(problem, truth)),
            "pages": (truth["pages"], [page + shift for page in problem.pages]),
            "choices": (truth["choices"] or [], letters),
            "figures": (count, len(problem.images)),
        }
        for name, (meant, got) in checks.items():
            right[name] += meant == got
            if meant != got:
                seen.append(f"{truth['number']}: {name} {got}, not {meant}")
        gold = truth.get("answer")
        if gold is not None:
            asked += 1
            golds = gold if isinstance(gold, list) else [gold]
            right["keys"] += problem.answer == golds
            wrong += problem.answer is not None and problem.answer != golds
    total = len(both)
    return Shares(
        (len(both), len(wanted)),
        (len(both), len(found)),
        (right["heads"], total),
        (right["pages"], total),
        (right["choices"], total),
        (right["figures"], total),
        _worst_page(paper, problems),
        (right["keys"], asked),
        wrong,
        seen,
    )


def _head(truth: dict[str, Any]) -> str:
    return _letters(truth.get("statement80") or "")[:HEAD]


def _said(problem: Problem, truth: dict[str, Any]) -> str:
    """The head of the truth where the problem says it, else what the problem begins with."""
    head = _head(truth)
    texts = [_letters(problem.question), _letters(problem.solution or "")]
    return head if any(head in text for text in texts) else texts[0][:HEAD]


def _letters(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKC", text) if c.isalnum())


def _worst_page(paper: Paper, problems: Sequence[Problem]) -> int:
    """The largest difference of figures on a page; one of a problem on two may be on either."""
    shown = {(f.page, f.file) for p in problems for f in p.images}
    worst = 0
    last = max(n for p in paper.problems for n in p["pages"]) if paper.problems else 0
    for page in range(paper.first, last + 1):
        counted = [
            *((p["pages"], p["n_figures"]) for p in paper.problems),
            *(([s["page"]], s["n_figures"]) for s in paper.truth.get("shared_stems", [])),
        ]
        least = sum(n for pages, n in counted if pages == [page])
        most = sum(n for pages, n in counted if page in pages)
        here = sum(number + paper.first - 1 == page for number, _ in shown)
        worst = max(worst, least - here, here - most)
    return worst


def _photograph_table(given: argparse.Namespace) -> list[str]:
    """Read photographs as the stage does, one after the other with one session of the engine."""
    image, text, kind = given.fields.split(",")
    folder = given.images or given.photographs.parent
    engine = open_engine(given.engine)
    scores: dict[str, list[Read]] = {}
    for row in _in_turn(_rows(given.photographs), kind, given.sample):
        began = time.process_time()
        pdf, scanned = read_photograph(folder / row[image], engine)
        page = read_document(pdf, lambda *_, known=scanned: known, every=True).pages[0]
        spent = time.process_time() - began
        turned = abs((page.turn + 180) % 360 - 180) > QUARTER
        near, window = similarity(page.text, row[text]), best_window(page.text, row[text])
        scores.setdefault(str(row.get(kind, "all")), []).append(Read(near, window, turned, spent))
        if given.show:
            told = f"{row[image]}\t{row.get(kind)}\t{near:.3f}\t{window:.3f}\t{page.turn:.1f}"
            print(told, file=sys.stderr, flush=True)
    lines = [
        "| photographs | n | similarity | best window | turned | CPU s, median |",
        "|---|---|---|---|---|---|",
    ]
    every = [read for group in scores.values() for read in group]
    for name, group in [*sorted(scores.items()), ("all", every)]:
        near, window = fmean(r.near for r in group), fmean(r.window for r in group)
        turned, spent = sum(r.turned for r in group), median(r.spent for r in group)
        lines.append(
            f"| {name} | {len(group)} | {near:.3f} | {window:.3f} | {turned} | {spent:.1f} |"
        )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return [*lines, "", f"Peak memory of the process: {peak} MiB."]


def _in_turn(
    rows: Sequence[dict[str, Any]], kind: str, most: int | None
) -> Iterator[dict[str, Any]]:
    """Rows of every kind in turn, at most so many of each."""
    kinds: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        kinds.setdefault(str(row.get(kind, "all")), []).append(row)
    for some in zip_longest(*(group[:most] for group in kinds.values())):
        yield from (row for row in some if row is not None)


def _rows(path: Path) -> list[dict[str, Any]]:
    text = path.read_text("utf-8")
    if text.lstrip().startswith("["):
        return list(json.loads(text))
    return [json.loads(line) for line in text.splitlines() if line.strip()]


if __name__ == "__main__":
    main()
