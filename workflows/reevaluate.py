"""The same as `omibench reevaluate`."""

from workflows import start

if __name__ == "__main__":
    start("reevaluate")
