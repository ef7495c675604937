"""Metrics of a served review in the Prometheus text format."""

from __future__ import annotations

from omibench.review_app.log.decisions import count_events
from omibench.review_app.log.states import count_stale, count_states
from omibench.review_app.service import ReviewService


def format_metrics(service: ReviewService) -> str:
    """Return decisions, tasks by kind and status, stale tasks, and the head of decisions.jsonl."""
    with service.database.read() as connection:
        number = count_events(connection)
        states, stale = count_states(connection), count_stale(connection)
    lines = [
        "# TYPE omibench_review_events_total counter",
        f"omibench_review_events_total {number}",
        "# TYPE omibench_review_head_info gauge",
        f'omibench_review_head_info{{sha256="{service.log.head}"}} 1',
        "# TYPE omibench_review_tasks gauge",
        *(
            f'omibench_review_tasks{{kind="{kind}",status="{status}"}} {count}'
            for (kind, status), count in sorted(states.items())
        ),
        "# TYPE omibench_review_stale_tasks gauge",
        *(
            f'omibench_review_stale_tasks{{kind="{kind}"}} {count}'
            for kind, count in sorted(stale.items())
        ),
    ]
    return "\n".join(lines) + "\n"
