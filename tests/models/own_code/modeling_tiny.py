"""A model that transformers does not know: running sums of tokens, and one token a picture."""

import torch
from torch import nn
from transformers import GenerationMixin, PreTrainedModel
from transformers.modeling_outputs import CausalLMOutput

from .configuration_tiny import TinyReaderConfig  # noqa: TID252 (it is copied elsewhere)


class TinyReader(PreTrainedModel, GenerationMixin):
    """Each token sees the sum of what stands before it; a picture is the colour of a corner."""

    config_class = TinyReaderConfig
    main_input_name = "input_ids"

    def __init__(self, config):
        super().__init__(config)
        self.embedding = nn.Embedding(config.vocab_size, config.hidden_size)
        self.colour = nn.Linear(3, config.hidden_size)
        self.head = nn.Linear(config.hidden_size, config.vocab_size)
        self.post_init()

    def forward(self, input_ids, attention_mask=None, pixel_values=None, **kwargs):
        """Logits of every place."""
        states = self.embedding(input_ids)
        if pixel_values is not None:
            colours = self.colour(pixel_values[:, :, 0, 0].to(states.dtype))
            states[input_ids == self.config.image_token_id] = colours
        if attention_mask is not None:
            states = states * attention_mask[..., None].to(states.dtype)
        return CausalLMOutput(logits=self.head(torch.tanh(states.cumsum(1))))

    def prepare_inputs_for_generation(
        self, input_ids, attention_mask=None, pixel_values=None, **kwargs
    ):
        """The whole row each time: there is no cache."""
        return {
            "input_ids": input_ids,
            "attention_mask": attention_mask,
            "pixel_values": pixel_values,
        }
