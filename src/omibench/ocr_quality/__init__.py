"""Quality of OCR texts compared with the printed originals: `omibench ocr-quality`."""
