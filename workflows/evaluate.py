"""The same as `omibench flow evaluate`."""

from workflows import start

if __name__ == "__main__":
    start("flow", "evaluate")
