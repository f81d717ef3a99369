"""Counters of a server for Prometheus: how much, how long, how often refused; nobody is named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from voicenym.apps.serve.service import Service

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

    def watch(self, service: Service) -> None:
        """Adds what is read when it is asked for."""
        from prometheus_client import Gauge

        gauges = {
            "voicenym_work_running": ("Recordings in work.", lambda: service.slots.running),
            "voicenym_work_queued": ("Recordings that wait.", lambda: service.slots.queued),
            "voicenym_jobs": ("Jobs that are kept.", lambda: len(service.jobs)),
            "voicenym_workers_killed": (
                "Workers that ended without an answer.",
                lambda: service.runner.killed,
            ),
        }
        for name, (text, value) in gauges.items():
            Gauge(name, text, registry=self._registry).set_function(value)
        self._service = service

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
