"""Shares of the components in the differences of one cell, problem by problem."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from omibench.run_comparison.cell_pair import BITS, CellPair
from omibench.run_comparison.replay import CellReplay, MixedState, Side
from omibench.run_comparison.report import Component
from omibench.run_comparison.shapley import divide_differences

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ItemShares = dict[int, "NDArray[np.float64]"]
"""Components, as a bit mask of `BITS` -> their share in the difference of each problem."""


def divide_cell(pair: CellPair, replay: CellReplay) -> ItemShares:
    """Divide the difference of each problem of a cell among its differing components.

    A single component gets the whole difference. For several, shares are averaged over all orders
    of switching (`shapley`), using the verdicts of mixed states from `replay`. Components whose
    mixed states are unknown are joined.

    Args:
        pair: The cell.
        replay: Verdicts of its mixed states.

    Returns:
        For each component or group of joined components, one number per problem of `pair.ids`; over
        all groups they sum to `value_b - value_a`.
    """
    import numpy as np

    shares: ItemShares = {}
    for players, rows in _group_rows(pair, _drop_equal_extractions(pair, replay)):
        bits = [bit for bit in BITS.values() if players & bit]
        if len(bits) < 2:
            _add(shares, players, rows, pair.value_b[rows] - pair.value_a[rows], len(pair.ids))
            continue
        values = _find_state_values(pair, replay, rows, bits)
        for block_shares in divide_differences(values):
            for column, block in enumerate(block_shares.partition):
                mask = sum(bit for i, bit in enumerate(bits) if block >> i & 1)
                column_shares = block_shares.shares[:, column]
                _add(shares, mask, rows[block_shares.rows], column_shares, len(pair.ids))
    return {mask: values for mask, values in shares.items() if mask and np.size(values)}


def _add(
    shares: ItemShares,
    mask: int,
    rows: NDArray[np.intp],
    values: NDArray[np.float64],
    size: int,
) -> None:
    import numpy as np

    shares.setdefault(mask, np.zeros(size))[rows] += values


def _drop_equal_extractions(pair: CellPair, replay: CellReplay) -> NDArray[np.int64]:
    """Return the differing components of each problem; extraction only if it matters.

    If two scorers extract different answers from the same response but give the same verdict, there
    is nothing to divide. If other components differ as well, the extractions are from the same
    response.
    """
    import numpy as np

    differs = pair.differs.copy()
    if pair.a.scoring.is_judged or pair.b.scoring.is_judged:
        return differs
    extraction, rules = BITS["extraction"], BITS["rules"]
    alone = (differs & ~(extraction | rules)) == 0
    differs[alone & (pair.value_a == pair.value_b)] &= ~extraction
    for players, rows in list(_group_rows(pair, np.where(alone, 0, differs & ~extraction))):
        if not players & rules:
            continue
        ids = [pair.ids[row] for row in rows]
        with_data = bool(pair.asked_with_data[rows[0]])
        changed: set[str] = set()
        for side in (0, players & ~rules):
            readings = [
                replay.find_verdicts(ids, _make_state(players, side | rule_bit, with_data))
                for rule_bit in (0, rules)
            ]
            changed |= {
                name
                for name in readings[0].keys() & readings[1].keys()
                if [sample.extracted for sample in readings[0][name]]
                != [sample.extracted for sample in readings[1][name]]
            }
        is_changed = np.array([name in changed for name in ids], dtype=bool)
        differs[rows] = np.where(is_changed, players | extraction, players)
    return differs


def _group_rows(
    pair: CellPair, differs: NDArray[np.int64]
) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Yield groups of problems with the same differing components, without unchanged ones."""
    import numpy as np

    for with_data in (False, True):
        here = pair.asked_with_data == with_data
        for players in np.unique(differs[here]).tolist():
            if players:
                yield players, np.flatnonzero(here & (differs == players))


def _find_state_values(
    pair: CellPair, replay: CellReplay, rows: NDArray[np.intp], bits: list[int]
) -> NDArray[np.float64]:
    """Return the mean verdict of each problem (row) in each state (column) of the components."""
    import numpy as np

    ids = [pair.ids[row] for row in rows]
    with_data = bool(pair.asked_with_data[rows[0]])
    last = 2 ** len(bits) - 1
    values = np.empty((len(rows), last + 1))
    values[:, 0], values[:, last] = pair.value_a[rows], pair.value_b[rows]
    for number in range(1, last):
        switched = sum(bit for i, bit in enumerate(bits) if number >> i & 1)
        state = _make_state(sum(bits), switched, with_data)
        values[:, number] = replay.find_values(ids, state)
    return values


def _make_state(players: int, switched: int, with_data: bool) -> MixedState:
    """Return the source run of each component; those of `switched` are from run B."""

    def find_side(component: Component) -> Side | None:
        bit = BITS[component]
        return ("b" if switched & bit else "a") if players & bit else None

    return MixedState(
        response=find_side("data" if with_data else "responses"),
        gold=find_side("gold"),
        data=find_side("data"),
        scoring=find_side("rules") or find_side("judge"),
        extraction=find_side("extraction"),
    )
