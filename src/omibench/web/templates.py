"""Templates to HTML: everything from papers, models and params is escaped."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from omibench.web.policy import PAGE_POLICY

if TYPE_CHECKING:
    from jinja2 import Environment

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


def render_page(package: str, template: str, csp: str = PAGE_POLICY, **values: Any) -> str:
    """Render a whole page.

    Args:
        package: The package of the template, as in `make_environment`.
        template: The name of its file.
        csp: The content security policy of the page.
        values: What the template sees.

    Returns:
        The text of the page.
    """
    return make_environment(package).get_template(template).render(csp=csp, **values)
