"""``python -m kgdash``: every computation without a browser."""

from kgdash.cli import main

if __name__ == "__main__":
    main()
