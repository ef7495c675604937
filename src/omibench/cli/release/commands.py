"""`omibench release`: a frozen dataset as one folder that others load, cite and check."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from omibench.cli.help import make_group
from omibench.text.terminal import say_lines

if TYPE_CHECKING:
    from omibench.release.splits import SplitPlan

release_app = make_group(
    "release", "A frozen dataset as one immutable folder: built, checked, compared."
)


@release_app.command()
def build(
    freeze: Annotated[
        Path, typer.Argument(metavar="[FREEZE]", help="A folder that freeze wrote.")
    ] = Path("results/freeze"),
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="The release's folder, not there yet.")
    ] = Path("release"),
    sources: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.yaml",
            help="The sources.yaml that says `licence` and `redistribute` of each source.",
        ),
    ] = None,
    version: Annotated[
        str | None, typer.Option(metavar="X.Y.Z", help="By default that of the freeze.")
    ] = None,
    draft: Annotated[
        bool, typer.Option("--draft", help="Build in spite of findings, and mark it a draft.")
    ] = False,
    without_rationale: Annotated[
        bool, typer.Option("--without-rationale", help="Allow items without a rationale.")
    ] = False,
    split: Annotated[
        str | None,
        typer.Option(metavar="NAME=ITEMS", help="Draw a part; the others are the split `test`."),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(metavar="ATTRIBUTE[,...]", help="Draw it in proportion to these attributes."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the part and of the sample.", min=0)] = 0,
    printed: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Put what a paper prints of its dataset beside the statistics: omibench, emma, "
            "usnco_v, mathreal, or a CSV file.",
        ),
    ] = None,
    tokenizer: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="What counts tokens in statistics: words, or the path of a tokenizer.json.",
        ),
    ] = "words",
    previous: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The release before: the changelog is computed from it."),
    ] = None,
    review: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="The folder of the review, with tasks.jsonl and decisions.jsonl; or a file of "
            "people's decisions, whose hash goes into provenance.",
        ),
    ] = None,
    statements: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.yaml",
            help="What only its authors can say, for the datasheet: texts under motivation, "
            "composition, collection, preprocessing, uses, distribution, maintenance, contact.",
        ),
    ] = None,
) -> None:
    """Build a release from a freeze.

    Parquet files with the original bytes of the pictures, dataset card, Croissant metadata,
    manifest of hashes, datasheet, provenance and SHA256SUMS. The same freeze, commit and packages
    give the same bytes. Findings against the release (a source without `redistribute`, an item
    without licence or rationale, an open escalation or a stale decision of the review, simulated
    parts) refuse it, unless it is marked a draft.

    \b
    Example:
      omibench release build results/freeze --sources sources.yaml --out release/v1.0.0
      omibench release build --sources sources.yaml --split testmini=480 --by grade --out release/v1
    """
    from omibench.release.build import build_release
    from omibench.release.options import ReleaseOptions

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
    provenance = build_release(freeze, out, options)
    items = sum(source.items for source in provenance.sources)
    say_lines(f"{provenance.name} {provenance.version}: {items} items in {out}", err=True)


@release_app.command()
def verify(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A release, of anyone.")],
) -> None:
    """Check a release: every file by its sum, every item by the hashes of the manifest.

    Nothing of it is evaluated or followed out of its folder. One line a finding.

    \b
    Example:
      omibench release verify release/v1.0.0
    """
    from omibench.errors import EXIT_SOME_FAILED
    from omibench.release.verify import verify_release

    check = verify_release(folder)
    good = f"{folder}: is what it says" + (", a draft that is not to be cited" * check.is_draft)
    say_lines("\n".join(check.findings) or good, err=True)
    if check.findings:
        raise typer.Exit(EXIT_SOME_FAILED)


@release_app.command()
def diff(
    a: Annotated[Path, typer.Argument(metavar="A", help="The earlier release.")],
    b: Annotated[Path, typer.Argument(metavar="B", help="The later one.")],
) -> None:
    """Say what changed between two releases, and which version that asks for.

    \b
    Example:
      omibench release diff release/v1.0.0 release/v1.1.0
    """
    from omibench.release.changes import compare_releases, describe_changes

    heading, changes = compare_releases(a, b)
    say_lines("\n".join([heading, *describe_changes(changes)]))


def _check_version(text: str | None) -> str | None:
    import re

    from omibench.errors import ParamsError

    if text is not None and not re.fullmatch(r"\d{1,9}\.\d{1,9}\.\d{1,9}", text):
        raise ParamsError(f"--version {text}: write three numbers, as in 1.2.0")
    return text


def _check_printed(name: str | None) -> str | None:
    from omibench.errors import ParamsError
    from omibench.release.printed import PAPERS

    if name is not None and name not in PAPERS and not name.endswith(".csv"):
        raise ParamsError(f"--printed {name}: name one of {', '.join(PAPERS)}, or a CSV file")
    return name


def _parse_split(split: str | None, by: str | None) -> SplitPlan | None:
    import re

    from omibench.errors import ParamsError
    from omibench.release.splits import DEFAULT, SplitPlan

    if split is None:
        if by is not None:
            raise ParamsError(f"--by {by}: says how a part is drawn; name the part with --split")
        return None
    name, _, count = split.partition("=")
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,29}", name) or not re.fullmatch(r"\d{1,9}", count):
        raise ParamsError(f"--split {split}: write a name and a number, as in testmini=480")
    if name == DEFAULT:
        raise ParamsError(f"--split {split}: `{DEFAULT}` holds the other items; name another part")
    return SplitPlan(name, int(count), tuple(by.split(",")) if by else ())
