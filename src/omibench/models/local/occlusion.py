"""Options of one conversation under many patches, with the pictures preprocessed only once.

Patches are painted on the scaled and normalised picture, which is then packed into the model's rows
again, so that a position does not cost a pass of the processor. That is exact if the processor
keeps the size of the picture; otherwise `occluded_logprobs` returns None.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from omibench.models.local.continuation import OptionPrompt, check_tail
from omibench.models.local.images import decode
from omibench.models.local.loading import TransformersEngine
from omibench.schemas.request import Conversation, ImagePart, Message

Square = tuple[int, int, int]
"""(x, y, side) in pixels, as `ImagePart.patch`."""
ALIKE = 1e-3
"""Normalised values closer than this are those of the same pixel."""


class Packing(NamedTuple):
    """How the processors of the Qwen family pack a picture into rows of one patch each."""

    patch: int
    merge: int
    frames: int

    def unpack(self, rows: Any, height: int, width: int) -> Any:
        """Unpack rows (height * width, 3 * frames * patch^2) into a picture (3, frames, H, W).

        `height` and `width` count patches; H and W are pixels.
        """
        side, merge = self.patch, self.merge
        blocks = rows.view(height // merge, width // merge, merge, merge, 3, -1, side, side)
        permuted = blocks.permute(4, 5, 0, 2, 6, 1, 3, 7)
        return permuted.reshape(3, -1, height * side, width * side)

    def pack(self, picture: Any) -> Any:
        """Pack a picture (3, frames, H, W) into its rows."""
        side, merge = self.patch, self.merge
        high, wide = picture.shape[-2] // side, picture.shape[-1] // side
        blocks = picture.view(3, -1, high // merge, merge, side, wide // merge, merge, side)
        return blocks.permute(2, 5, 3, 6, 0, 1, 4, 7).reshape(high * wide, -1)

    def cover(self, rows: Any, height: int, width: int, square: Square, black: Any) -> Any:
        """Return the rows of the picture under a square of the colour `black` (3, 1, 1, 1)."""
        x, y, side = square
        unit = self.patch * self.merge
        if x % unit == y % unit == side % unit == 0:  # whole tokens: no need to unpack
            covered = rows.clone()
            shape = (height // self.merge, width // self.merge, self.merge, self.merge)
            blocks = covered.view(*shape, 3, -1, self.patch, self.patch)
            blocks[y // unit : (y + side) // unit, x // unit : (x + side) // unit] = black
            return covered
        picture = self.unpack(rows, height, width).clone()
        picture[:, :, y : y + side, x : x + side] = black
        return self.pack(picture)


def strip_patches(conversation: Conversation) -> Conversation:
    """Return the conversation without patches: equal for all that differ only in these."""
    return conversation.model_copy(
        update={"messages": tuple(map(_strip_message, conversation.messages))}
    )


def _strip_message(message: Message) -> Message:
    parts = (
        part.model_copy(update={"patch": None}) if isinstance(part, ImagePart) else part
        for part in message.parts
    )
    return message.model_copy(update={"parts": tuple(parts)})


def occluded_logprobs(
    engine: TransformersEngine, prompts: Sequence[OptionPrompt], thinking: bool | None
) -> list[list[float]] | None:
    """Score as `option_logprobs`, for conversations that differ only in their patches.

    Returns None if the model packs pictures in another way, or scales a picture with a patch.
    """
    packing = _packing(engine)
    if packing is None:
        return None
    conversations = [prompt.conversation for prompt in prompts]
    batch = engine.inputs([strip_patches(conversations[0])], thinking)
    check_tail(batch["input_ids"][0].tolist(), prompts[0].tail, engine.name)
    if not {"pixel_values", "image_grid_thw"} <= set(batch):
        return None
    rows, grid = batch.pop("pixel_values"), batch.pop("image_grid_thw")
    ends = grid.prod(-1).cumsum(0).tolist()
    picture_rows = [rows[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=True)]
    covered = {n for c in conversations for n, image in enumerate(c.images) if image.patch}
    plain, grids = strip_patches(conversations[0]).images, grid.tolist()
    if not all(_is_kept(engine, packing, plain[n], picture_rows[n], grids[n]) for n in covered):
        return None
    painted = [
        _paint_patches(engine, packing, c.images, picture_rows, grids) for c in conversations
    ]
    torch, count = engine.torch, len(conversations)
    shared = {k: v.expand(count, *v.shape[1:]) for k, v in batch.items()}
    with torch.inference_mode():
        logits = engine.model(
            **shared,
            pixel_values=torch.cat([rows for pictures in painted for rows in pictures]),
            image_grid_thw=grid.repeat(count, 1),
            logits_to_keep=1,
        ).logits[:, -1]
        logprobs = logits.float().log_softmax(-1).cpu()
    return [row[prompt.ids].tolist() for row, prompt in zip(logprobs, prompts, strict=True)]


def _packing(engine: TransformersEngine) -> Packing | None:
    if engine.has_own_code:  # its way of packing pictures is unknown
        return None
    processor = getattr(engine.processor, "image_processor", None)
    names = ("patch_size", "merge_size", "temporal_patch_size", "image_mean", "image_std")
    if processor is None or any(getattr(processor, name, None) is None for name in names):
        return None
    return Packing(processor.patch_size, processor.merge_size, processor.temporal_patch_size)


def _paint_patches(
    engine: TransformersEngine,
    packing: Packing,
    images: Sequence[ImagePart],
    picture_rows: Sequence[Any],
    grids: Sequence[Sequence[int]],
) -> list[Any]:
    """Return the rows of all pictures of one conversation with its patches."""
    black = _scale(engine, picture_rows[0], 0.0)
    return [
        rows if image.patch is None else packing.cover(rows, high, wide, image.patch, black)
        for image, rows, (_, high, wide) in zip(images, picture_rows, grids, strict=True)
    ]


def _is_kept(
    engine: TransformersEngine, packing: Packing, image: ImagePart, rows: Any, grid: Sequence[int]
) -> bool:
    """Return whether the rows are the picture's own pixels, in the order of `packing`."""
    import numpy as np

    _, high, wide = grid
    picture = decode(image)
    if picture.size != (wide * packing.patch, high * packing.patch):
        return False
    pixels = engine.torch.from_numpy(np.asarray(picture).copy()).to(rows.device, rows.dtype)
    expected = _scale(engine, rows, pixels.permute(2, 0, 1)[:, None] / 255)
    actual = packing.unpack(rows, high, wide)
    return bool(((actual - expected).abs() < ALIKE).all())


def _scale(engine: TransformersEngine, like: Any, values: Any) -> Any:
    """Normalise values in [0, 1], of shape (3, frames, H, W) or one for all, as the model does."""
    processor = engine.processor.image_processor
    mean, std = (
        engine.torch.tensor(v, dtype=like.dtype, device=like.device)[:, None, None, None]
        for v in (processor.image_mean, processor.image_std)
    )
    return (values - mean) / std
