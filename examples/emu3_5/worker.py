"""The worker of the provider `emu3.5`: Emu3.5's own code, asked by lines of JSON.

It runs in the Python and with the packages that Emu3.5 needs, without omibench. A line on standard
input is a request (`turns`, `temperature`, `top_p`, `max_tokens`, `seed`); a line on standard
output is the reply (`pieces` of `text` and `image` in sequence, `tokens`, `image_tokens`, `finish`)
or its `error`. The process ends with its input.
"""

import base64
import io
import json
import os
import random
import sys
from types import SimpleNamespace

MOST_NEW = 32768
SYSTEM = (
    "<|extra_203|>You are a helpful assistant for howto task. Please generate a response with "
    "interleaved text and images."
)
"""The system turn of Emu3.5's configuration for visual guidance."""
BARE = "<|extra_203|>You are a helpful assistant. USER: {} ASSISTANT: <|extra_100|>"
"""The prompt without text, against which its guidance compares."""
SPECIAL = {
    "BOS": "<|extra_203|>", "EOS": "<|extra_204|>", "PAD": "<|endoftext|>",
    "EOL": "<|extra_200|>", "EOF": "<|extra_201|>", "TMS": "<|extra_202|>",
    "IMG": "<|image token|>", "BOI": "<|image start|>", "EOI": "<|image end|>",
    "BSS": "<|extra_100|>", "ESS": "<|extra_101|>", "BOG": "<|extra_60|>",
    "EOG": "<|extra_61|>", "BOC": "<|extra_50|>", "EOC": "<|extra_51|>",
}  # fmt: skip


class Emu:
    """Emu3.5, loaded from a checkout of its repository."""

    def __init__(self, options):
        os.chdir(options["checkout"])
        sys.path.insert(0, options["checkout"])
        from src.utils.generation_utils import generate, multimodal_decode
        from src.utils.input_utils import build_image
        from src.utils.model_utils import build_emu3p5

        self.generate, self.decode, self.build_image = generate, multimodal_decode, build_image
        self.model, self.tokenizer, self.vision = build_emu3p5(
            options["model"], "./src/tokenizer_emu3_ibq", options["tokenizer"]
        )
        self.options = options
        self.ids = {name: self.tokenizer.encode(text)[0] for name, text in SPECIAL.items()}

    def reply(self, body):
        """Return the reply to one request."""
        import torch

        cfg = self.configure(body)
        random.seed(body["seed"])
        torch.manual_seed(body["seed"])
        prompt, pictures = self.write_prompt(body["turns"], cfg)
        bare = BARE.format("".join(pictures))
        prompts = [
            self.tokenizer.encode(text, return_tensors="pt", add_special_tokens=False)
            for text in (prompt, bare)
        ]
        inputs, unconditional = (tokens.to(self.model.device) for tokens in prompts)
        same_size = len(pictures) <= 1
        tokens = next(
            self.generate(cfg, self.model, self.tokenizer, inputs, unconditional, None, same_size)
        )
        text = self.tokenizer.decode(tokens, skip_special_tokens=False)
        decoded = self.decode(text, self.tokenizer, self.vision)
        return {
            "pieces": [write_piece(kind, value) for kind, value in decoded],
            "tokens": len(tokens),
            "image_tokens": text.count("<|visual token "),
            "finish": "stop" if SPECIAL["EOS"] in text else "length",
        }

    def write_prompt(self, turns, cfg):
        """Return the prompt, and its pictures as Emu3.5 writes them, each where it is shown."""
        from PIL import Image

        text, pictures = SYSTEM, []
        names = {"assistant": " ASSISTANT: ", "system": " ", "user": " USER: "}
        for turn in turns:
            text += names.get(turn["role"], " USER: ")
            for part in turn["parts"]:
                if "image" in part:
                    with Image.open(part["image"]) as image:
                        picture = self.build_image(
                            image.convert("RGB"), cfg, self.tokenizer, self.vision
                        )
                    pictures.append(picture)
                    text += picture
                else:  # no text can end a turn or claim a picture
                    text += part["text"].replace("<|", "< |")
        return f"{text} ASSISTANT: <|extra_100|>", pictures

    def configure(self, body):
        """Return what Emu3.5's code reads from its configuration files."""
        greedy = body["temperature"] == 0
        sampling = {
            "use_cache": True,
            "text_top_k": 1 if greedy else 200,
            "text_top_p": body["top_p"] or 1.0,
            "text_temperature": 1.0 if greedy else body["temperature"],
            "image_top_k": 10240, "image_top_p": 1.0, "image_temperature": 1.0,
            "top_k": 131072, "top_p": 1.0, "temperature": 1.0,
            "num_beams_per_group": 1, "num_beam_groups": 1, "diversity_penalty": 0.0,
            "max_new_tokens": min(body["max_tokens"], MOST_NEW),
            "guidance_scale": 1.0, "use_differential_sampling": True,
            "do_sample": True, "num_beams": 1,
        }  # fmt: skip
        return SimpleNamespace(
            sampling_params=sampling,
            special_tokens=SPECIAL,
            special_token_ids=self.ids,
            classifier_free_guidance=self.options["guidance"],
            unconditional_type="no_text",
            image_area=self.options["image_area"],
            streaming=False,
        )


def write_piece(kind, value):
    """Return a piece of a reply; its plan of the whole becomes reasoning."""
    if kind == "image":
        out = io.BytesIO()
        value.save(out, "PNG")
        return {"image": base64.b64encode(out.getvalue()).decode()}
    text = value
    for token in SPECIAL.values():
        text = text.replace(token, "")
    return {"text": f"<think>{text}</think>" if kind == "global_cot" else text}


def main():
    """Answer requests until the input ends."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the model's code prints is no reply
    emu = Emu(json.loads(sys.argv[1]))
    for line in sys.stdin:
        try:
            reply = emu.reply(json.loads(line))
        except Exception as error:  # one request that fails ends no other
            reply = {"error": f"{type(error).__name__}: {error}"}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


if __name__ == "__main__":
    main()
