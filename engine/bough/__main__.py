"""`python -m bough`: the command without its script."""

from bough.cli import main

if __name__ == "__main__":
    main()
