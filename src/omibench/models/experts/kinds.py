"""The experts by name, each by transformers' own classes. A new one is a class under `@expert`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from omibench.errors import ModelError, reason_of
from omibench.extras import require_extra
from omibench.params.models.tools import ExpertName, ExpertWeights

if TYPE_CHECKING:
    from PIL.Image import Image

Values = Mapping[str, Any]


class Finding(NamedTuple):
    """What an expert says of a picture, and the picture that it makes, if any."""

    text: str
    picture: Image | None = None


class Expert(ABC):
    """An expert with its weights loaded.

    Args:
        weights: The weights, fixed by their revision.
        device: Device such as `cuda`.

    Raises:
        ModelError: The weights cannot be loaded.
    """

    model_class: ClassVar[str]
    processor_class: ClassVar[str] = "AutoProcessor"
    needs: ClassVar[tuple[str, ...]] = ()
    """Packages besides torch and transformers."""

    def __init__(self, weights: ExpertWeights, device: str) -> None:
        require_extra("experts", "an expert", "torch", "transformers", *self.needs)
        import torch
        import transformers

        self.torch, self.device = torch, device
        source = {"revision": weights.revision, "trust_remote_code": False}
        try:
            loaders = (getattr(transformers, n) for n in (self.processor_class, self.model_class))
            processor, model = loaders
            self.processor = processor.from_pretrained(weights.id, **source)
            self.model = model.from_pretrained(weights.id, use_safetensors=True, **source)
        except (OSError, ValueError, ImportError, RuntimeError) as error:
            raise ModelError(
                f"the expert {weights.id} cannot be loaded: {reason_of(error)[:300]}"
            ) from None
        self.model = self.model.to(device).eval()

    def find(self, image: Image, arguments: Values) -> Finding:
        """Return what the expert finds in an RGB picture. Raises RuntimeError without memory."""
        try:
            with self.torch.inference_mode():
                return self._find(image, arguments)
        except (RuntimeError, ValueError, IndexError) as error:
            if "out of memory" in str(error):
                raise
            return Finding(f"The expert fails on this picture: {reason_of(error)[:200]}")

    @abstractmethod
    def _find(self, image: Image, arguments: Values) -> Finding: ...

    def _prepare(self, image: Image, **more: Any) -> Any:
        return self.processor(images=image, return_tensors="pt", **more).to(self.device)


EXPERTS: dict[ExpertName, type[Expert]] = {}


def expert(name: ExpertName) -> Callable[[type[Expert]], type[Expert]]:
    """Register a class as the expert of a tool."""

    def register(kind: type[Expert]) -> type[Expert]:
        EXPERTS[name] = kind
        return kind

    return register


@expert("detect")
class Detector(Expert):
    """Open-vocabulary detection, such as by GroundingDINO."""

    model_class = "AutoModelForZeroShotObjectDetection"
    most: ClassVar[int] = 20

    def _find(self, image: Image, arguments: Values) -> Finding:
        inputs = self._prepare(image, text=[[name.lower() for name in arguments["objects"]]])
        outputs = self.model(**inputs)
        (found,) = self.processor.post_process_grounded_object_detection(
            outputs, inputs["input_ids"], target_sizes=[image.size[::-1]]
        )
        columns = found["scores"].tolist(), found["text_labels"], found["boxes"].tolist()
        rows = zip(*columns, strict=True)
        best = sorted(rows, key=lambda row: -row[0])[: self.most]
        if not best:
            return Finding("Nothing of this was found.")
        lines = [
            f"{n}. {label or 'object'}: {_shares(box, image)}, certainty {score:.2f}"
            for n, (score, label, box) in enumerate(best, 1)
        ]
        return Finding("\n".join(lines), _draw_boxes(image, [box for _, _, box in best]))


@expert("segment")
class Segmenter(Expert):
    """Segmentation of what is in boxes, such as by SAM 2."""

    model_class = "Sam2Model"
    processor_class = "Sam2Processor"
    needs = ("torchvision",)

    def _find(self, image: Image, arguments: Values) -> Finding:
        from PIL import Image as Images

        sides = image.size * 2
        boxes = [
            [at * side for at, side in zip(box, sides, strict=True)] for box in arguments["boxes"]
        ]
        inputs = self._prepare(image, input_boxes=[boxes])
        outputs = self.model(**inputs, multimask_output=False)
        (masks,) = self.processor.post_process_masks(
            outputs.pred_masks.cpu(), inputs["original_sizes"].cpu()
        )
        lines, shown = [], image.copy()
        for number, mask in enumerate(masks[:, 0].numpy(), 1):
            outline = Images.fromarray((mask * 150).astype("uint8"))
            shown.paste(_COLOURS[number % len(_COLOURS)], mask=outline)
            box = outline.getbbox()
            place = _shares(box, image) if box else "nothing"
            lines.append(f"{number}. {place}, {mask.mean():.1%} of the picture")
        return Finding("\n".join(lines), _draw_boxes(shown, boxes))


@expert("depth")
class DepthEstimator(Expert):
    """Depth from one picture, such as by Depth Anything V2."""

    model_class = "AutoModelForDepthEstimation"
    processor_class = "AutoImageProcessor"

    def _find(self, image: Image, arguments: Values) -> Finding:
        from PIL import Image as Images

        outputs = self.model(**self._prepare(image))
        (found,) = self.processor.post_process_depth_estimation(
            outputs, target_sizes=[image.size[::-1]]
        )
        depth = found["predicted_depth"]
        near = (depth - depth.min()) / (depth.max() - depth.min()).clamp(min=1e-9)
        grey = Images.fromarray((near * 255).byte().cpu().numpy()).convert("RGB")
        return Finding("Brighter is nearer.", grey)


@expert("read_text")
class TextReader(Expert):
    """Text of a picture, such as by GOT-OCR2."""

    model_class = "AutoModelForImageTextToText"
    most_tokens: ClassVar[int] = 1024

    def _find(self, image: Image, arguments: Values) -> Finding:
        inputs = self._prepare(image)
        made = self.model.generate(**inputs, do_sample=False, max_new_tokens=self.most_tokens)
        new = made[0, inputs["input_ids"].shape[1] :]
        text = self.processor.decode(new, skip_special_tokens=True).strip()
        return Finding(text or "No text was read.")


_COLOURS = ("red", "blue", "green", "orange", "purple")


def _shares(box: Sequence[float], image: Image) -> str:
    shares = (at / side for at, side in zip(box, image.size * 2, strict=True))
    return f"[{', '.join(f'{min(1, max(0, share)):.3f}' for share in shares)}]"


def _draw_boxes(image: Image, boxes: Sequence[Sequence[float]]) -> Image:
    from PIL import ImageDraw

    copy = image.copy()
    draw = ImageDraw.Draw(copy)
    for number, box in enumerate(boxes, 1):
        (left, right), (top, bottom) = sorted(box[::2]), sorted(box[1::2])
        colour = _COLOURS[number % len(_COLOURS)]
        draw.rectangle((left, top, right, bottom), outline=colour, width=2)
        draw.text((left + 3, top + 1), str(number), fill=colour)
    return copy
