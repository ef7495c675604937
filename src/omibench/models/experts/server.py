"""The server of the vision models that carry out tools, and the kinds of them."""

from __future__ import annotations

import io
import json
import logging
from abc import ABC, abstractmethod
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple
from urllib.parse import urlsplit

from omibench.errors import ModelError, OutputError, ParamsError, reason_of
from omibench.extras import require_extra
from omibench.models.drawn import decode_rgb
from omibench.params.models.tools import ExpertName, ExpertsModel, ExpertWeights
from omibench.web.address import strip_port

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
        lines, overlay = [], image.copy()
        for number, mask in enumerate(masks[:, 0].numpy(), 1):
            outline = Images.fromarray((mask * 150).astype("uint8"))
            overlay.paste(_COLOURS[number % len(_COLOURS)], mask=outline)
            box = outline.getbbox()
            place = _shares(box, image) if box else "nothing"
            lines.append(f"{number}. {place}, {mask.mean():.1%} of the picture")
        return Finding("\n".join(lines), _draw_boxes(overlay, boxes))


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


EXPERTS: Final[Mapping[ExpertName, type[Expert]]] = {
    "detect": Detector,
    "segment": Segmenter,
    "depth": DepthEstimator,
    "read_text": TextReader,
}
"""The expert of each tool."""
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


# The server of the experts: one process with all weights, for all jobs of this machine.

MOST_BYTES: Final = 64 * 2**20
LOCAL: Final = ("127.0.0.1", "localhost", "::1")
log = logging.getLogger("omibench.models.experts")


class ExpertServer(ThreadingHTTPServer):
    """Serves experts on this machine, one request at a time.

    Raises ParamsError if the address is not of this machine, OutputError if it is taken.
    """

    daemon_threads = True

    def __init__(self, model: ExpertsModel, experts: Mapping[ExpertName, Expert]) -> None:
        address = urlsplit(model.base_url)
        host, port = address.hostname or "", 80 if address.port is None else address.port
        if host not in LOCAL or address.scheme != "http":
            raise ParamsError(
                f"base_url: {model.base_url} is not of this machine; the experts are served at "
                "http://127.0.0.1:PORT only, since they ask for no key"
            )
        self.experts, self.weights, self.turn = experts, model.experts, Lock()
        try:
            super().__init__((host, port), _Handler)
        except OSError as error:
            reason = f"cannot listen at port {port}: {reason_of(error)}"
            raise OutputError(f"base_url: {reason}") from None


class _Handler(BaseHTTPRequestHandler):
    server: ExpertServer
    timeout = 60

    def do_GET(self) -> None:
        """`GET /`: the experts and their weights."""
        self._reply(200, {name: w.model_dump() for name, w in self.server.weights.items()})

    def do_POST(self) -> None:
        """`POST /TOOL`: what an expert finds in a picture."""
        # A page in a browser can neither send JSON to another site nor hide its host name.
        is_json = self.headers.get("Content-Type", "") == "application/json"
        size = self.headers.get("Content-Length", "")
        if strip_port(self.headers.get("Host", "")) not in LOCAL or not is_json:
            return self._reply(403, {"error": "only JSON from this machine is answered"})
        if not size.isdigit() or int(size) > MOST_BYTES:
            return self._reply(413, {"error": f"at most {MOST_BYTES:,} bytes are read"})
        try:
            self._reply(200, self._find(json.loads(self.rfile.read(int(size)))))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            self._reply(400, {"error": reason_of(error)[:300]})
        except Exception as error:
            log.exception("the expert failed")
            self._reply(500, {"error": reason_of(error)[:300]})
        return None

    def _find(self, asked: Any) -> dict[str, Any]:
        name: Any = self.path.strip("/")
        expert, weights = self.server.experts[name], self.server.weights[name]
        image = decode_rgb(b64decode(asked["image"], validate=True))
        with self.server.turn:
            text, picture = expert.find(image, asked["arguments"])
        file = io.BytesIO()
        if picture is not None:
            picture.save(file, "PNG")
        encoded = b64encode(file.getvalue()).decode("ascii")
        return {"weights": weights.model_dump(), "text": text, "picture": encoded}

    def _reply(self, status: int, values: Mapping[str, Any]) -> None:
        data = json.dumps(values).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Log a request."""
        log.debug(format, *args)


def load_experts(model: ExpertsModel) -> ExpertServer:
    """Load the experts of a block and bind the server. Raises as `Expert` and `ExpertServer`."""
    require_extra("experts", "omibench experts serve", "torch", "transformers")
    import torch

    device = model.device or ("cuda" if torch.cuda.is_available() else "cpu")
    kinds = {name: EXPERTS[name](weights, device) for name, weights in model.experts.items()}
    return ExpertServer(model, kinds)
