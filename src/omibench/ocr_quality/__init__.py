"""How well texts that were read keep what is printed: `omibench ocr-quality`."""
