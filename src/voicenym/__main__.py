"""Command line entry point: ``python -m voicenym``, and the script ``voicenym``.

The package has isolated the process before (:mod:`voicenym.isolation`).
"""

from __future__ import annotations


def main() -> None:
    """Runs the command."""
    import signal

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # nothing is written yet, and an interrupted import would print a traceback
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from voicenym.apps.cli import main as command

    command()


if __name__ == "__main__":
    main()
