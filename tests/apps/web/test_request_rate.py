"""Rate of requests by client."""

from __future__ import annotations

import pytest

from voicenym.apps.web import request_rate
from voicenym.apps.web.problem_details import Problem
from voicenym.apps.web.request_rate import RequestRate


def test_a_bucket_fills_with_time():
    now = [0.0]
    rate = RequestRate(2.0, 3, clock=lambda: now[0])
    for _ in range(3):
        rate.check("a")
    with pytest.raises(Problem) as caught:
        rate.check("a")
    assert caught.value.status == 429
    assert caught.value.headers["Retry-After"] == "1"
    now[0] = 0.5
    rate.check("a")
    now[0] = 1_000.0
    for _ in range(3):
        rate.check("a")
    with pytest.raises(Problem):
        rate.check("a")


def test_clients_are_kept_by_salted_hash_and_forgotten(monkeypatch):
    monkeypatch.setattr(request_rate, "MOST_CLIENTS", 5)
    rate = RequestRate(1.0, 1, clock=lambda: 0.0)
    for number in range(20):
        rate.check(f"192.0.2.{number}")
    assert len(rate._buckets) == 5
    assert "192.0.2" not in repr(vars(rate))


def test_a_rate_of_zero_limits_nobody():
    rate = RequestRate(0.0, 1)
    for _ in range(100):
        rate.check("a")
