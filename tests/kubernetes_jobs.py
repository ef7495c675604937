"""Run Snakemake with a Kubernetes client that only notes the jobs that it is told to create.

    python kubernetes_jobs.py NOTED.json SNAKEMAKE-ARGUMENTS...

Every job counts as failed, so that Snakemake ends after the first ones.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import kubernetes  # type: ignore[import-not-found]
from snakemake.cli import main

NOTED: list[dict[str, Any]] = []


class Jobs:
    """Stands in for BatchV1Api."""

    def create_namespaced_job(self, namespace: str, body: Any) -> Any:
        plain = kubernetes.client.ApiClient().sanitize_for_serialization(body)
        NOTED.append({"namespace": namespace, **plain})
        return body

    def read_namespaced_job_status(self, *_: object) -> SimpleNamespace:
        return SimpleNamespace(status=SimpleNamespace(failed=1, succeeded=0))

    def delete_namespaced_job(self, *_: object, **__: object) -> None:
        """Nothing to delete."""


class Core:
    """Stands in for CoreV1Api."""

    def create_namespaced_secret(self, *_: object, **__: object) -> None:
        """Nothing to keep."""

    delete_namespaced_secret = create_namespaced_secret

    def list_namespaced_pod(self, **_: object) -> SimpleNamespace:
        return SimpleNamespace(items=[])


if __name__ == "__main__":
    kubernetes.config.load_kube_config = lambda: None
    kubernetes.client.BatchV1Api, kubernetes.client.CoreV1Api = Jobs, Core
    try:
        main(sys.argv[2:])
    finally:
        Path(sys.argv[1]).write_text(json.dumps(NOTED), "utf-8")
