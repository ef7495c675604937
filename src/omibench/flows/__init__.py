"""Prefect flows: work limited by APIs, scheduled with retries; Snakemake builds the rest."""

import logging
import os
from pathlib import Path

from omibench.text.terminal import PrintableRecord

FOLDER_ENV = "OMIBENCH_FOLDER"
"""Environment variable with the folder that `omibench serve` serves."""

# Send nothing about a study to others unless its owner requests it.
os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
os.environ.setdefault("DO_NOT_TRACK", "1")
# Log messages of the package belong to the run that emits them.
os.environ.setdefault("PREFECT_LOGGING_EXTRA_LOGGERS", "omibench")
# The first start creates the database, which takes longer than Prefect waits on a busy machine.
os.environ.setdefault("PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS", "180")
# A flow works in the folder of its study; Prefect's folder stays where the flow was started.
if "PREFECT_HOME" in os.environ:
    os.environ["PREFECT_HOME"] = str(Path(os.environ["PREFECT_HOME"]).expanduser().absolute())
# Leases of limits survive the server, so that no slot stays taken after both have died.
_LEASES = "prefect.server.concurrency.lease_storage.filesystem"
os.environ.setdefault("PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE", _LEASES)
# Prefect displays log messages, including text of models and files, as logged.
logging.setLogRecordFactory(PrintableRecord)
