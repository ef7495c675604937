"""MinHash index: finds similar texts without comparing all pairs.

Broder, On the resemblance and containment of documents (1997). The signature of a text is the
minimum of each of many hashes over its character shingles. Two texts share an entry with a
probability equal to the Jaccard similarity of their shingles. Texts that share all entries of a
band are candidates for an exact comparison.
"""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

RUN = 4
"""Characters of one shingle."""
BANDS, ROWS = 80, 4
"""Texts with a Jaccard similarity of 0.5 share a band with probability 1 - (1 - 0.5**4)**80, which
is 0.994; of 0.1, as unrelated texts of one field have, with 0.008."""
_SEED = 20261121


def signature(text: str) -> NDArray[np.uint32]:
    """Return the `BANDS * ROWS` smallest hashes of a text's shingles; order does not count."""
    codes = np.frombuffer(text.ljust(RUN).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    windows = np.lib.stride_tricks.sliding_window_view(codes.astype(np.uint64), RUN)
    powers = np.uint64(0x9E3779B97F4A7C15) ** np.arange(1, RUN + 1, dtype=np.uint64)
    runs = np.unique((windows * powers).sum(axis=1, dtype=np.uint64))
    factor, shift = _hashes()
    # Multiply-shift: the upper half of the product is the hash.
    mixed: NDArray[np.uint64] = runs[:, None] * factor[None, :] + shift[None, :]
    smallest: NDArray[np.uint32] = (mixed >> np.uint64(32)).min(axis=0).astype(np.uint32)
    return smallest


class Similar:
    """Indexed texts, in order; `candidates` of a text are those that may be similar."""

    def __init__(self) -> None:
        self._bands: list[defaultdict[bytes, list[int]]] = [defaultdict(list) for _ in range(BANDS)]
        self._size = 0

    def add(self, text: str) -> None:
        """Add a text under the next number."""
        for band, key in zip(self._bands, _keys(text), strict=True):
            band[key].append(self._size)
        self._size += 1

    def candidates(self, text: str) -> list[int]:
        """Return the numbers of the texts that share a band with this one, ascending."""
        candidate_numbers: set[int] = set()
        for band, key in zip(self._bands, _keys(text), strict=True):
            candidate_numbers.update(band.get(key, ()))
        return sorted(candidate_numbers)


@lru_cache(maxsize=4)  # add() usually follows with the same text
def _keys(text: str) -> list[bytes]:
    signature_bytes, size = signature(text).tobytes(), 4 * ROWS
    return [signature_bytes[i : i + size] for i in range(0, len(signature_bytes), size)]


@lru_cache(maxsize=1)
def _hashes() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    draw = np.random.default_rng(_SEED)
    odd = draw.integers(0, 2**63, BANDS * ROWS, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    return odd, draw.integers(0, 2**63, BANDS * ROWS, dtype=np.uint64)
