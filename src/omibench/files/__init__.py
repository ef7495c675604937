"""Input and output: bounded reading of untrusted files, atomic writing of ours."""
