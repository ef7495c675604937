"""Errors about what a request holds, told apart from errors that every request would meet."""

from __future__ import annotations

import pytest

from omibench.models.api.failures import PICTURE, TOO_LONG, content_fault, match_refusal


@pytest.mark.parametrize(
    ("fault", "code", "message"),
    [
        (TOO_LONG, "context_length_exceeded", ""),
        (TOO_LONG, "", "This model's maximum context length is 8192 tokens. However, you requested "
         "9001 tokens (1001 in the messages, 8000 in the completion)."),
        (TOO_LONG, "invalid_request_error", "prompt is too long: 213462 tokens > 200000 maximum"),
        (TOO_LONG, "invalid_request_error",
         "input length and `max_tokens` exceed context limit: 197000 + 8000 > 200000"),
        (TOO_LONG, "", "The decoder prompt (length 9000) is longer than the maximum model length "
         "of 8192."),
        (TOO_LONG, "INVALID_ARGUMENT", "The input token count (1200000) exceeds the maximum number "
         "of tokens allowed (1048575)."),
        (TOO_LONG, "InvalidParameter", "Range of input length should be [1, 30720]"),
        (PICTURE, "invalid_image_format", ""),
        (PICTURE, "invalid_request_error", "Could not process image"),
        (PICTURE, "invalid_request_error", "messages.0.content.1.image.source.base64: image "
         "exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes"),
        (PICTURE, "invalid_request_error",
         "At least one of the image dimensions exceed max allowed size: 8000 pixels"),
        (PICTURE, "INVALID_ARGUMENT", "Unable to process input image. Please retry or report."),
        (PICTURE, "", "Failed to load image: cannot identify image file <_io.BytesIO>"),
        ("content_filter", "invalid_request_error", "Output blocked by content filtering policy"),
        ("content_filter", "invalid_prompt",
         "Your prompt was flagged as potentially violating our usage policy."),
    ],
)  # fmt: skip
def test_about_the_content(fault: str, code: str, message: str) -> None:
    assert content_fault(400, code, message) == fault
    assert content_fault(500, code, message) is None


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("unsupported_parameter", "Unsupported parameter: 'context_length' is not supported"),
        ("model_not_found", "The model 'x' does not exist"),
        ("invalid_request_error", "This model does not support image inputs."),
        ("", "image_url is only supported by certain models."),
        ("", "At most 1 image(s) may be provided in one request."),
        ("", "max_tokens is too large: 99999. This model supports at most 16384 completion tokens"),
        ("", "Unsupported parameter: 'image_format'"),
        ("", ""),
    ],
)
def test_about_everything(code: str, message: str) -> None:
    assert content_fault(400, code, message) is None


def test_a_policy_by_its_code() -> None:
    assert match_refusal("content_filter") == "content_filter"
    assert match_refusal("SAFETY") == "SAFETY"
    assert match_refusal("stop") is None
