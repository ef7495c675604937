"""The characters of a page: from its text layer, its painting order and its fonts."""
