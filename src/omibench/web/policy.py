"""The content security policies of our pages: no request and no script but ours, whatever a text
says."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from typing import Final

PAGE_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data: 'self'"
"""Of a page that shows pictures: those inside it, and files beside it."""
PAGE_WITHOUT_PICTURES_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"
APPLICATION_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Of an application that is served: its own files alone, none of it written into a page."""


def allow_scripts(policy: str, scripts: Sequence[str]) -> str:
    """A policy that lets scripts of ours run, each by its hash, and no others.

    Args:
        policy: A policy without scripts.
        scripts: The texts of the scripts, as they stand between the tags.
    """
    if not scripts:
        return policy
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    sources = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return f"{policy}; script-src {sources}"
