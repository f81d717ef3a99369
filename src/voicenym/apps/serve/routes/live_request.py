"""What a client of a live session asks for in its first message."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from voicenym.apps.serve.forms.setting_fields import checked_settings
from voicenym.apps.serve.live_processes.live_task import LiveTask
from voicenym.apps.serve.service import Service
from voicenym.apps.web.problem_details import Problem
from voicenym.corpus import DEFAULT_SYSTEM
from voicenym.errors import counted
from voicenym.pseudonym import Key

FIELDS = ("system", "settings", "speaker", "key_id", "rate")
"""Fields of the message."""
RATES = (8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000)
"""Sample rates of clients in Hz."""


@dataclass(frozen=True)
class LiveRequest:
    """What a client asks for.

    Args:
        task: of the worker.
        key_id: of the voice; None for a fresh one.
        speaker: name under the key.
    """

    task: LiveTask
    key_id: str | None
    speaker: str


def live_request(service: Service, owner: str, text: str) -> LiveRequest:
    """Request of a client's first message.

    Args:
        service: of the server.
        owner: of the client's token.
        text: a JSON object with :data:`FIELDS`, of which ``rate`` is needed.

    Raises:
        Problem: 400 for what is no such object; 404 and 422 as for recordings.
    """
    found = _object(text)
    rate = found.get("rate")
    if type(rate) is not int or rate not in RATES:  # 16000.0 and True are numbers of JSON, too
        raise Problem(
            422,
            "rate is no sample rate of live sessions.",
            f"Send one of {', '.join(map(str, RATES))}.",
        )
    name = _word(found, "system") or DEFAULT_SYSTEM
    service.check_system(name)
    live = sorted(card["name"] for card in service.cards if card["live"])
    if name not in live:
        raise Problem(422, "This system does not work live.", f"Use one of {', '.join(live)}.")
    key_id, speaker = _word(found, "key_id"), _word(found, "speaker")
    service.check_speaker(speaker)
    service.check_key_id(speaker, key_id)
    key = Key.generate() if key_id is None else service.keys.key(owner, key_id)
    speaker = speaker or f"live {secrets.token_hex(16)}"
    task = LiveTask(
        name,
        checked_settings(found.get("settings", {})),
        key.pseudonym(speaker),
        rate,
        service.limits.memory,
        int(service.live.limits.seconds) + 60,
    )
    return LiveRequest(task, key_id, speaker)


def _object(text: str) -> Mapping[str, Any]:
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise Problem(
            400,
            "The first message is no JSON object.",
            'Send one such as {"system": "recast", "rate": 16000}.',
        )
    if unknown := set(found) - set(FIELDS):
        raise Problem(
            422,
            f"The message has {counted(len(unknown), 'unknown field')}.",
            f"Fields are {', '.join(FIELDS)}.",
        )
    return found


def _word(found: Mapping[str, Any], name: str) -> str | None:
    value = found.get(name)
    if value is not None and not isinstance(value, str):
        raise Problem(422, f"{name} is no text.", f"Send {name} as text, or leave it out.")
    return value or None
