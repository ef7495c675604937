"""Content security policies of our pages: no requests, and no scripts except ours."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


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


# Rendering of templates to HTML: values from papers, models and params are escaped.

PACKAGE = "omibench.web"


@cache
def make_environment(package: str) -> Environment:
    """Create the template environment of a package.

    Args:
        package: Dotted name of a package with a folder `templates`; the base page, macros,
            styles and colours shared by all pages are searched after it.

    Returns:
        An environment that escapes every value and raises an error for an undefined name.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    shared = (PackageLoader(PACKAGE), PackageLoader(PACKAGE, "static"))
    return Environment(
        loader=ChoiceLoader([PackageLoader(package), *shared]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render_page(
    package: str,
    template: str,
    csp: str = PAGE_POLICY,
    scripts: Sequence[str] = (),
    packed: str = "",
    **values: Any,
) -> str:
    """Render a whole page.

    Args:
        package: Package of the template, as in `make_environment`.
        template: File name of the template.
        csp: Content security policy of the page.
        scripts: Our scripts, which run at the end of the page or at the position set by the
            template; the policy allows these by their hashes and no others.
        packed: A large script of ours, which the template includes compressed, as `packed`: one of
            `scripts` unpacks it when it is needed, and the policy allows its text by its hash.
        values: Variables of the template.

    Returns:
        Text of the page.
    """
    from markupsafe import Markup

    trusted = [Markup(script) for script in map(_check_script, scripts)]  # noqa: S704  # our files
    policy = allow_scripts(csp, [*scripts, packed] if packed else scripts)
    page = make_environment(package).get_template(template)
    data = base64.b64encode(zlib.compress(packed.encode(), 9)).decode() if packed else ""
    return page.render(csp=policy, scripts=trusted, packed=data, **values)


def read_script(package_file: str, name: str) -> str:
    """Read one of our scripts.

    Args:
        package_file: `__file__` of the package with the folder `scripts`.
        name: Name of the file.
    """
    return (Path(package_file).parent / "scripts" / name).read_text("utf-8")


def embed_json(value: Any) -> Markup:
    """Return a value as JSON for a `<script type="application/json">`.

    Args:
        value: JSON-compatible value; its texts can be untrusted.

    Returns:
        JSON in which no character can end the element or start another.
    """
    from markupsafe import Markup

    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704  # no character in it can end the element


def _check_script(script: str) -> str:
    """Return the script if it is safe inside an element."""
    if "</script" in script.lower() or "<!--" in script:
        raise ValueError("a script that contains </script or <!-- cannot be embedded in a page")
    return script
