"""The commands of `omibench review`, in the order of the help."""

from omibench.cli.review.files import export, import_
from omibench.cli.review.options import review_app
from omibench.cli.review.people import agree, status, user_app
from omibench.cli.review.serve import serve
from omibench.cli.review.tasks import assign, sample

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
    review_app.command(name=verb.__name__.rstrip("_"))(verb)
review_app.add_typer(user_app)

__all__ = ["review_app"]
