"""The command `bough`, also as `python -m bough`."""

import sys

from bough import __version__


def main() -> None:
    """Answer `--version` at once; load the commands for everything else, which takes most of a second."""
    if sys.argv[1:] == ["--version"]:
        try:
            sys.stdout.write(f"bough {__version__}\n")
            sys.stdout.flush()
            return
        except OSError:  # nobody reads: the commands know what to do then
            pass
    from bough.cli import main as commands

    commands()


if __name__ == "__main__":
    main()
