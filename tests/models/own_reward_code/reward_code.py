"""A reward model that transformers does not know: one number from the sum of the tokens."""

import torch
from torch import nn
from transformers import PreTrainedConfig, PreTrainedModel


class TinyRewardConfig(PreTrainedConfig):
    """Sizes of a `TinyReward`."""

    model_type = "tiny_reward"

    def __init__(self, vocab_size=448, hidden_size=16, numbers=1, **kwargs):
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.numbers = numbers
        super().__init__(**kwargs)


class TinyReward(PreTrainedModel):
    """Returns a tuple, as code of one's own may."""

    config_class = TinyRewardConfig

    def __init__(self, config):
        super().__init__(config)
        self.embedding = nn.Embedding(config.vocab_size, config.hidden_size)
        self.head = nn.Linear(config.hidden_size, config.numbers)
        self.post_init()

    def forward(self, input_ids, attention_mask=None, **kwargs):
        """One number a row."""
        states = self.embedding(input_ids) * attention_mask[..., None]
        return (self.head(torch.tanh(states.sum(1))),)
