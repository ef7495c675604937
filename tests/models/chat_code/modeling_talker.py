"""A model whose own code writes the prompt and generates: `chat` with InternVL's parameters.

Each tile is two tokens: the mean colours of its upper and lower half.
"""

import torch
from torch import nn
from transformers import PreTrainedModel, Qwen2Config, Qwen2ForCausalLM

from .configuration_talker import TalkerConfig  # noqa: TID252 (it is copied elsewhere)

PLACE = "<|image_pad|>"


class TinyTalker(PreTrainedModel):
    """A tiny Qwen2 that sees colours; `asked` keeps the prompts it wrote."""

    config_class = TalkerConfig

    def __init__(self, config):
        super().__init__(config)
        text = Qwen2Config(
            vocab_size=config.vocab_size,
            hidden_size=config.hidden_size,
            intermediate_size=2 * config.hidden_size,
            num_hidden_layers=1,
            num_attention_heads=2,
            num_key_value_heads=2,
            tie_word_embeddings=False,
        )
        self.language_model = Qwen2ForCausalLM(text)
        self.colour = nn.Linear(3, config.hidden_size)
        self.system_message = "Be brief."
        self.asked = []
        self.post_init()

    def chat(
        self,
        tokenizer,
        pixel_values,
        question,
        generation_config,
        history=None,
        return_history=False,
        num_patches_list=None,
        verbose=False,
    ):
        """The reply as text."""
        turns = [("system", self.system_message)]
        for old_question, old_answer in history or []:
            turns += [("user", old_question), ("assistant", old_answer)]
        turns.append(("user", question))
        query = "".join(f"<|im_start|>{role}\n{text}<|im_end|>\n" for role, text in turns)
        query += "<|im_start|>assistant\n"
        for tiles in num_patches_list or []:
            query = query.replace("<image>", PLACE * 2 * tiles, 1)
        self.asked.append(query)
        inputs = tokenizer(query, return_tensors="pt").to(self.device)
        embeddings = self.language_model.get_input_embeddings()(inputs["input_ids"])
        if pixel_values is not None:
            halves = pixel_values.unflatten(2, (2, -1)).mean((3, 4)).transpose(1, 2)
            places = inputs["input_ids"] == tokenizer.convert_tokens_to_ids(PLACE)
            embeddings[places] = 50 * self.colour(halves).flatten(0, 1)
        end = tokenizer.convert_tokens_to_ids("<|im_end|>")
        generation_config["eos_token_id"] = end
        with torch.no_grad():
            tokens = self.language_model.generate(
                inputs_embeds=embeddings,
                attention_mask=inputs["attention_mask"],
                pad_token_id=end,
                **generation_config,
            )
        return tokenizer.batch_decode(tokens, skip_special_tokens=True)[0].strip()
