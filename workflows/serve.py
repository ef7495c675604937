"""The same as `omibench serve`."""

from workflows import start

if __name__ == "__main__":
    start("serve")
