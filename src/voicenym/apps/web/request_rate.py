"""Rate of requests of a client: a token bucket for each, without a record of who they are."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable

from voicenym.apps.web.problem_details import busy

MOST_CLIENTS = 10_000


class RequestRate:
    """Token buckets by client. Clients are kept as salted hashes, in memory.

    Args:
        per_second: requests a second in the long run; 0 for no limit.
        burst: requests at once after a pause.
        clock: seconds, for tests.
    """

    def __init__(
        self, per_second: float, burst: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._per_second, self._burst, self._clock = per_second, max(1, burst), clock
        self._salt = secrets.token_bytes(16)
        self._buckets: OrderedDict[bytes, tuple[float, float]] = OrderedDict()

    def check(self, client: str) -> None:
        """Counts a request of a client.

        Raises:
            Problem: 429, with the seconds until the next request is accepted.
        """
        if self._per_second <= 0:
            return
        name = hashlib.blake2b(client.encode(), key=self._salt, digest_size=16).digest()
        now = self._clock()
        left, before = self._buckets.pop(name, (float(self._burst), now))
        left = min(float(self._burst), left + (now - before) * self._per_second)
        accepted = left >= 1.0
        self._buckets[name] = (left - 1.0 if accepted else left, now)
        while len(self._buckets) > MOST_CLIENTS:
            self._buckets.popitem(last=False)
        if not accepted:
            raise busy(
                "This client sends requests too often.", (1.0 - left) / self._per_second, 429
            )
