"""Training conversations that share a text or a picture with the frozen problems."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from omibench.datasets.likeness import difference_hash, normalise, shingles
from omibench.files.reading import hash_file
from omibench.schemas.problem import Question
from omibench.schemas.tuning import Leak, TrainingConversation

FEWEST_RUNS: Final = 8
"""Three-word runs of the shortest problem that is compared by its text: 10 words."""


class LeakCheck:
    """An index of frozen problems. A conversation has a leak if

    - its turns of the user contain at least `share` of the three-word runs of a problem with its
      choices, in the normal form of the filter's duplicates; or
    - a picture has the bytes of one of theirs, or a perceptual hash that differs in at most `bits`.
    """

    def __init__(
        self, questions: Sequence[Question], folder: Path, share: float, bits: int
    ) -> None:
        """Index the problems.

        Args:
            questions: The frozen problems.
            folder: The folder of their pictures' paths.
            share: Least share of a problem's runs, in [0, 1].
            bits: Largest Hamming distance of two 64-bit hashes of equal pictures.

        Raises:
            MissingInputError: A picture of a problem is missing.
            FileFormatError: It is not readable.
        """
        self._share, self._bits = share, bits
        self._runs: dict[tuple[str, ...], list[str]] = defaultdict(list)
        self._sizes: dict[str, int] = {}
        self._owners: dict[str, str] = {}
        looks: list[int] = []
        for question in questions:
            choices = [choice.text or "" for choice in question.choices or []]
            runs = shingles(normalise(" ".join([question.question, *choices])))
            if len(runs) >= FEWEST_RUNS:
                self._sizes[question.id] = len(runs)
                for run in runs:
                    self._runs[run].append(question.id)
            for figure in question.images:
                if figure.sha256 not in self._owners:
                    self._owners[figure.sha256] = question.id
                    looks.append(difference_hash(folder / figure.file))
        self._hashes = np.array(looks, dtype=np.uint64)

    def find(self, conversation: TrainingConversation) -> Iterator[Leak]:
        """Yield the leaks of a conversation: of its text, then of its pictures, each problem once.

        Raises FileFormatError for a picture that cannot be read.
        """
        text = " ".join(turn.text for turn in conversation.turns if turn.role == "user")
        counts: Counter[str] = Counter()
        for run in shingles(normalise(text)):
            counts.update(self._runs.get(run, ()))
        for problem, count in counts.items():
            if (share := count / self._sizes[problem]) >= self._share:
                yield self._leak(conversation, problem, "text", share)
        seen: set[str] = set()
        for picture in conversation.pictures:
            owner, share = self._find_picture(Path(picture))
            if owner is not None and owner not in seen:
                seen.add(owner)
                yield self._leak(conversation, owner, "picture", share)

    def _find_picture(self, picture: Path) -> tuple[str | None, float]:
        digest = hash_file(picture)
        if digest in self._owners:
            return self._owners[digest], 1.0
        hashes = self._hashes
        if not len(hashes):
            return None, 0.0
        look = np.uint64(difference_hash(picture))
        bits = np.unpackbits((hashes ^ look).view(np.uint8).reshape(len(hashes), 8), axis=1).sum(1)
        nearest = int(bits.argmin())
        if bits[nearest] > self._bits:
            return None, 0.0
        return [*self._owners.values()][nearest], 1 - float(bits[nearest]) / 64

    @staticmethod
    def _leak(conversation: TrainingConversation, problem: str, kind: str, share: float) -> Leak:
        values = {"conversation": conversation.id, "problem": problem, "kind": kind}
        return Leak.model_validate(values | {"share": round(share, 4)})
