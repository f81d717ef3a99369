"""Counters of a server for Prometheus: how much, how long, how often refused; nobody is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

SECONDS = (0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0)


class ServerMetrics:
    """Counters of one server.

    Attributes:
        seconds: histogram of the time of a recording in the server, queue included.
        speech: seconds of recordings that were anonymized.
    """

    def __init__(self) -> None:
        from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector

        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self.seconds: Any = Histogram(
            "voicenym_work_seconds",
            "Time of a recording in the server, queue included.",
            ["result"],
            buckets=SECONDS,
            registry=self._registry,
        )
        self.speech: Any = Counter(
            "voicenym_speech_seconds",
            "Seconds of recordings that were anonymized.",
            ["system"],
            registry=self._registry,
        )

    def watch(self, name: str, text: str, value: Callable[[], float]) -> None:
        """Adds a figure that is read when it is asked for.

        Args:
            name: of the figure, after ``voicenym_``.
            text: its description.
            value: reads it.
        """
        from prometheus_client import Gauge

        Gauge(f"voicenym_{name}", text, registry=self._registry).set_function(value)

    def text(self, statuses: dict[int, int]) -> bytes:
        """Metrics in Prometheus' text format.

        Args:
            statuses: number of responses by status.
        """
        from prometheus_client import generate_latest

        lines = [
            "# HELP voicenym_responses_total Responses by status.",
            "# TYPE voicenym_responses_total counter",
            *(f'voicenym_responses_total{{status="{k}"}} {v}' for k, v in sorted(statuses.items())),
        ]
        return bytes(generate_latest(self._registry)) + ("\n".join(lines) + "\n").encode()
