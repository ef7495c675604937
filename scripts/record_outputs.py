"""Record what users get from a checkout, and compare two records.

A record is a folder with a compressed JSON file per part:

- `sample`: the sample study, with additional settings of several samples;
- `emma`: EMMA-mini from its published responses;
- `rehearsals`: the studies of the four papers with simulated models, 30 problems and some of their
  models, each with the exported tables and figures of its paper;
- `commands`, `schema`, `plugins`, `golden`: commands with their options, the schema of the
  parameters, the names that plug-ins use, and hashes of `tests/settings/golden`;
- `verdicts`: verdicts of all scorers on the data for tests.

Each output file is recorded as a table: rows of tables, fields of JSON, lines of short texts and of
the text of pages, otherwise a hash. Studies include the keys of their store. Nothing is written to
the checkout: its files are copied to `OUT/work` first. All parts take about 10 CPU minutes.

    python scripts/record_outputs.py record OUT                       # of this checkout
    python scripts/record_outputs.py record OUT --root CHECKOUT --only sample commands
    python scripts/record_outputs.py compare OLD NEW                  # exits with 1 if they differ
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from hashlib import sha256
from html import unescape
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import yaml

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = {
    "*/provenance.json": "hashes of the source, and times",
    "*/runs/*.jsonl": "times and process ids",
    "*/cache/*": "a cache, whose bytes depend on the order of jobs",
    "*/.snakemake_timestamp": "an empty file by which Snakemake dates a folder",
    "*/ocr/report.json:files.*.seconds": "duration",
    "*/ocr/report.json:files.*.cpu_s": "duration",
    "*/ocr/report.json:files.*.peak_mb": "memory used",
    "*:latency_s": "duration",
}
"""Files, and columns or fields after a colon, that differ between runs of the same code."""
NOT_IN_STUDIES = {"src", "tests", "docs", "benchmarks", "examples", "scripts"}
"""Folders of a checkout that a study does not read from its own folder."""
LONG_FILE, LONG_VALUE = 20_000, 200
"""Longer texts are recorded by their hash, longer values by their beginning and hash."""
SHOWN = 10
"""Number of differences of each kind that are printed for a file."""

# The sample study has one sample per problem: add all ways to count several.
SAMPLE = """
settings:
  four: &four {label: Mean, prompt: cot, decoding: {temperature: 0.6, max_tokens: 2048, samples: 4}}
  four-first: {<<: *four, label: First, aggregate: first}
  four-majority: {<<: *four, label: Majority, aggregate: {how: majority, k: [1, 2]}}
infer: {settings: [cot, direct, first-image, four, four-first, four-majority]}
"""
REHEARSAL = """
study: {{limit: {{sample: 30}}}}
analyze: {{explorer: false}}
infer: {{models: [{models}]}}
"""
# The models that answer under every setting of a study: for curves a family of three sizes, for
# differences a pair of thinking and instruct models, and a tuned model with its base.
REHEARSALS = {
    "omibench": (
        "omibench",
        "internvl3-1b, internvl3-8b, internvl3-38b, qwen2.5-vl-32b, qwen3-vl-8b-instruct, "
        "qwen3-vl-8b-thinking, qwen3-vl-32b-instruct, qwen3-vl-32b-thinking, gpt-4o, emu3.5, "
        "qwen3-vl-8b-instruct-cmmcot, gemini-3-pro-preview",
    ),
    "emma": ("emma", "claude-3.5-sonnet, qwen2-vl-72b, gemini-2.0-flash-thinking-1219"),
    "emma_mini": ("emma", "gpt-4o, qwen2-vl-72b, gemini-2.0-flash-thinking-1219, qvq-72b, o1"),
    "usnco_v": ("usnco-v", "gpt-5, gpt-4.1-mini, qwen2.5-vl-3b, qwen2.5-vl-7b"),
    "mathreal": (
        "mathreal",
        "qwen3-235b-thinking, qwen3-235b-instruct, claude-sonnet-4, claude-sonnet-4-thinking, "
        "internvl3-8b, internvl3-38b, qwen2.5-vl-7b",
    ),
}
"""Study -> its paper, and the models that are rehearsed."""

Value = str | int | float | bool | None
Key = tuple[Value, ...]


class Table(NamedTuple):
    """The content of a file: columns with their types, and rows."""

    columns: Mapping[str, str]
    rows: Sequence[Sequence[Value]]


Tables = dict[str, Table]


def main() -> int:
    """Record or compare; return 1 if two records differ."""
    parser = argparse.ArgumentParser(description="Record what users get, and compare records.")
    commands = parser.add_subparsers(dest="command", required=True)
    record, compare, probe = (commands.add_parser(c) for c in ("record", "compare", "probe"))
    record.add_argument("out", type=Path)
    record.add_argument("--cores", type=int, default=1)
    compare.add_argument("old", type=Path)
    compare.add_argument("new", type=Path)
    for command in (record, compare):
        command.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    probe.add_argument("part", choices=PROBES)
    data = Path(os.environ.get("OMIBENCH_SHARED_DATA", ROOT / "../shared/data"))
    for command in (record, probe):
        command.add_argument("--root", type=Path, default=ROOT)
        command.add_argument("--data", type=Path, default=data)
    given = parser.parse_args()
    if given.command == "compare":
        return compare_records(given.old, given.new, given.only)
    if given.command == "probe":
        print(json.dumps(PROBES[given.part](given.root, given.data)))
        return 0
    Recorder(given.out.resolve(), given.data.resolve(), given.cores).record(given.root, given.only)
    return 0


class Recorder:
    """Makes the outputs with a copy of a checkout."""

    def __init__(self, out: Path, data: Path, cores: int) -> None:
        self.out, self.data, self.cores = out, data, cores
        self.work = out / "work"
        self.checkout = self.work / "checkout"

    def record(self, root: Path, parts: Iterable[str]) -> None:
        """Write a file for each part, and the commit."""
        shutil.rmtree(self.work, ignore_errors=True)
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = self.run(root, *listed).split("\0")
        copy_files(root, self.checkout, [Path(n) for n in names if n and (root / n).is_file()])
        for part in parts:
            start, used = time.monotonic(), sum(os.times()[:4])
            tables = PARTS[part](self)
            write_part(self.out / f"{part}.json.gz", tables)
            wall, cpu = time.monotonic() - start, sum(os.times()[:4]) - used
            print(f"{part}: {len(tables)} tables, {wall:.0f} s, {cpu:.0f} CPU s", flush=True)
        commit = self.run(root, "git", "describe", "--always", "--dirty", "--abbrev=40")
        (self.out / "commit.txt").write_text(commit, "utf-8")
        shutil.rmtree(self.work)

    def run(self, folder: Path, *command: str) -> str:
        """Run a program on the copied source; return its output."""
        done = self.start(folder, *command)
        if done.returncode:
            raise SystemExit(f"{folder}: {' '.join(command)}:\n{done.stderr[-5000:]}")
        return done.stdout

    def start(self, folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a program on the copied source, whether it succeeds or fails."""
        own = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(self.checkout / "src"),
            "GIT_CEILING_DIRECTORIES": str(self.work),
        }
        return subprocess.run(
            command, cwd=folder, env={**os.environ, **own},
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    def probe(self, part: str) -> Tables:
        """Return tables that need the package of the checkout."""
        words = ("probe", part, "--root", str(self.checkout), "--data", str(self.data))
        output = self.run(self.work, sys.executable, "-P", str(Path(__file__).resolve()), *words)
        return {name: Table(*table) for name, table in json.loads(output).items()}

    def run_study(
        self, name: str, params: str, overlay: str, config: str = "", paper: str = ""
    ) -> Tables:
        """Run a study in its own folder; return its results, its export and its store."""
        folder = self.work / name
        files = [file for file in list_files(self.checkout) if file.parts[0] not in NOT_IN_STUDIES]
        copy_files(self.checkout, folder, files)
        if config == "data=responses":
            copy_files(self.data / "emma/dev", folder / "responses")
        (folder / "overlay.yaml").write_text(json.dumps(yaml.safe_load(overlay)), "utf-8")
        more = ("--config", config) if config else ()
        words = ("--cores", str(self.cores), "--configfile", params, "overlay.yaml", *more)
        self.run(folder, sys.executable, "-m", "snakemake", *words)
        results = next(folder.glob("results*/**/analyze/report.html")).parents[1]
        tables = read_folder(results, f"{name}/results")
        if paper:
            words = (str(results.relative_to(folder)), "--paper", paper, "--out", "export")
            # Tables that cannot be made are reported, with an exit code.
            said = self.start(folder, "omibench", "results", "export", *words).stderr
            tables[f"{name}/messages of the export"] = tabulate_lines(said.splitlines())
            tables |= read_folder(folder / "export", f"{name}/export")
        for store in folder.glob("store*"):
            words = ("--store", store.name, "--out", "responses.jsonl")
            self.run(folder, "omibench", "store", "export", *words)
            tables[f"{name}/{store.name}"] = read_store(folder / "responses.jsonl")
        shutil.rmtree(folder)
        return tables


def list_files(folder: Path) -> list[Path]:
    """Return all files of a folder, relative to it, in order."""
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


def copy_files(source: Path, target: Path, files: Iterable[Path] | None = None) -> None:
    """Copy files of a folder, or all of them."""
    for file in list_files(source) if files is None else files:
        (target / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / file, target / file)


def write_part(path: Path, tables: Tables) -> None:
    """Write the tables of one part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({name: tables[name] for name in sorted(tables)})
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


def read_part(path: Path) -> Tables:
    """Return the tables of one part."""
    content = json.loads(gzip.decompress(path.read_bytes()))
    return {name: Table(*table) for name, table in content.items()}


# ------------------------------------------------------------------------------- files as tables


def read_folder(folder: Path, prefix: str) -> Tables:
    """Return a table for each file of a folder."""
    names = {f"{prefix}/{file.as_posix()}": folder / file for file in list_files(folder)}
    return {
        n: drop_left_out(n, read_table(path)) for n, path in names.items() if not is_left_out(n)
    }


def is_left_out(name: str) -> bool:
    """Return whether a file, or `file:column`, is left out."""
    return any(fnmatchcase(name, pattern) for pattern in LEFT_OUT)


def drop_left_out(name: str, table: Table) -> Table:
    """Return a table without the columns, or fields of a document, that are left out."""
    if "field" in table.columns:
        rows = [row for row in table.rows if not is_left_out(f"{name}:{row[0]}")]
        return Table(table.columns, rows)
    kept = [column for column in table.columns if not is_left_out(f"{name}:{column}")]
    return Table({column: table.columns[column] for column in kept}, select_columns(table, kept))


def read_table(path: Path) -> Table:
    """Return the content of a file: its rows, fields or lines, or its hash."""
    if path.suffix == ".parquet":
        frame = pl.read_parquet(path)
        types = {name: str(kind) for name, kind in frame.schema.items()}
        return Table(types, [[shorten(value) for value in row] for row in frame.iter_rows()])
    content = path.read_bytes()
    digest = sha256(content).hexdigest()
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return Table({"sha256": "text"}, [[digest]])
    if path.suffix == ".csv":
        header, *rows = list(csv.reader(text.splitlines(keepends=True))) or [[]]
        return Table(dict.fromkeys(header, "text"), [[shorten(v) for v in row] for row in rows])
    if path.suffix == ".jsonl":
        return tabulate(read_objects(path))
    if path.suffix == ".json":
        return tabulate_fields(json.loads(text))
    if path.suffix == ".html":
        lines = [f"sha256 of the page: {digest}", *list_page_lines(text)]
    elif len(text) <= LONG_FILE:
        lines = text.split("\n")
    else:
        lines = [f"sha256 of the text: {digest}"]
    return tabulate_lines(lines)


def tabulate_lines(lines: Iterable[str]) -> Table:
    """Return one row per line."""
    return Table({"line": "text"}, [[shorten(line)] for line in lines])


def list_page_lines(page: str) -> list[str]:
    """Return the text of a page, line by line, without scripts, styles and pictures."""
    text = re.sub(r"(?s)<(script|style|svg)\b.*?</\1>|<[^>]*>", "\n", page)
    return [line.strip() for line in unescape(text).split("\n") if line.strip()]


def read_objects(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a JSONL file."""
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line.strip()]


def tabulate(objects: Sequence[Mapping[str, Any]]) -> Table:
    """Return one row per object, with a column for each key of any of them."""
    columns = dict.fromkeys((key for row in objects for key in row), "json")
    return Table(columns, [[shorten(row.get(column)) for column in columns] for row in objects])


def tabulate_fields(document: Any) -> Table:
    """Return one row per value in a JSON document, with its path."""
    rows = [[path, shorten(value)] for path, value in list_fields(document, "")]
    return Table({"field": "text", "value": "json"}, rows)


def list_fields(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield the values in nested objects and lists, with their paths."""
    if isinstance(value, dict | list) and value:
        for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
            yield from list_fields(entry, f"{path}.{key}" if path else str(key))
    else:
        yield path, value


def shorten(value: Any) -> Value:
    """Return a value of a cell; a long text as its beginning and hash."""
    if isinstance(value, int | float | bool) or value is None:
        return value
    if isinstance(value, dict | list | tuple):
        value = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    text = str(value)
    if len(text) <= LONG_VALUE:
        return text
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{text[:60]}... ({len(text)} characters, sha256 {digest[:16]})"


def read_store(path: Path) -> Table:
    """Return the keys of an exported store in order, with their models and tags."""
    rows = [
        [row["key"], row["model"]["provider"], str(row["model"].get("id")), shorten(row["tags"])]
        for row in read_objects(path)
    ]
    return Table(dict.fromkeys(("key", "provider", "model", "tags"), "text"), sorted(rows))


# ----------------------------------------------------------------------------------------- parts


def record_emma(recorder: Recorder) -> Tables:
    """Return the outputs of EMMA-mini from its published responses."""
    if not (recorder.data / "emma/dev").is_dir():
        return {"skipped": Table({"reason": "text"}, [["no published responses of EMMA"]])}
    study = "studies/emma_recorded.yaml"
    return recorder.run_study("emma-recorded", study, "{}", "data=responses", "emma")


def record_rehearsals(recorder: Recorder) -> Tables:
    """Return the outputs of the rehearsals of all papers."""
    tables: Tables = {}
    for name, (paper, models) in REHEARSALS.items():
        start, overlay = time.monotonic(), REHEARSAL.format(models=models)
        params = f"studies/{name}.yaml"
        tables |= recorder.run_study(name, params, overlay, "simulated=true", paper)
        print(f"  {name}: {time.monotonic() - start:.0f} s", flush=True)
    return tables


def record_schema(recorder: Recorder) -> Tables:
    """Return the schema of the parameters."""
    text = recorder.run(recorder.work, "omibench", "schema")
    return {"schema": tabulate_fields(json.loads(text))}


def record_golden(recorder: Recorder) -> Tables:
    """Return the hashes of the golden conversations."""
    folder = recorder.checkout / "tests/settings/golden"
    rows = [[str(file), sha256((folder / file).read_bytes()).hexdigest()]
            for file in list_files(folder)]  # fmt: skip
    return {"golden": Table({"file": "text", "sha256": "text"}, rows)}


PARTS: dict[str, Callable[[Recorder], Tables]] = {
    "commands": lambda recorder: recorder.probe("commands"),
    "schema": record_schema,
    "plugins": lambda recorder: recorder.probe("plugins"),
    "golden": record_golden,
    "verdicts": lambda recorder: recorder.probe("verdicts"),
    "sample": lambda recorder: recorder.run_study("sample", "params.yaml", SAMPLE),
    "emma": record_emma,
    "rehearsals": record_rehearsals,
}


# ------------------------------------------------- probes: functions that import the checkout


def probe_commands(root: Path, data: Path) -> Tables:
    """Return all commands, and all their options and arguments."""
    import typer.main

    from omibench.cli.main import make_app

    commands: list[dict[str, Any]] = []
    options: list[dict[str, Any]] = []
    fields = ("secondary_opts", "nargs", "multiple", "required", "metavar", "help", "hidden")

    def add(name: str, command: Any) -> None:
        commands.append({"command": name, "help": command.help, "hidden": command.hidden})
        for option in map(vars, command.params):
            default = option["default"]
            options.append(
                {"command": name, "options": ", ".join(option["opts"])}
                | {field: option.get(field) for field in fields}
                | {"default": "a function" if callable(default) else str(default)}
            )
        for word, subcommand in getattr(command, "commands", {}).items():
            add(f"{name} {word}", subcommand)

    add("omibench", typer.main.get_command(make_app()))
    return {"commands": tabulate(commands), "options": tabulate(options)}


def probe_plugins(root: Path, data: Path) -> Tables:
    """Return the names that plug-ins and users import, with what they are."""
    import omibench
    from omibench.plugins.built_in import KINDS
    from omibench.plugins.registry import REGISTRIES

    page = (root / "docs/reference/plugin_modules.md").read_text("utf-8")
    lines = re.findall(r"^\| `(omibench[\w.]*)` \| (.*) \|$", page, re.MULTILINE)
    names = [(module, name) for module, words in lines for name in re.findall(r"`(\w+)`", words)]
    for place in KINDS.values():
        import_module(f"omibench.{place.registry}")
    parts = [
        [f"omibench.{kind}", name, type(REGISTRIES[kind].get(name)).__name__]
        for kind in sorted(KINDS)
        for name in sorted(REGISTRIES[kind].built_in_names)
    ]
    scripts = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
    parts += [[name, *describe_name(*place.split(":"))] for name, place in scripts.items()]
    columns = dict.fromkeys(("group", "name", "type"), "text")
    return {
        "plugin_modules.md": Table(columns, [[m, *describe_name(m, name)] for m, name in names]),
        "entry points": Table(columns, parts),
        "Python API": Table(
            columns, [["omibench", *describe_name("omibench", n)] for n in omibench.__all__]
        ),
    }


def describe_name(module: str, name: str) -> tuple[str, str]:
    """Return a name in a module and the type of its object, or why there is none."""
    try:
        return name, type(getattr(import_module(module), name)).__name__
    except (ImportError, AttributeError) as error:
        return name, f"{type(error).__name__}: {error}"


def probe_verdicts(root: Path, data: Path) -> Tables:
    """Return the verdicts of all scorers on all responses, cases and solutions."""
    import omibench

    verdicts: dict[str, list[dict[str, Any]]] = {}
    for source, name, response, gold in list_responses(data):
        reply = omibench.Response(text=response, published_verdict=gold.get("published"))
        answer, choices = [str(part) for part in gold["gold"]], gold.get("options") or None
        for rules in (
            "omibench", "omibench-release", "emma", "usnco-v", "usnco-v-last-letter", "mathreal",
            "robust", "published",
        ):  # fmt: skip
            entry: dict[str, Any] = {"id": name, "rules": rules}
            try:
                verdict = omibench.score(reply, answer, rules=rules, choices=choices)
                entry |= verdict.model_dump(mode="json")
            except omibench.OmibenchError as error:
                entry["error"] = str(error)
            verdicts.setdefault(source, []).append(entry)
    if not verdicts:
        return {"skipped": Table({"reason": "text"}, [["no data for tests"]])}
    return {source: tabulate(entries) for source, entries in verdicts.items()}


def list_responses(data: Path) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Yield file, id and text of a response, and its gold answer with options."""
    for path in sorted((data / "emma/dev").glob("*.parquet")):
        for row in pl.read_parquet(path).to_dicts():
            published = {"gold": [row["answer"]], "published": float(row["published_true_false"])}
            yield path.name, row["pid"], row["response"] or "", row | published
    if not data.is_dir():
        return
    for number, row in enumerate(read_objects(data / "scoring_cases.jsonl")):
        yield "scoring_cases.jsonl", str(number), row["prediction"], row
    for row in read_objects(data / "nasty_answers.jsonl"):
        text, parts = row["response"], row["response_gen"]
        if text is None:
            text = parts["template"].replace("<R>", parts["repeat"] * parts["times"])
        yield "nasty_answers.jsonl", row["id"], text, row
    for row in read_objects(data / "omibench/test.jsonl"):
        gold = {"gold": row["answer"], "options": row.get("choice_list")}
        yield "omibench/test.jsonl: solutions", row["id"], row.get("solution") or "", gold


PROBES = {"commands": probe_commands, "plugins": probe_plugins, "verdicts": probe_verdicts}


# --------------------------------------------------------------------------------------- compare


def compare_records(old: Path, new: Path, parts: Iterable[str]) -> int:
    """Print the differences of two records by part; return 1 if there are any."""
    differs = False
    for part in parts:
        paths = [folder / f"{part}.json.gz" for folder in (old, new)]
        absent = [str(path.parent) for path in paths if not path.is_file()]
        if len(absent) == len(paths):
            continue
        if absent:
            lines = [f"  not recorded in {absent[0]}"]
        else:
            lines = compare_parts(*(read_part(path) for path in paths))
        differs = differs or bool(lines)
        print("\n".join([f"{part}: {'differs' if lines else 'the same'}", *lines]))
    return int(differs)


def compare_parts(old: Tables, new: Tables) -> list[str]:
    """Return the lines about one part; none if it is the same."""
    lines = list_first("file gone", [name for name in old if name not in new])
    lines += list_first("file new", [name for name in new if name not in old])
    for name, table in old.items():
        if name in new and json.dumps(table) != json.dumps(new[name]):
            lines += [f"  {name}", *(f"  {line}" for line in compare_tables(table, new[name]))]
    return lines


def compare_tables(old: Table, new: Table) -> list[str]:
    """Return the lines about one file: columns, rows and values."""
    both = [name for name in old.columns if name in new.columns]
    lines = list_first("column gone", [name for name in old.columns if name not in both])
    lines += list_first("column new", [name for name in new.columns if name not in both])
    types = [(name, old.columns[name], new.columns[name]) for name in both]
    lines += list_first("type differs", [f"{n}: {a} -> {b}" for n, a, b in types if a != b])
    rows = select_columns(old, both), select_columns(new, both)
    key = find_key([old.columns[name] for name in both], *rows)
    before, after = (index_rows(version, key) for version in rows)
    same = [name for name in before if name in after]
    lines += list_first("row gone", [show(name) for name in before if name not in after])
    lines += list_first("row new", [show(name) for name in after if name not in before])
    values = [
        f"{show(name)}: {column}: {a!r} -> {b!r}"
        for name in same
        for column, a, b in zip(both, before[name], after[name], strict=True)
        if repr(a) != repr(b)
    ]
    lines += list_first("value differs", values)
    if same != [name for name in after if name in before]:
        lines.append("  rows are in another order")
    return lines or ["  columns are in another order"]


def select_columns(table: Table, columns: Sequence[str]) -> list[list[Value]]:
    """Return the rows with these columns only; a short row ends with nulls."""
    places = [list(table.columns).index(column) for column in columns]
    return [[row[i] if i < len(row) else None for i in places] for row in table.rows]


def find_key(types: Sequence[str], *versions: Sequence[Sequence[Value]]) -> list[int]:
    """Return the first columns that identify the rows of all versions, without measurements."""
    key: list[int] = []
    counts = [count_keys(rows, key) for rows in versions]
    for place, kind in enumerate(types):
        decimals = any(re.fullmatch(r"-?\d+\.\d+(e-?\d+)?", str(r[place])) for r in versions[0])
        if counts == [len(rows) for rows in versions] or kind.startswith("Float") or decimals:
            continue
        more = [count_keys(rows, [*key, place]) for rows in versions]
        if more != counts:
            key, counts = [*key, place], more
    return key


def count_keys(rows: Sequence[Sequence[Value]], key: Sequence[int]) -> int:
    """Return the number of different keys."""
    return len({tuple(row[i] for i in key) for row in rows})


def index_rows(rows: Sequence[Sequence[Value]], key: Sequence[int]) -> dict[Key, Sequence[Value]]:
    """Return the rows by key; repeated keys are numbered."""
    seen: Counter[Key] = Counter()
    index: dict[Key, Sequence[Value]] = {}
    for row in rows:
        name = tuple(row[i] for i in key)
        seen[name] += 1
        index[(*name, f"no. {seen[name]}") if seen[name] > 1 else name] = row
    return index


def show(key: Key) -> str:
    """Return a key as text."""
    return ", ".join(str(value) for value in key)


def list_first(what: str, entries: Sequence[str]) -> list[str]:
    """Return a line with the number of entries, and one for each of the first."""
    if not entries:
        return []
    more = [f"    ... and {len(entries) - SHOWN} more"] if len(entries) > SHOWN else []
    return [f"  {what}: {len(entries)}", *(f"    {entry}" for entry in entries[:SHOWN]), *more]


if __name__ == "__main__":
    sys.exit(main())
