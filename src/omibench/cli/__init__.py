"""The command line: a function a verb, each calling the function of the same stage."""
