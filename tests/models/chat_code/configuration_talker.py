"""Configuration of a model that answers by `chat`."""

from transformers import PretrainedConfig


class TalkerConfig(PretrainedConfig):
    """Sizes of its language model, and how pictures are cut."""

    model_type = "tiny_talker"

    def __init__(
        self,
        vocab_size=448,
        hidden_size=32,
        force_image_size=28,
        max_dynamic_patch=4,
        use_thumbnail=True,
        **kwargs,
    ):
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.force_image_size = force_image_size
        self.max_dynamic_patch = max_dynamic_patch
        self.use_thumbnail = use_thumbnail
        super().__init__(**kwargs)
