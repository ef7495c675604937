"""omibench: how well vision-language models reason over several images, as one graph."""

__version__ = "0.1.0"
