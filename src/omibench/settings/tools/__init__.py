"""Thinking with images: tools on copies of the pictures, and the loop in which they are called."""
