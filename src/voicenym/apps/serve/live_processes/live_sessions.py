"""Live sessions of a server: how many there may be at once, and none with another's voice."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from voicenym.apps.web.problem_details import Problem, busy


@dataclass(frozen=True)
class LiveLimits:
    """Limits of live sessions.

    Args:
        sessions: at once, of all clients; 0 for none.
        seconds: of a session.
    """

    sessions: int = 1
    seconds: float = 3600.0


class LiveSessions:
    """Sessions that run now.

    Args:
        limits: of them.
    """

    def __init__(self, limits: LiveLimits) -> None:
        self.limits = limits
        self._voices: set[tuple[str, str, str]] = set()
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @contextmanager
    def session(self, owner: str, key_id: str | None, speaker: str) -> Iterator[None]:
        """Context manager of one session.

        Raises:
            Problem: 403 if the server takes none; 409 if the voice of this key and speaker is in
                use; 503 if there are as many as there may be.
        """
        if not self.limits.sessions:
            raise Problem(
                403, "This server takes no live sessions.", "Start it with --live-sessions 1."
            )
        if self._count >= self.limits.sessions:
            raise busy("There are as many live sessions as there may be.", 10.0)
        voice = (owner, key_id or secrets.token_hex(16), speaker)
        if voice in self._voices:
            raise Problem(
                409,
                "The voice of this key and speaker is in another live session.",
                "End that session, or choose another speaker.",
            )
        self._voices.add(voice)
        self._count += 1
        try:
            yield
        finally:
            self._voices.discard(voice)
            self._count -= 1
