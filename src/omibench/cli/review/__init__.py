"""The commands of `omibench review`, one module each, in the order of the help."""

from omibench.cli.review.agree import agree
from omibench.cli.review.assign import assign
from omibench.cli.review.export import export
from omibench.cli.review.group import review_group
from omibench.cli.review.import_ import import_
from omibench.cli.review.sample import sample
from omibench.cli.review.serve import serve
from omibench.cli.review.status import status
from omibench.cli.review.user import user_app

VERBS = (
    assign,
    serve,
    import_,
    export,
    agree,
    sample,
    status,
)

for verb in VERBS:
    review_group.command(name=verb.__name__.rstrip("_"))(verb)
review_group.add_typer(user_app)

__all__ = ["review_group"]
