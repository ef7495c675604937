"""Errors that reject the content of a request: too long, an unsupported picture, a policy.

A retry cannot succeed for such a request; other requests are not affected.
"""

from __future__ import annotations

import re

TOO_LONG, PICTURE = "context_length_exceeded", "image_refused"
REFUSED = {
    "content_filter",
    "content_policy_violation",
    "data_inspection_failed",
    "moderation_blocked",
    "image_content_policy_violation",
    "prohibited_content",
    "safety",
    "sensitive",
}
"""Codes and finish reasons of providers that refuse content under a policy."""
_STATUSES = (400, 413, 422)
_CODES = {
    "context_length_exceeded": TOO_LONG,
    "string_above_max_length": TOO_LONG,
    "request_too_large": TOO_LONG,
    **dict.fromkeys(
        (
            "empty_image_file", "image_file_too_large", "image_parse_error", "image_too_large",
            "image_too_small", "invalid_base64_image", "invalid_image", "invalid_image_format",
            "invalid_image_mode", "unsupported_image_media_type",
        ),
        PICTURE,
    ),
}  # fmt: skip
_POLICY = re.compile(
    r"content (?:management |filter(?:ing)? |usage )policy|violat\w+ (?:\w+ ){0,3}usage policy|"
    r"flagged as potentially violating",
    re.IGNORECASE,
)
_LONG = re.compile(
    r"(?:maximum|max) context (?:length|window)|exceeds? (?:the )?context (?:limit|length|window)|"
    r"(?:prompt|input) (?:\([^)]{0,40}\) )?is too long|longer than the maximum model length|"
    r"input token count [^.]{0,40}exceeds the maximum|range of input length should be|"
    r"too large for model with \d+ maximum context",
    re.IGNORECASE,
)
_IMAGE = re.compile(
    r"(?:could not|cannot|can't|unable to|failed to) (?:process|decode|identify|parse|load) "
    r"(?:the |this |an |input |provided )*image|provided image is not valid|"
    r"image (?:exceeds|is too (?:large|small))|"
    r"image dimensions (?:exceed|must)|invalid (?:base64 )?image (?:data|file)|"
    r"unsupported image (?:format|type)",
    re.IGNORECASE,
)


def match_refusal(code: str) -> str | None:
    """Return the code if it refuses content under a policy, else None."""
    return code if code.lower() in REFUSED else None


def content_fault(status: int, code: str, message: str) -> str | None:
    """Return why an error rejects the content of its request; None if it has another cause.

    One of `context_length_exceeded`, `image_refused` and `content_filter`, by the provider's code
    or else by its message, of which the first 2000 characters are read.
    """
    if status not in _STATUSES:
        return None
    words = message[:2000]
    if (fault := _CODES.get(code.lower())) is not None:
        return fault
    if _POLICY.search(words):
        return "content_filter"
    if _LONG.search(words):
        return TOO_LONG
    return PICTURE if _IMAGE.search(words) else None
