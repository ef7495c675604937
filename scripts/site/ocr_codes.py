"""The reference of the codes of `omibench ocr`, written from their table in the code."""

from __future__ import annotations


def write_ocr_codes() -> str:
    """Return the page as Markdown: errors, then warnings."""
    from omibench.stages.ocr.codes import CODES

    lines = [
        "# Codes of `omibench ocr`",
        "",
        "`report.json` has a status for each file and one of these codes if it is not `ok`.",
        "[Errors and warnings](../errors.md) explains status, exit codes and limits.",
    ]
    for fails, heading in ((True, "Errors: the file is not read"), (False, "Warnings: it is read")):
        lines += ["", f"## {heading}", "", "| code | meaning | what to do |", "|---|---|---|"]
        lines += [
            f"| `{code}` | {entry.meaning} | {entry.remedy} |"
            for code, entry in CODES.items()
            if entry.fails == fails
        ]
    return "\n".join(lines) + "\n"
