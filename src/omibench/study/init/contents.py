"""The files of a new study: what they contain, and how they are written."""

from __future__ import annotations

import json
import os
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from string import Template
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from omibench import __version__
from omibench.datasets.generators.registry import GENERATORS
from omibench.errors import MissingInputError, OutputError, ParamsError, reason_of
from omibench.files.locations import find_shipped
from omibench.files.yaml_file import parse_yaml
from omibench.graph.stages import STAGES
from omibench.models.synthetic.profiles import LIKES
from omibench.params.stages.analyze import LAYOUTS
from omibench.params.study import Study, parse_study
from omibench.schemas.problem import Subject
from omibench.schemas.validation import suggest_name

_PAPERS: Final = (".pdf", ".png", ".jpg", ".jpeg")
_TABLES: Final = (".csv", ".tsv", ".txt")
"""File types of a key next to a paper (docs/reference/paper_layouts.md)."""
_ROLES: Final = re.compile(
    r"(?i)^(?P<paper>.+?)[ ._-]+(?:(?P<key>answers?[ ._-]?keys?|answers?|ans|keys?)"
    r"|(?P<solutions>solutions?|sols?|s))$"
)
_SUBJECTS: Final[Mapping[str, Subject]] = {
    "astro": "astronomy", "bio": "biology", "chem": "chemistry", "math": "mathematics",
    "phys": "physics",
}  # fmt: skip
"""Beginnings of words in the names of papers and their folders."""
_WORD: Final = re.compile(r"[^\W\d_]+")
_HEAD: Final = (
    "# Each paper with its key and worked solutions, matched by file name. Please check.\n"
    "# Paths are relative to this file. An entry can give a competition, year, country,\n"
    "# subject, language, licence, attributes, sha256 and url (docs/building.md).\n"
)


_GENERATED_HEAD: Final = (
    "# Problems made from a seed; another seed gives others, equally hard. Write `fresh: false`\n"
    "# once they are public. An entry can also give keys: withheld, licence, redistribute and\n"
    "# attributes (docs/reference/generators.md).\n"
)


class Exam(NamedTuple):
    """One exam: the files of its paper, its key and its worked solutions."""

    paper: Path
    key: Path | None = None
    solutions: Path | None = None


class ManifestText(NamedTuple):
    """Text of a manifest, and its path to the folder of papers."""

    text: str
    papers: str


def find_papers(folder: Path) -> list[Path]:
    """Return the files of a folder that can be papers, keys or solutions, without hidden ones.

    Raises:
        MissingInputError: If the folder is missing or contains no paper.
    """
    if not folder.is_dir():
        raise MissingInputError(f"--papers {folder}: the folder does not exist")
    files = [
        path
        for path in sorted(folder.rglob("*"))
        if path.suffix.lower() in (*_PAPERS, *_TABLES)
        and path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]
    if not any(path.suffix.lower() in _PAPERS for path in files):
        raise MissingInputError(
            f"--papers {folder}: contains no paper: no file ends with {', '.join(_PAPERS)}"
        )
    return files


def pair_papers(files: Iterable[Path]) -> list[Exam]:
    """Group files into exams by name: `physics.pdf`, `physics_key.pdf`, `physics-sol.pdf`.

    A file is a key or solutions only if the paper that its name begins with is in the same folder.

    Args:
        files: Papers, keys and solutions, in the order of the exams.
    """
    files = list(files)
    papers = {path.with_suffix(""): path for path in files if path.suffix.lower() in _PAPERS}
    parts: dict[Path, dict[str, Path]] = {}
    paired: set[Path] = set()
    for path in files:
        match = _ROLES.match(path.stem)
        paper = papers.get(path.with_name(match["paper"])) if match else None
        if match is None or paper is None:
            continue
        role = "key" if match["key"] else "solutions"
        if role not in parts.setdefault(paper, {}):
            parts[paper][role] = path
            paired.add(path)
    return [
        Exam(path, parts.get(path, {}).get("key"), parts.get(path, {}).get("solutions"))
        for path in files
        if path.suffix.lower() in _PAPERS and path not in paired
    ]


def find_subject(name: str) -> Subject | None:
    """Return the subject that a paper's path names, as `2024/astro_theory`; None if not one."""
    words = _WORD.findall(name.lower())
    found = {s for word in words for start, s in _SUBJECTS.items() if word.startswith(start)}
    return found.pop() if len(found) == 1 else None


def describe_pairs(files: Sequence[Path], papers: Path) -> list[str]:
    """Return one line per paper, with its key and solutions, as `manifest_text` pairs them."""

    def name(path: Path | None) -> str:
        return "none" if path is None else str(path.relative_to(papers))

    return [
        f"{name(exam.paper)}: key {name(exam.key)}, solutions {name(exam.solutions)}, subject "
        f"{find_subject(str(exam.paper.relative_to(papers))) or 'not in the name'}"
        for exam in pair_papers(files)
    ]


def manifest_text(files: Sequence[Path], papers: Path, folder: Path) -> ManifestText:
    """Return the manifest of a study.

    Args:
        files: Output of `find_papers`.
        papers: Folder of the files.
        folder: Study folder, which will contain the manifest.
    """

    def relative(path: Path | None) -> str | None:
        return None if path is None else Path(os.path.relpath(path, folder)).as_posix()

    names: set[str] = set()
    sources = []
    for exam in pair_papers(files):
        name = _unused_name("-".join(exam.paper.relative_to(papers).with_suffix("").parts), names)
        names.add(name)
        subject = find_subject(str(exam.paper.relative_to(papers)))
        sources.append(
            {
                "name": name,
                **({"subject": subject} if subject else {}),
                "paper": relative(exam.paper),
                "key": relative(exam.key),
                "solutions": relative(exam.solutions),
            }
        )
    return ManifestText(_HEAD + _write_yaml({"sources": sources}), relative(papers) or ".")


def _write_yaml(values: Mapping[str, object]) -> str:
    import yaml

    return str(yaml.safe_dump(values, sort_keys=False, allow_unicode=True, width=1000))


def _unused_name(name: str, names: set[str]) -> str:
    numbered = (f"{name}-{number}" for number in range(2, len(names) + 3))
    return name if name not in names else next(text for text in numbered if text not in names)


# Files of a new study, as text and as copies of files shipped with omibench.

_TEMPLATES: Final = Path(__file__).with_name("templates")
_SCHEMA: Final = "schemas/params.schema.json"
_PROFILES: Final = ("default", "slurm", "kubernetes")
_RULES_OF: Final = {
    "omibench": "omibench",
    "emma": "emma",
    "emma-mini": "emma",
    "usnco-v": "usnco-v",
    "mathreal": "mathreal",
}
"""The published scorer of a benchmark; `robust` is added."""
_LIKE: Final = ", like: omibench}     # shape of the synthetic problems in a plan or rehearsal"
"""For a benchmark without synthetic problems of its shape."""
_GRADER: Final = "  grader: gpt-5-mini          # mathreal: the model that grades each answer\n"
"""For a scorer that leaves answers unjudged without a grader."""


class StudyFiles(NamedTuple):
    """Content of a new study's folder.

    Attributes:
        texts: Text of each file by its path in the folder.
        study: Study described by params.yaml.
        pairs: One line per paper about its key and solutions, for a study of papers.
    """

    texts: Mapping[str, str]
    study: Study
    pairs: Sequence[str] = ()


class _Text(Template):
    """Text with placeholders `@name`; `$` is left to the reader of the file."""

    delimiter = "@"


def study_of_papers(papers: Path, folder: Path) -> StudyFiles:
    """Return the files of a study that builds a dataset from exam papers, named like its folder.

    Args:
        papers: Folder of PDFs and photographs, with subfolders.
        folder: Study folder; the paths of the papers are relative to it.

    Raises:
        MissingInputError: If the folder of papers is missing or contains no paper.
    """
    params = _fill("params_papers.yaml", name=json.dumps(_study_name(folder)), least="2")
    found = find_papers(papers)
    manifest = manifest_text(found, papers, folder)
    inputs = ["sources.yaml", "corrections.yaml", manifest.papers]
    extras = "workflow,pdf,ocr,report,stats"
    texts = {
        "params.yaml": params,
        "sources.yaml": manifest.text,
        "corrections.yaml": _fill("corrections.yaml"),
    }
    files = _with_common_files(texts, inputs, extras)
    return files._replace(pairs=describe_pairs(found, papers))


def study_of_generators(names: Sequence[str], folder: Path) -> StudyFiles:
    """Return the files of a study whose problems generators make, named like its folder.

    Args:
        names: Generators; each gets a random seed and 50 problems of each template.
        folder: Study folder.

    Raises:
        PluginError: If a generator does not exist.
    """
    generators = [GENERATORS.get(name) for name in names]
    entries = [
        {
            "name": part.name,
            "generator": part.name,
            "seed": secrets.randbits(80),
            "counts": dict.fromkeys(part.templates, 50),
            "difficulty": 3,
            "fresh": True,
        }
        for part in generators
    ]
    texts = {
        "params.yaml": _fill("params_papers.yaml", name=json.dumps(_study_name(folder)), least="1"),
        "sources.yaml": _GENERATED_HEAD + _write_yaml({"generators": entries}),
    }
    extras = dict.fromkeys(["workflow", "report", "stats", *(g.extra for g in generators)])
    return _with_common_files(texts, ["sources.yaml"], ",".join(filter(None, extras)))


def study_of_benchmark(name: str) -> StudyFiles:
    """Return the files of a study that evaluates models on a published benchmark.

    Raises:
        ParamsError: If the benchmark does not exist.
    """
    if name == "papers":
        raise ParamsError("--benchmark papers: give --papers FOLDER for a study of exam papers")
    rules = list(dict.fromkeys([_RULES_OF.get(name, "robust"), "robust"]))
    grader = _GRADER if "mathreal" in rules else ""
    like = "}" if name in LIKES else _LIKE
    params = _fill(
        "params_benchmark.yaml", name=name, like=like, rules=", ".join(rules), grader=grader
    )
    return _with_common_files({"params.yaml": params}, [], "workflow,api,report,stats")


def study_that_ships(name: str) -> StudyFiles:
    """Return the files of a paper's study shipped with omibench, with the tables it uses.

    Raises:
        ParamsError: If no such study is shipped.
    """
    names = shipped_studies()
    if name not in names:
        hint = suggest_name(name, names)
        raise ParamsError(f"--study {name!r} does not ship with omibench{hint}")
    folder = find_shipped("studies")
    texts = {"params.yaml": _as_params(_read(folder / f"{name}.yaml"), name)}
    for overlay in sorted((folder / "overlays").glob(f"{name}_*.yaml")):
        texts[f"studies/overlays/{overlay.name}"] = _read(overlay).replace(
            f"studies/{name}.yaml", "params.yaml"
        )
    study = parse_study(parse_yaml(texts["params.yaml"]), "params.yaml")
    tables = list(study.analyze.published)
    tables += dict.fromkeys(str(Path(table).with_name(LAYOUTS)) for table in list(tables))
    texts |= {table: _read(find_shipped(table)) for table in tables}
    return _with_common_files(texts, tables, "workflow,api,report,stats")


def shipped_studies() -> list[str]:
    """Return the names of the studies shipped with omibench."""
    return sorted(path.stem for path in find_shipped("studies").glob("*.yaml"))


def _study_name(folder: Path) -> str:
    """Return the folder's name with hyphens for characters not allowed in a study name."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", folder.absolute().name).strip("._-")
    return name or "study"


def _with_common_files(texts: Mapping[str, str], inputs: Sequence[str], extras: str) -> StudyFiles:
    """Return the files specific to a study, and those common to all."""
    study = parse_study(parse_yaml(texts["params.yaml"]), "params.yaml")
    inputs = ["Snakefile", "requirements.txt", *inputs, *([study.data] if study.data else [])]
    deps = "\n".join(f"      - {json.dumps(path, ensure_ascii=False)}" for path in inputs)
    common = {
        "Snakefile": _fill("Snakefile"),
        "dvc.yaml": _fill("dvc.yaml.in", inputs=deps, **_list_dvc_stages()),
        ".gitignore": _fill("gitignore"),
        "requirements.txt": _fill("requirements.txt", extras=extras, version=__version__),
    }
    names = [_SCHEMA, *(f"profiles/{profile}/config.yaml" for profile in _PROFILES)]
    copies = {name: _read(find_shipped(name)) for name in names}
    return StudyFiles({**texts, **common, **copies}, study)


def _list_dvc_stages() -> dict[str, str]:
    """Return for each stage of DVC its omibench stages and its persistent folders."""
    words: dict[str, str] = {}
    for target in dict.fromkeys(stage.target for stage in STAGES):
        names = [stage.name for stage in STAGES if stage.target == target]
        outs = [f"      - ${{study.results}}/{name}: {{persist: true}}" for name in names]
        words |= {f"{target}_stages": " ".join(names), f"{target}_outs": "\n".join(outs)}
    return words


def _fill(template: str, **words: str) -> str:
    return _Text(_read(_TEMPLATES / template)).substitute(words)


def _as_params(text: str, name: str) -> str:
    """Return a shipped study as params.yaml, without options in the commands of its comments."""
    for old, new in (
        ("$schema=../schemas", "$schema=schemas"),
        (f" --params studies/{name}.yaml", ""),
        (f" --configfile studies/{name}.yaml", ""),
    ):
        text = text.replace(old, new)
    return text


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        raise MissingInputError(
            f"{path}: is missing from this installation; install omibench again"
        ) from None


# Atomic writing of a new study's files, never over an existing file.


def write_study(folder: Path, files: StudyFiles) -> None:
    """Write a new study's files into a folder, which is created if needed.

    Args:
        folder: Study folder; can contain other files, such as papers.
        files: Files to write.

    Raises:
        OutputError: If a file or folder already exists or cannot be written. Nothing is left
            behind in that case.
    """
    names = sorted({Path(name).parts[0] for name in files.texts})
    existing = [name for name in names if _is_there(folder / name)]
    if existing:
        raise OutputError(
            f"{folder}: {', '.join(existing)} already "
            f"{'exists' if len(existing) == 1 else 'exist'} and nothing is overwritten; give a "
            "new folder"
        )
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    moved: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".omibench-init-", dir=folder) as staging:
            _write_all(Path(staging), files.texts)
            for name in names:
                (Path(staging) / name).rename(folder / name)
                moved.append(folder / name)
    except OSError as error:
        _remove(moved, missing)
        raise OutputError(f"{folder}: cannot be written: {reason_of(error)}") from None
    except BaseException:
        _remove(moved, missing)
        raise


def _write_all(folder: Path, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _is_there(path: Path) -> bool:
    return path.exists() or path.is_symlink()


def _remove(paths: list[Path], folders: list[Path]) -> None:
    """Remove the written files and the folders created for them, the innermost first."""
    import shutil
    from contextlib import suppress

    for path in paths:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()
