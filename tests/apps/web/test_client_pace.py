"""Pace of a client."""

from __future__ import annotations

import socket
import sys

import pytest

from voicenym.apps.web.client_pace import Pace, taken


def test_bytes_pay_for_time_and_fast_ones_not_for_hours():
    pace = Pace(20.0, least=2_000, most=60.0)
    for _ in range(1_000):  # as fast as it must be
        pace.note(10.0, 20_000)
    assert pace.left == pytest.approx(20.0)
    pace.note(1.0, 100_000_000)
    assert pace.left == 60.0
    for _ in range(4):
        pace.note(19.0, 1)
    assert pace.left <= 0


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells what was acknowledged")
def test_what_the_other_end_has_acknowledged_is_known():
    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        socket.create_connection(listening.getsockname()) as client,
        listening.accept()[0] as server,
    ):
        server.sendall(b"x" * 1000)
        assert client.recv(1000, socket.MSG_WAITALL) == b"x" * 1000
        while taken(server) != (1000, 0):
            pass  # until the acknowledgement is there
    assert taken(server) is None
