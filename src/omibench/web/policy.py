"""Content security policies of our pages: no requests, and no scripts except ours."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from typing import Final

PAGE_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data: 'self'"
"""Policy of a page with pictures, embedded or in separate files."""
PAGE_WITHOUT_PICTURES_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"
SCRIPTED_PAGE_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "base-uri 'none'; form-action 'none'"
)
"""Policy of a page from disk whose scripts and styles are files beside it, nothing inline."""
APPLICATION_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Policy of a served application: only its own files, nothing inline."""


def allow_scripts(policy: str, scripts: Sequence[str]) -> str:
    """Return a policy that allows our scripts by hash, and no others.

    Args:
        policy: Policy without scripts.
        scripts: Texts of the scripts between their tags.
    """
    if not scripts:
        return policy
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    sources = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return f"{policy}; script-src {sources}"
