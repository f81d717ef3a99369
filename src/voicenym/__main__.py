"""``python -m voicenym``: the command line."""

from voicenym.apps.cli import main

if __name__ == "__main__":
    main()
