"""`omibench release`: publish a frozen dataset as a folder to load, cite and verify."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omibench.cli.options import find_results, make_group
from omibench.text.terminal import say, say_lines

if TYPE_CHECKING:
    from omibench.datasets.release.splits import SplitPlan

release_app = make_group("release", "Build, verify and compare releases of a frozen dataset.")


FreezeFolder = Annotated[
    Path | None,
    typer.Argument(
        metavar="FREEZE",
        help="Folder of `omibench freeze`.  [freeze/ in study.results of params.yaml]",
        show_default=False,
    ),
]
ReleaseFolder = Annotated[
    Path, typer.Option(metavar="DIR", help="Folder to write; must not exist.")
]
SourcesFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.yaml",
        help="sources.yaml with `licence` and `redistribute` of each source.",
    ),
]
Version = Annotated[
    str | None,
    typer.Option(metavar="X.Y.Z", help="Version of the release.  [that of the frozen dataset]"),
]
Draft = Annotated[
    bool,
    typer.Option("--draft", help="Build despite findings and mark the release as a draft."),
]
WithoutRationale = Annotated[
    bool, typer.Option("--without-rationale", help="Allow problems without a rationale.")
]
Split = Annotated[
    str | None,
    typer.Option(
        metavar="NAME=ITEMS", help="Draw a split of this size; the rest is the split `test`."
    ),
]
SplitBy = Annotated[
    str | None,
    typer.Option(metavar="ATTRIBUTE[,...]", help="Stratify --split by these attributes."),
]
SplitSeed = Annotated[int, typer.Option(help="Seed of --split and of the sample.", min=0)]
Printed = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Compare the statistics with a paper's: omibench, emma, usnco_v, mathreal, or "
        "a CSV file.",
    ),
]
Tokenizer = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Unit of text lengths: words, or the path of a tokenizer.json.",
    ),
]
PreviousRelease = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Previous release, for the changelog."),
]
ReviewRecords = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Review folder with tasks.jsonl and decisions.jsonl, or a file of decisions, "
        "whose hash is added to the provenance.",
    ),
]
StatementsFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.yaml",
        help="Your texts for the datasheet, under motivation, composition, collection, "
        "preprocessing, uses, distribution, maintenance, contact.",
    ),
]


@release_app.command()
def build(
    freeze: FreezeFolder = None,
    out: ReleaseFolder = Path("release"),
    sources: SourcesFile = None,
    version: Version = None,
    draft: Draft = False,
    without_rationale: WithoutRationale = False,
    split: Split = None,
    by: SplitBy = None,
    seed: SplitSeed = 0,
    printed: Printed = None,
    tokenizer: Tokenizer = "words",
    previous: PreviousRelease = None,
    review: ReviewRecords = None,
    statements: StatementsFile = None,
) -> None:
    """Build a release from a frozen dataset.

    Writes Parquet files with the original pictures, a dataset card, Croissant metadata, a manifest
    of hashes, a datasheet, provenance and SHA256SUMS. The same dataset, commit and packages give
    the same bytes. These findings stop the build unless you add --draft: a source without
    `redistribute`, a problem without licence or rationale, an open escalation or stale decision of
    the review, simulated parts.

    \b
    Example:
      omibench release build results/freeze --sources sources.yaml --out release/v1.0.0
      omibench release build --sources sources.yaml --split testmini=480 --by grade --out release/v1
    """
    from omibench.datasets.release.build import build_release
    from omibench.datasets.release.splits import ReleaseOptions

    options = ReleaseOptions(
        sources=sources,
        version=_check_version(version),
        draft=draft,
        without_rationale=without_rationale,
        split=_parse_split(split, by),
        seed=seed,
        printed=_check_printed(printed),
        tokenizer=tokenizer,
        previous=previous,
        review=review,
        statements=statements,
    )
    provenance = build_release(freeze or find_results(None) / "freeze", out, options)
    items = sum(source.items for source in provenance.sources)
    say_lines(f"{provenance.name} {provenance.version}: {items} items in {out}", err=True)


@release_app.command()
def verify(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder of a release.")],
) -> None:
    """Verify the checksum of every file and the hashes of every problem of a release.

    Safe for releases of others: no code is run, and no path outside of the folder is read. Prints
    one line per finding.

    \b
    Example:
      omibench release verify release/v1.0.0
    """
    from omibench.datasets.release.verify import verify_release
    from omibench.errors import EXIT_SOME_FAILED

    check = verify_release(folder)
    good = f"{folder}: verified" + (", a draft: do not cite it" * check.is_draft)
    for line in check.findings or [good]:
        say(line, err=True)
    if check.findings:
        raise typer.Exit(EXIT_SOME_FAILED)


@release_app.command()
def diff(
    a: Annotated[Path, typer.Argument(metavar="A", help="Folder of the earlier release.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="Folder of the later release.")],
) -> None:
    """List the changes between two releases and the version number they require.

    \b
    Example:
      omibench release diff release/v1.0.0 release/v1.1.0
    """
    from omibench.datasets.release.changes import compare_releases, describe_changes

    heading, changes = compare_releases(a, b)
    say_lines("\n".join([heading, *describe_changes(changes)]))


def _check_version(text: str | None) -> str | None:
    import re

    from omibench.errors import ParamsError

    if text is not None and not re.fullmatch(r"\d{1,9}\.\d{1,9}\.\d{1,9}", text):
        raise ParamsError(f"--version {text}: is not three numbers; write, for example, 1.2.0")
    return text


def _check_printed(name: str | None) -> str | None:
    from omibench.errors import ParamsError
    from omibench.papers.catalogue import list_described

    if name is None or name.endswith(".csv") or name in (papers := list_described()):
        return name
    raise ParamsError(f"--printed {name}: is not a paper; give {', '.join(papers)}, or a CSV file")


def _parse_split(split: str | None, by: str | None) -> SplitPlan | None:
    import re

    from omibench.datasets.release.splits import DEFAULT, SplitPlan
    from omibench.errors import ParamsError

    if split is None:
        if by is not None:
            raise ParamsError(f"--by {by}: needs --split NAME=ITEMS")
        return None
    name, _, count = split.partition("=")
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,29}", name) or not re.fullmatch(r"\d{1,9}", count):
        raise ParamsError(f"--split {split}: is not NAME=ITEMS; write, for example, testmini=480")
    if name == DEFAULT:
        raise ParamsError(
            f"--split {split}: `{DEFAULT}` is the split of all other problems; choose another name"
        )
    return SplitPlan(name, int(count), tuple(by.split(",")) if by else ())
