"""From a response to its answer: boxes, cue phrases, option letters, structured replies."""
