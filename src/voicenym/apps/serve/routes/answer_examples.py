"""Examples of answers that are JSON, for the OpenAPI document."""

from __future__ import annotations

from typing import Any

ID = "qQSJtX_dxPlyBfBuectUPTvb"
JOB: dict[str, Any] = {
    "id": ID,
    "status": "running",
    "progress": {"seconds": 12.5, "of": 60.0},
    "problem": None,
    "system": None,
    "refusal": None,
    "warnings": [],
    "audit": None,
    "links": {
        "self": f"/v1/jobs/{ID}",
        "events": f"/v1/jobs/{ID}/events",
        "result": f"/v1/jobs/{ID}/result",
    },
}
SYSTEMS: dict[str, Any] = {
    "systems": [
        {
            "name": "mcadams",
            "title": "McAdams coefficient: formants moved by bending LP pole angles",
            "is_default": False,
            "protects": "casual listeners and ignorant verifiers, in part",
            "attackers": [],
            "figures": {},
            "live": True,
            "weights": "none",
            "usable": True,
            "year": 2021,
        }
    ]
}
"""Of some fields alone, and without figures."""
AUDIT: dict[str, Any] = {
    "system": "recast",
    "verdict": "NOT PROTECTED: to the key search attacker this is 243 times likelier if it is the "
    "same speaker.",
    "searched": "Among 1,000 people, with 1 recording, the best attacker (key search) finds this "
    "speaker about once in 5.1; with 10 such recordings, at worst nearly always.",
    "attackers": [
        {
            "attacker": "key search",
            "llr": 5.49,
            "words": "243 times likelier if it is the same speaker",
        }
    ],
}
"""Of some fields alone, of the recording that comes with the package."""
KEYS = {"keys": ["project"]}
KEY = {"key_id": "project"}
HEALTH = {"status": "ok", "version": "0.1.0"}
READY = {"status": "ready", "version": "0.1.0"}


def answer(description: str, example: dict[str, Any], status: int = 200) -> dict[int | str, Any]:
    """Description of an answer, as ``responses`` of a route.

    Args:
        description: of its content.
        example: of its JSON object.
        status: of the answer.
    """
    return {
        status: {
            "description": description,
            "content": {"application/json": {"schema": {"type": "object"}, "example": example}},
        }
    }
