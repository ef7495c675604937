"""Pictures in the output of models with tokens of pictures in their vocabulary, such as Emu3.

A picture is a start, `<rows>*<columns>` and a separator, the rows, each closed by an end of line,
and two closing tokens, as transformers' `Emu3Processor` writes one. Once a model starts a picture,
only such a sequence can follow, and it starts none that would not fit into the reply.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from math import isqrt
from typing import Any

from omibench.errors import ModelError
from omibench.models.drawn import make_drawn
from omibench.params.models.base import Draws
from omibench.schemas.request import DrawnPart


class PictureTokens:
    """The tokens of one picture of a model: a square of `side` x `side` visual tokens.

    Raises ModelError if the model cannot draw.
    """

    def __init__(self, name: str, model: Any, processor: Any, draws: Draws) -> None:
        mapping: Any = getattr(model, "vocabulary_mapping", None)
        if not hasattr(model, "decode_image_tokens") or not hasattr(mapping, "eol_token_id"):
            raise ModelError(
                f"model {name!r}: {type(model).__name__} has no tokens of pictures that "
                "transformers decodes; leave out `draws`, or write a provider for it "
                "(docs/plugins.md)"
            )
        self.model, self.processor, self.most = model, processor, draws.pictures
        self.side = max(1, (isqrt(4 * draws.tokens + 1) - 1) // 2)
        tokenizer = processor.tokenizer
        start, separator, *ends = tokenizer.convert_tokens_to_ids(
            [
                processor.image_start_token,
                processor.fake_token_around_image,
                processor.eof_token,
                processor.image_end_token,
            ]
        )
        self.ends: list[int] = ends
        size = tokenizer.encode(f"{self.side}*{self.side}", add_special_tokens=False)
        self.head: list[int] = [start, *size, separator]
        self.line_end: int = mapping.eol_token_id
        self.visual: list[int] = mapping.image_tokens
        self.area = self.side * (self.side + 1)
        self.length = len(self.head) + self.area + len(self.ends)

    def choices(self, place: int) -> Sequence[int]:
        """Return the tokens that can stand at a place of a picture."""
        inside = place - len(self.head)
        if inside < 0:
            return self.head[place : place + 1]
        if inside >= self.area:
            return self.ends[inside - self.area : inside - self.area + 1]
        return self.visual if (inside + 1) % (self.side + 1) else [self.line_end]

    def split(self, tokens: Sequence[int], decode: Any) -> list[str | DrawnPart]:
        """Return the runs of text, read by `decode`, and the pictures of a reply in sequence."""
        pieces: list[str | DrawnPart] = []
        start = 0
        while start < len(tokens):
            places = range(start, len(tokens))
            end = next((n for n in places if tokens[n] == self.head[0]), len(tokens))
            if end > start:
                pieces.append(decode(tokens[start:end], skip_special_tokens=True))
            if end + self.length <= len(tokens):
                pieces.append(self._decode(tokens[end + len(self.head) : end + self.length]))
            start = end + self.length
        return pieces

    def count(self, pieces: Sequence[str | DrawnPart]) -> int:
        """Return the tokens of the pictures in a reply."""
        return self.length * sum(isinstance(piece, DrawnPart) for piece in pieces)

    def _decode(self, tokens: Sequence[int]) -> DrawnPart:
        import torch

        # The model's function drops the last three tokens: the two ends, and the end of the reply.
        grid = torch.tensor([[*tokens, 0]], device=self.model.device)
        pixels = self.model.decode_image_tokens(
            image_tokens=grid, height=self.side, width=self.side
        )
        images = self.processor.postprocess(
            list(pixels.float().cpu()), return_tensors="PIL.Image.Image"
        )
        out = io.BytesIO()
        images["pixel_values"][0].convert("RGB").save(out, "PNG")
        return make_drawn(out.getvalue())


class PictureRules:
    """A logits processor that keeps every picture whole, and none outside one.

    `room` is the maximum length of the reply in tokens, `width` that of the prompts.
    """

    def __init__(self, tokens: PictureTokens, rows: int, room: int, width: int) -> None:
        self._tokens, self._room, self._width = tokens, room, width
        self._places, self._drawn = [0] * rows, [0] * rows
        self._inner = [*tokens.visual, tokens.line_end, tokens.head[-1], *tokens.ends]

    def __call__(self, input_ids: Any, scores: Any) -> Any:
        """Return the scores, shape (rows, vocabulary), with -inf for tokens that cannot follow."""
        done = input_ids.shape[1] - self._width
        last = input_ids[:, -1].tolist() if done else []
        scores = scores.clone()
        for row in range(len(self._places)):
            if done and self._places[row]:
                self._places[row] = (self._places[row] + 1) % self._tokens.length
            elif done and last[row] == self._tokens.head[0]:
                self._places[row], self._drawn[row] = 1, self._drawn[row] + 1
            if place := self._places[row]:
                choices = self._tokens.choices(place)
                kept = scores[row, choices] if len(choices) > 1 else 0.0
                scores[row] = float("-inf")
                scores[row, choices] = kept
                continue
            scores[row, self._inner] = float("-inf")
            no_room = self._room - done < self._tokens.length
            if no_room or self._drawn[row] == self._tokens.most:
                scores[row, self._tokens.head[0]] = float("-inf")
        return scores
