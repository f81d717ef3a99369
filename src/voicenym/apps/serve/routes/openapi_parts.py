"""Descriptions for the OpenAPI document: forms, answers and examples."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from voicenym.apps.serve.forms.output_formats import NAMES, USUAL
from voicenym.apps.serve.forms.setting_fields import EXAMPLE
from voicenym.corpus import DEFAULT_FALLBACK, DEFAULT_SYSTEM

_REASONS = {
    400: ("malformed or truncated body", "The form ends before its end; nothing of it was kept."),
    401: ("no known token", "The request has no token that this server knows."),
    403: ("a page of another site", "The request comes from a page of another site."),
    404: ("nothing of this id", "There is no such job: it was fetched, deleted or forgotten."),
    405: ("another method", "There is nothing to do here."),
    408: ("too slow", "The request arrived too slowly, and was given up."),
    409: ("not yet, or already there", "The job has not ended."),
    413: ("too large or too long", "The request is larger than 200 MiB, the limit of this server."),
    415: ("no multipart form", "The request is no multipart form."),
    421: ("another host", "The request names another host than this server."),
    422: ("a recording or a field that does not fit", "There is no such system."),
    429: ("too many requests of this client", "This client sends requests too often."),
    500: ("a defect", "The server failed on this request; nothing of it was kept."),
    501: ("weights or packages that the server does not have", "asr-tts: needs weights."),
    503: ("too much work, or a killed worker", "The server works on as many requests as it may."),
    507: ("disk full", "The server's disk is full."),
}
PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "cure"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "cure": {"type": "string"},
    },
}
_ALWAYS = (401, 403, 408, 413, 421, 422, 429, 500, 503)


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Answers that are problems: these, and those of every request."""
    return {status: _problem(status) for status in sorted({*statuses, *_ALWAYS})}


def foreign() -> dict[int | str, dict[str, Any]]:
    """Answers to a request by a name that is not the server's, as a route without limits has it."""
    return {421: _problem(421)}


def _problem(status: int) -> dict[str, Any]:
    """Description of the answer with a problem."""
    reason, detail = _REASONS[status]
    example = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "cure": "Send the request again after 1 s.",
    }
    return {
        "description": f"Problem: {reason}",
        "content": {"application/problem+json": {"schema": PROBLEM, "example": example}},
    }


SOUND = {
    "description": "The anonymized recording, in the container of the input",
    "content": {"audio/*": {"schema": {"type": "string", "format": "binary"}}, "video/*": {}},
    "headers": {
        "Voicenym-System": {"schema": {"type": "string"}, "description": "System that made it"},
        "Voicenym-Audit": {"schema": {"type": "string"}, "description": "For /v1/audit/{id}"},
    },
}
_FIELDS: dict[str, Any] = {
    "system": {"type": "string", "default": DEFAULT_SYSTEM, "description": "See /v1/systems"},
    "settings": {
        "type": "string",
        "description": "JSON object of the system's parameters",
        "example": EXAMPLE,
    },
    "speaker": {
        "type": "string",
        "maxLength": 256,
        "description": "Name of the speaker: with one key, one name has one voice; refused without "
        "key_id. Not kept.",
    },
    "key_id": {
        "type": "string",
        "pattern": "^[A-Za-z0-9_-]{1,64}$",
        "description": "Key of POST /v1/keys; without one a fresh key is drawn and forgotten",
    },
    "fallback": {
        "type": "string",
        "default": DEFAULT_FALLBACK,
        "description": "System for recordings that the first one refuses, which some systems and "
        "settings do: another one than the default is refused where none is; none for none",
    },
    "audit": {
        "type": "string",
        "enum": ["true", "false"],
        "description": "Whether attackers run on the result; see /v1/audit/{id}",
    },
    "turns": {
        "type": "string",
        "description": "Who speaks when, as RTTM of this recording: `rttm` of POST /v1/speakers. "
        "Then the people are treated apart, and who is hidden follows from only and keep.",
        "example": "SPEAKER recording 1 0.500 2.250 <NA> <NA> speaker-1 0.97 <NA>",
    },
    "only": {
        "type": "string",
        "description": "JSON list of labels in turns to hide; all others are kept unless keep",
        "example": '["speaker-1"]',
    },
    "keep": {
        "type": "string",
        "description": "JSON list of labels in turns to keep; all others are hidden unless only",
        "example": '["speaker-2"]',
    },
    "unsure": {
        "type": "string",
        "enum": ["hide", "keep", "silence"],
        "description": "What happens where it is uncertain who speaks; hide unless given",
    },
    "names": {
        "type": "string",
        "description": "JSON object of labels in turns and names: with one key, one name has one "
        "voice. Not kept.",
        "example": '{"speaker-1": "s1"}',
    },
}
SPEAKERS_FIELDS: dict[str, Any] = {
    "speakers": {
        "type": "string",
        "pattern": "^([1-9]|1[0-9]|20)$",
        "description": "Number of speakers, which is more reliable than to find it",
        "example": "2",
    },
}
"""Fields of POST /v1/speakers."""
TURNS = {
    "description": "Who speaks when",
    "content": {
        "application/json": {
            "schema": {
                "type": "object",
                "required": ["seconds", "speakers", "turns", "rttm", "warnings"],
                "properties": {
                    "seconds": {"type": "number"},
                    "speakers": {"type": "array", "items": {"type": "object"}},
                    "turns": {"type": "array", "items": {"type": "object"}},
                    "rttm": {"type": "string"},
                    "warnings": {
                        "type": "array",
                        "description": "What should be checked: `kind` is `alike` (two of a given "
                        "number of speakers may be one), `little` or `long` (speech is short, or "
                        "long, to find the number) or `outside` (sound in nobody's turn)",
                        "items": {
                            "type": "object",
                            "required": ["kind", "detail", "figures"],
                            "properties": {
                                "kind": {"type": "string"},
                                "detail": {"type": "string"},
                                "figures": {"type": "object"},
                            },
                        },
                    },
                },
            },
            "example": {
                "seconds": 4.0,
                "speakers": [{"label": "speaker-1", "seconds": 2.25}],
                "turns": [{"start": 0.5, "end": 2.75, "speaker": "speaker-1", "confidence": 0.97}],
                "rttm": "SPEAKER recording 1 0.500 2.250 <NA> <NA> speaker-1 0.97 <NA>\n",
                "warnings": [
                    {
                        "kind": "little",
                        "detail": "2 s of speech are little to find the number of speakers (1 "
                        "found)",
                        "figures": {"seconds": 2, "speakers": 1},
                    }
                ],
            },
        }
    },
}


def form(file_field: str = "file", **fields: Any) -> dict[str, Any]:
    """Request body of a form with a recording."""
    schema = {
        "type": "object",
        "required": [file_field],
        "additionalProperties": False,
        "properties": {
            file_field: {"type": "string", "format": "binary", "description": "The recording"},
            **(fields or _FIELDS),
        },
    }
    return {
        "requestBody": {
            "required": True,
            "content": {
                "multipart/form-data": {
                    "schema": schema,
                    "examples": {
                        "usual": {"value": {file_field: "interview.m4a"}},
                        "a voice that is kept": {
                            "value": {
                                file_field: "interview.m4a",
                                **(
                                    {}
                                    if fields
                                    else {"key_id": "project", "speaker": "s1", "system": "base"}
                                ),
                            }
                        },
                    },
                }
            },
        }
    }


SERVICE_FIELDS: dict[str, Any] = {
    "model_id": {"type": "string", "description": "Ignored"},
    "voice_settings": {
        "type": "string",
        "description": "JSON object; parameters of the system are used, others are ignored",
    },
    "seed": {"type": "string", "description": "Ignored: keys decide"},
    "remove_background_noise": {"type": "string", "description": "Ignored"},
    "file_format": {"type": "string", "enum": ["pcm_s16le_16", "other"]},
}
"""Fields of voice services' speech-to-speech."""
OUTPUT_FORMAT = {
    "name": "output_format",
    "in": "query",
    "required": False,
    "schema": {"type": "string", "enum": list(NAMES), "default": USUAL},
}
