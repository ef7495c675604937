"""Templates to HTML: everything from papers, models and params is escaped."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omibench.web.policy import PAGE_POLICY, allow_scripts

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

PACKAGE = "omibench.web"


@cache
def make_environment(package: str) -> Environment:
    """Make what renders the templates of a package.

    Args:
        package: The dotted name of a package with a folder `templates`; behind it stand the base
            page, the macros and the style that all pages share.

    Returns:
        An environment that escapes every value and raises at a name that has none.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader(PACKAGE)]),
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
    **values: Any,
) -> str:
    """Render a whole page.

    Args:
        package: The package of the template, as in `make_environment`.
        template: The name of its file.
        csp: The content security policy of the page.
        scripts: Our own scripts, which stand at the end of the page and run there, or where the
            template says: the policy allows these by their hashes and no other.
        values: What the template sees.

    Returns:
        The text of the page.
    """
    from markupsafe import Markup

    trusted = [Markup(script) for script in map(_check_script, scripts)]  # noqa: S704  # our files
    policy = allow_scripts(csp, scripts)
    page = make_environment(package).get_template(template)
    return page.render(csp=policy, scripts=trusted, **values)


def read_script(package_file: str, name: str) -> str:
    """Read a script of ours.

    Args:
        package_file: `__file__` of the package that holds the folder `scripts`.
        name: The name of its file.
    """
    return (Path(package_file).parent / "scripts" / name).read_text("utf-8")


def embed_json(value: Any) -> Markup:
    """A value as JSON that stands in a `<script type="application/json">`.

    Args:
        value: Anything that JSON holds; texts of others may be in it.

    Returns:
        JSON in which no character can end the element or start another.
    """
    from markupsafe import Markup

    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)  # noqa: S704  # nothing in it can leave the element


def _check_script(script: str) -> str:
    """The script, if an element can hold it."""
    if "</script" in script.lower() or "<!--" in script:
        raise ValueError("a script that holds </script or <!-- cannot stand in a page")
    return script
