"""The same as `omibench flow rationales`."""

from workflows import start

if __name__ == "__main__":
    start("flow", "rationales")
