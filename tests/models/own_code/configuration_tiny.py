"""The configuration of a model that transformers does not know."""

from transformers import PreTrainedConfig


class TinyReaderConfig(PreTrainedConfig):
    """Sizes of a `TinyReader`."""

    model_type = "tiny_reader"
    num_hidden_layers = 1  # what the cache of transformers asks for

    def __init__(self, vocab_size=448, hidden_size=32, side=28, image_token_id=0, **kwargs):
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.side = side
        self.image_token_id = image_token_id
        super().__init__(**kwargs)
