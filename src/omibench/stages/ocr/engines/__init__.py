"""Engines that read a page: one module each, behind the protocol of `engine`.

`textlayer` reads what a PDF itself says. `rapidocr` and `tesseract` read pixels on this machine;
`mathpix` and `vision` ask others, ahead of the process that puts a paper together.
"""
