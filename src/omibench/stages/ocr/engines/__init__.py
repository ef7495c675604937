"""OCR engines that read a page: one module each, behind the protocol of `engine`.

`textlayer` reads the text of a PDF. `rapidocr` and `tesseract` read images locally; `mathpix` and
`vision` send requests to others, before the process that reads a paper starts.
"""
