"""Prefect flows: what is bound by APIs, scheduled with retries; Snakemake builds the rest."""

import logging
import os

from omibench.text.terminal import PrintableRecord

# Nothing about a study leaves the machine unless its owner asks for it.
os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
os.environ.setdefault("DO_NOT_TRACK", "1")
# What the package says of itself belongs to the run that it says it in.
os.environ.setdefault("PREFECT_LOGGING_EXTRA_LOGGERS", "omibench")
# A first start makes the database, which takes longer than Prefect waits on a busy machine.
os.environ.setdefault("PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS", "180")
# Leases of limits survive the server, so that no slot stays taken after both have died.
_LEASES = "prefect.server.concurrency.lease_storage.filesystem"
os.environ.setdefault("PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE", _LEASES)
# Prefect shows what models and files say as it is logged.
logging.setLogRecordFactory(PrintableRecord)
