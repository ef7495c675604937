"""The content security policies of our pages: no script, no request, whatever a text says."""

from __future__ import annotations

from typing import Final

PAGE_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; img-src data: 'self'"
"""Of a page that shows pictures: those inside it, and files beside it."""
PAGE_WITHOUT_PICTURES_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"
