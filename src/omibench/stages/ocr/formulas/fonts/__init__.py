"""What the glyphs of fonts mean in a formula, family by family."""
