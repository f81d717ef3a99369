"""Fields of a form about the people in a recording: who speaks when, and who is hidden."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from voicenym.apps.serve.forms.setting_fields import is_unicode
from voicenym.apps.web.problem_details import Problem, what_and_cure
from voicenym.errors import DiarizationError

if TYPE_CHECKING:
    from voicenym.diarization.speaker_turns import Diarization
    from voicenym.pseudonym import Key, Pseudonym

FIELDS = ("turns", "only", "keep", "unsure", "names")
"""Names of the fields."""
UNSURE_WAYS = ("hide", "keep", "silence")
MOST_PEOPLE = 100


@dataclass(frozen=True)
class People:
    """The people in a recording.

    Args:
        turns: who speaks when.
        only, keep: labels, as of ``voicenym anonymize --only --keep``.
        unsure: what happens to what is uncertain.
        pseudonyms: of all labels, and of speech that is nobody's.
    """

    turns: Diarization
    only: tuple[str, ...]
    keep: tuple[str, ...]
    unsure: str
    pseudonyms: Mapping[str, Pseudonym]


def people_of(fields: Mapping[str, str], key: Key, source: Path) -> People | None:
    """People of a form; None if it says nothing of them.

    Args:
        fields: of the form.
        key: of the voices.
        source: the recording.

    Raises:
        Problem: 422 for fields that do not fit together, or turns that are no RTTM.
    """
    if "turns" not in fields:
        for name in FIELDS:
            if name in fields:
                raise Problem(
                    422,
                    f"{name} is about people in a recording, and there are no turns.",
                    "Send turns as RTTM, which POST /v1/speakers finds, or leave it out.",
                )
        return None
    if "speaker" in fields:
        raise Problem(
            422, "turns and speaker do not go together.", "Name the people by names instead."
        )
    from voicenym.corpus.people.people_pseudonyms import UNSURE, pseudonyms_of
    from voicenym.diarization.formats.turn_names import renamed
    from voicenym.diarization.treatments import Treatment, choice

    unsure = fields.get("unsure", "hide")
    if unsure not in UNSURE_WAYS:
        raise Problem(422, "unsure has an unknown value.", f"Use {', '.join(UNSURE_WAYS)}.")
    only, keep = _labels(fields, "only"), _labels(fields, "keep")
    try:
        turns = renamed(_turns(fields["turns"]), _names(fields))
        choice(turns, only, keep, Treatment(unsure))
    except DiarizationError as error:
        raise Problem(422, *_parts(error)) from None
    if len(turns.speakers) > MOST_PEOPLE:
        raise Problem(422, f"There are more than {MOST_PEOPLE} people.", "Join their labels.")
    pseudonyms = pseudonyms_of([*turns.speakers, UNSURE], key, source)
    return People(turns, only, keep, unsure, pseudonyms)


def _turns(text: str) -> Diarization:
    from voicenym.diarization.formats.rttm import parse_rttm

    found = [one for one in parse_rttm(text).values() if one.turns]
    if len(found) != 1:
        raise Problem(
            422,
            f"turns has turns of {len(found)} recordings.",
            "Send RTTM of this recording, as POST /v1/speakers finds it.",
        )
    return found[0]


def _labels(fields: Mapping[str, str], name: str) -> tuple[str, ...]:
    found = _parsed(fields.get(name, "[]"))
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise Problem(422, f"{name} is no list of labels.", 'Send JSON such as ["speaker-1"].')
    return tuple(found)


def _names(fields: Mapping[str, str]) -> dict[str, str]:
    found = _parsed(fields.get("names", "{}"))
    if not isinstance(found, dict) or not all(
        isinstance(one, str) and is_unicode(one) for one in found.values()
    ):
        raise Problem(
            422, "names is no object of labels and names.", 'Send JSON such as {"speaker-1": "s1"}.'
        )
    return found


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _parts(error: DiarizationError) -> tuple[str, str]:
    """What is wrong and its cure, in which fields are called as here."""
    what, cure = what_and_cure(str(error).replace("--", ""))
    return f"turns, only, keep or names: {what}", cure or "Correct it."
