"""Phonemes of texts, by the system's espeak-ng, which runs as a program of its own.

The text goes to its standard input: arguments of a process can be read by every user of a machine.
"""

from __future__ import annotations

import re

from voicenym import processes
from voicenym.errors import DependencyError, VoicenymError

CLAUSE = re.compile(r"(?<!\bMr)(?<!\bMs)(?<!\bDr)(?<!\bSt)(?<!\bMrs)([,.;:!?…—]+)(?=\s|$)\s*")
"""Marks that end a clause: a point within a number or after a title does not."""
ESPEAK = "espeak-ng"
SECONDS = 20.0
"""Time limit of a clause, which takes hundredths of a second."""
INSTALL = "install the program espeak-ng (apt-get install espeak-ng; brew install espeak-ng)"


def phonemes(text: str, language: str = "en-us") -> str:
    """Phonemes (IPA) of a text, with its punctuation.

    Args:
        text: a sentence.
        language: a voice of espeak-ng.

    Raises:
        DependencyError: espeak-ng is not installed.
        VoicenymError: it does not know the language, or does not end.
    """
    parts = CLAUSE.split(text.strip())
    clauses = []
    for clause, mark in zip(parts[::2], [*parts[1::2], ""], strict=True):
        if clause.strip():
            clauses.append(_espeak(clause.strip(), language) + mark[:1])
    return " ".join(clauses)


def check_program(language: str = "en-us") -> None:
    """Checks that espeak-ng is there and knows a language.

    Raises:
        DependencyError, VoicenymError: as :func:`phonemes`.
    """
    _espeak("a", language)


def _espeak(clause: str, language: str) -> str:
    command = [ESPEAK, "-q", "--ipa", "-v", language, "--stdin"]
    try:
        # a line end within a clause would begin another one
        done = processes.program(command, f"{' '.join(clause.split())}\n", SECONDS)
    except FileNotFoundError:
        raise DependencyError(f"text to speech: {INSTALL}") from None
    except TimeoutError:
        raise VoicenymError(
            f"{ESPEAK} did not end within {SECONDS:.0f} s; {INSTALL} anew"
        ) from None
    if done.returncode:
        raise VoicenymError(f"{ESPEAK}: {done.stderr.strip()}; give a language that it knows")
    # espeak-ng marks a change of language in parentheses
    return re.sub(r"\([a-z-]+\)", "", " ".join(done.stdout.split()))
