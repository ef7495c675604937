"""The codes that `ocr` gives a file, with meaning and remedy; docs/errors.md lists them."""

from __future__ import annotations

from typing import NamedTuple

from omibench.extras import install_command


class Code(NamedTuple):
    """Whether a code fails its file, its message and its remedy."""

    fails: bool
    meaning: str
    remedy: str


CODES: dict[str, Code] = {
    "file_missing": Code(True, "the file is missing", "check the path or the manifest"),
    "sha256_mismatch": Code(
        True, "the file differs from the one in the manifest", "restore it or update its sha256"
    ),
    "download_failed": Code(
        True, "the file could not be downloaded", "check the url in the manifest, or try again"
    ),
    "rows_unreadable": Code(
        True, "the benchmark's table cannot be read", "correct the row in the message"
    ),
    "problems_not_made": Code(
        True,
        "a generator cannot make the problems",
        "correct its entry of the manifest, or install what is missing",
    ),
    "key_unreadable": Code(
        True, "a line of the key lacks its number or answer", "write number,answer on each line"
    ),
    "not_a_pdf": Code(
        True, "the content does not match the suffix", "give a PDF, PNG or JPEG with its own suffix"
    ),
    "pdf_encrypted": Code(
        True, "a password is needed", "set it in the variable given by --password-env"
    ),
    "pdf_damaged": Code(True, "no page can be read", "get the file again"),
    "pdf_no_pages": Code(True, "the PDF has no pages", "get the file again"),
    "pdf_too_many_pages": Code(
        True, "the PDF has more pages than allowed", "split it or raise --max-pages"
    ),
    "paper_timeout": Code(
        True,
        "reading took too long, and no page was read",
        "raise ocr.timeout_s or ocr.page_timeout_s",
    ),
    "paper_out_of_memory": Code(True, "reading took too much memory", "raise ocr.memory_mb"),
    "paper_failed": Code(True, "the reader failed on this file", "please report the file"),
    "page_timeout": Code(
        False,
        "no time was left for a page; the others were read",
        "raise ocr.timeout_s, or ocr.page_timeout_s for scans",
    ),
    "page_failed": Code(
        False,
        "the reader failed on a page, or the page has more than 5,000 lines; the others were read",
        "please report the file",
    ),
    "page_needs_ocr": Code(False, "no readable text layer", "set an OCR engine in ocr.engine"),
    "engine_missing": Code(
        False, "the OCR engine is not installed", f"{install_command('ocr')}, and read it again"
    ),
    "engine_failed": Code(
        True, "the OCR engine gave no answer", "run it again; finished readings are kept"
    ),
    "page_unread": Code(
        False, "the engine found no text on a page", "check the page, or try another ocr.engine"
    ),
    "page_incomplete": Code(
        False,
        "the engine's reply lacks a part of a page",
        "compare pages.jsonl with the page, or try another ocr.engine",
    ),
    "formulas_unread": Code(
        False,
        "a page has too many characters, lines, drawings or rules to search it for formulas",
        "compare pages.jsonl with the page",
    ),
    "ink_unread": Code(
        False,
        "something printed on a page is in no text, formula or figure",
        "check the places on the inspection page (--look), or in `unread` of pages.jsonl",
    ),
    "image_too_large": Code(
        False, "an image declares too many pixels and was not decoded", "scale the image down"
    ),
    "pdf_permissions": Code(
        False, "the author did not permit text extraction", "check that you may use the paper"
    ),
    "pdf_repaired": Code(
        False, "the file is damaged; its repaired part was read", "compare it with the paper"
    ),
    "problem_dropped": Code(
        False, "a problem could not be assembled and was left out", "please report the file"
    ),
    "no_problems": Code(
        False, "no numbered problem was found", "check in pages.jsonl whether this is an exam paper"
    ),
    "solutions_only": Code(
        False,
        "it has solutions but no questions",
        "in sources.yaml, give the questions as `paper:` and this file as their `solutions:`",
    ),
    "language_unknown": Code(
        False, "its language could not be detected", "set the language in the manifest"
    ),
    "picture_missing": Code(
        False,
        "rows with missing pictures were left out",
        "put the pictures into the benchmark's folder",
    ),
    "photograph_unread": Code(
        False,
        "the text of a photograph could not be read; the photograph is kept",
        "let reviewers transcribe its question, or try another ocr.engine",
    ),
    "clean_picture_unread": Code(
        False,
        "the clean picture of a photograph is damaged and was left out",
        "replace the file",
    ),
    "correction_misfit": Code(
        False,
        "a correction no longer fits the reading and was not applied",
        "check the place, and correct or delete the entry in corrections.yaml",
    ),
    "key_number_unknown": Code(
        False,
        "numbers of the key match no problem",
        "compare the key with problems.jsonl",
    ),
    "key_unread": Code(
        False, "no answer was found in the key", "check that the key has a text layer"
    ),
}


def is_error(code: str) -> bool:
    """Return whether a code fails its file."""
    return CODES[code].fails
