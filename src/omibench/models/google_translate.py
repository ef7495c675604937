"""Google Cloud Translation, Basic edition (v2), which OMIBench translates with (3.2 and A.2).

It gets the sections of a translator's request and none of its instructions. Formulas and marks of
pictures are sent in elements that are not translated, lines as `<br>`.
"""

from __future__ import annotations

import html
import json
import re
import urllib.request
from dataclasses import replace
from time import time
from typing import Any, Final

from glyphtex.latex import find_formulas
from omibench.errors import ModelError
from omibench.models.api.failures import Failure, failure_of_status
from omibench.models.api.http import (
    MOST_REPLY,
    exchange,
    explain_failure,
    read_key,
    resolve_address,
)
from omibench.models.api.replies import parse_json
from omibench.models.registry import provider
from omibench.models.sdk import SdkProvider
from omibench.params.models.providers import GoogleTranslateModel
from omibench.schemas.problem import IMAGE_MARK
from omibench.schemas.request import Request, Response, Usage
from omibench.text.fences import read_fenced

PATH: Final = "/language/translate/v2"
TARGET: Final = "en"
READ_S: Final = 60.0
"""Maximum seconds between two pieces of a reply."""
_KEPT: Final = '<span translate="no">{}</span>'
_BREAK = re.compile(r"\s*<br\s*/?>\s*", re.IGNORECASE)
_ELEMENT = re.compile(r"</?span\b[^<>]*>", re.IGNORECASE)


@provider("google-translate", block=GoogleTranslateModel)
class GoogleTranslateProvider(SdkProvider[GoogleTranslateModel]):
    """Translates the sections of a translator's request into English."""

    def respond(self, request: Request) -> Response:
        """See `SdkProvider.respond`. `usage.input_tokens` counts the characters that are billed."""
        sections = read_fenced(request.conversation.text)
        if request.tags.role != "translator" or not sections:
            raise ModelError(
                f"model {self.name!r}: the provider google-translate only translates problems; use "
                "it as `filter.translation`"
            )
        texts = [mark_up(text) for text in sections.values()]
        body = {"q": texts, "target": TARGET, "format": "html"}
        translations = self._call(body, len(texts))
        reply = "\n\n".join(
            f"{name}:\n{read_markup(text)}"
            for name, text in zip(sections, translations, strict=True)
        )
        return Response(text=reply, usage=Usage(input_tokens=sum(map(len, texts)), output_tokens=0))

    def _call(self, body: dict[str, Any], count: int) -> list[str]:
        key = read_key(self.model.key_env).get_secret_value()
        sent = urllib.request.Request(  # noqa: S310 (the block's type admits only http(s))
            resolve_address(self.model).rstrip("/") + PATH,
            json.dumps(body).encode(),
            {"Content-Type": "application/json; charset=utf-8", "X-goog-api-key": key},
        )
        reply = exchange(sent, timeout_s=READ_S, most_bytes=MOST_REPLY)
        if reply.status != 200:
            failure = failure_of_status(
                reply.status, reply.headers, reply.body.decode("utf-8", "replace"), time()
            )
            # A wrong key is 400 here, and one without the right to translate 403.
            no_key = reply.status == 403 or "API key" in failure.message
            raise explain_failure(replace(failure, fatal=no_key), self.name, self.model)
        return read_translations(reply.body, count)


def read_translations(body: bytes, count: int) -> list[str]:
    """Return the texts of a reply, in the order in which they were sent.

    Raises:
        Failure: The reply does not have as many texts as were sent.
    """
    try:
        rows = parse_json(body)["data"]["translations"]
        texts = [row["translatedText"] for row in rows]
    except (KeyError, TypeError, ValueError):
        texts = []
    if len(texts) != count or not all(isinstance(text, str) for text in texts):
        raise Failure(f"the reply does not hold the {count} translations that were asked for", 200)
    return texts


def mark_up(text: str) -> str:
    """Write a text as HTML in which formulas and marks of pictures are not translated."""
    spans = [(span.start, span.end) for span in find_formulas(text)]
    marks = (match.span() for match in IMAGE_MARK.finditer(text))
    spans += [mark for mark in marks if not any(a <= mark[0] < b for a, b in spans)]
    pieces, end = [], 0
    for start, stop in sorted(spans):
        pieces += [_escape(text[end:start]), _KEPT.format(html.escape(text[start:stop]))]
        end = stop
    return "".join([*pieces, _escape(text[end:])])


def read_markup(text: str) -> str:
    """Return the text of HTML that `mark_up` wrote, after its translation."""
    return html.unescape(_ELEMENT.sub("", _BREAK.sub("\n", text))).strip()


def _escape(text: str) -> str:
    return html.escape(text, quote=False).replace("\n", "<br>")
