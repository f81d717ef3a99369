"""Command line entry point: ``python -m voicenym``, and the script ``voicenym``.

The package has isolated the process before (:mod:`voicenym.isolation`).
"""

from __future__ import annotations


def main() -> None:
    """Runs the command."""
    from voicenym.apps.cli import main as command

    command()


if __name__ == "__main__":
    main()
