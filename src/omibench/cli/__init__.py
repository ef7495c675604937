"""The command line: one function per command, each calling the function of its stage."""
