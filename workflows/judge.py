"""The same as `omibench flow judge`."""

from workflows import start

if __name__ == "__main__":
    start("flow", "judge")
