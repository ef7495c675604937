"""The processor of a model that transformers does not know."""

from transformers import BatchFeature, ProcessorMixin


class TinyReaderProcessor(ProcessorMixin):
    """Pictures of one size, one token each."""

    attributes = ["image_processor", "tokenizer"]
    image_token = "<|image_pad|>"

    def __init__(self, image_processor=None, tokenizer=None, chat_template=None, **kwargs):
        super().__init__(image_processor, tokenizer, chat_template=chat_template)

    def __call__(self, images=None, text=None, **kwargs):
        """Token ids and pixels of prompts whose templates have written one token a picture."""
        batch = self.tokenizer(text, padding=True, return_tensors="pt")
        if images:
            batch |= self.image_processor(images, return_tensors="pt")
        return BatchFeature(dict(batch))
