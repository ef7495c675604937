"""Tables from the glyphs of fonts to symbols, by font family."""
