"""The table of `api_client.py`, compared with its targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

BARE = ("bare-aiohttp", "bare-default")
CPU_OF_BARE, CPU_BELOW_INSPECT, THROUGHPUT_OF_BARE, MEMORY_MB = 1.5, 3.0, 0.97, 500.0


class Cell(NamedTuple):
    """Requests in flight at once, and the server's latency."""

    concurrency: int
    latency_s: float


class Figures(NamedTuple):
    """One run, or the medians of several."""

    cpu_ms: float
    """Client CPU a request."""
    wall_s: float
    sending_s: float
    """From the first request to the last reply, by the server's clock."""
    ideal_share: float
    memory_mb: float
    written_kb: float
    """Written to files a request."""
    peak: float
    """Most requests in flight at once, as the server saw it."""
    requests: float


Table = Mapping[tuple[Cell, str], Figures]


class Ratios(NamedTuple):
    """A client against the better of the bare ones in the same cell."""

    cpu: float
    throughput: float
    sending: float


def ratios(table: Table, cell: Cell, client: str) -> Ratios:
    """CPU over that of the bare SDK, and throughput over its: whole runs, and while sending."""
    own = table[cell, client]
    bare = [table[cell, name] for name in BARE if (cell, name) in table]
    return Ratios(
        own.cpu_ms / min(b.cpu_ms for b in bare),
        min(b.wall_s for b in bare) / own.wall_s,
        min(b.sending_s for b in bare) / own.sending_s,
    )


def pairs(found: Mapping[tuple[Cell, str], Sequence[Figures]], cell: Cell) -> str:
    """The throughput of omibench over that of the better bare client of each round, and CPU."""
    own = found[cell, "omibench"]
    rounds = list(zip(*(found[cell, name] for name in BARE), strict=True))
    whole = [min(b.wall_s for b in bare) / o.wall_s for bare, o in zip(rounds, own, strict=True)]
    sending = [
        min(b.sending_s for b in bare) / o.sending_s for bare, o in zip(rounds, own, strict=True)
    ]
    lines = [
        f"throughput x bare: median {median(whole):.2f} of {', '.join(f'{r:.2f}' for r in whole)}",
        f"while sending: median {median(sending):.2f} of {', '.join(f'{r:.2f}' for r in sending)}",
    ]
    cpu = {n: median(f.cpu_ms for f in found[cell, n]) for n in (*BARE, "omibench")}
    lines.append("CPU ms/request: " + ", ".join(f"{n} {ms:.2f}" for n, ms in cpu.items()))
    return "\n".join(lines)


def markdown(table: Table) -> str:
    """One row a cell and client."""
    lines = [
        "| in flight | latency s | requests | client | CPU ms/request | x bare | wall s | of ideal "
        "| throughput x bare | while sending x bare | peak MB | written kB/request |",
        "|---:|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for (cell, client), own in table.items():
        cpu, throughput, sending = ratios(table, cell, client)
        lines.append(
            f"| {cell.concurrency} | {cell.latency_s:g} | {own.requests:.0f} | {client} | "
            f"{own.cpu_ms:.1f} | {cpu:.2f} | {own.wall_s:.1f} | {own.ideal_share:.2f} | "
            f"{throughput:.2f} | {sending:.2f} | {own.memory_mb:.0f} | {own.written_kb:,.0f} |"
        )
    return "\n".join(lines)


def aims(table: Table) -> str:
    """What was aimed at for omibench, cell by cell: reached or missed, with the figure."""
    lines = [
        "| in flight | latency s | CPU <= 1.5 x bare | CPU of inspect-lean >= 3 x ours "
        "| throughput >= 0.97 x bare | memory < 500 MB |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    for cell in dict.fromkeys(cell for cell, _ in table):
        own, peer = table[cell, "omibench"], table[cell, "inspect-lean"]
        cpu, throughput, _ = ratios(table, cell, "omibench")
        less = peer.cpu_ms / own.cpu_ms
        marks = [
            _mark(f"{cpu:.2f}", cpu <= CPU_OF_BARE),
            _mark(f"{less:.1f}", less >= CPU_BELOW_INSPECT),
            _mark(f"{throughput:.2f}", throughput >= THROUGHPUT_OF_BARE),
            _mark(f"{own.memory_mb:.0f}", own.memory_mb < MEMORY_MB),
        ]
        lines.append(f"| {cell.concurrency} | {cell.latency_s:g} | {' | '.join(marks)} |")
    return "\n".join(lines)


def _mark(figure: str, reached: bool) -> str:
    return figure if reached else f"**{figure} missed**"
