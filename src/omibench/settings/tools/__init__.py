"""Thinking with images: tools on copies of the pictures, and the loop that runs them."""
