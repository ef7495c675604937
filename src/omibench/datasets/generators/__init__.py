"""Generators: problems made from a seed, with pictures, key, wrong choices and solution."""
