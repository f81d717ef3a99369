"""The command line: ``python -m voicenym``, and the script ``voicenym``.

By then the package has isolated the process (:mod:`voicenym.isolation`).
"""

from __future__ import annotations


def main() -> None:
    """Run the command."""
    from voicenym.apps.cli import main as command

    command()


if __name__ == "__main__":
    main()
