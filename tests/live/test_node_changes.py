"""Changes among PipeWire's nodes: lines of a subscription that a test writes."""

from __future__ import annotations

import os

import pytest

from voicenym.live.node_changes import ASK_SECONDS, NodeChanges


class Subscription:
    """Stands in for a process that prints events."""

    def __init__(self):
        reader, self._writer = os.pipe()
        self.stdout = os.fdopen(reader, "rb")
        self.code = None

    def says(self, line):
        os.write(self._writer, line + b"\n")

    def poll(self):
        return self.code

    def kill(self):
        if self.code is None:
            self.code = -9
            os.close(self._writer)

    def wait(self):
        return self.code


@pytest.fixture
def watch():
    """The changes, the subscriptions they started, and their clock."""
    started, now = [], [0.0]

    def start():
        started.append(Subscription())
        return started[-1]

    changes = NodeChanges(start, lambda: now[0])
    yield changes, started, now
    changes.close()


def awaited(changes, expected):
    """Whether the changes say so before long; a thread reads the lines."""
    for _ in range(1000):
        if changes._changed.wait(0.005) or not expected:
            break
    return changes.happened()


def test_two_looks_are_due_at_the_start_and_the_next_only_after_a_change(watch):
    changes, started, _ = watch
    assert changes.happened()
    assert changes.happened()  # the subscription may have begun after the first
    assert not changes.happened()
    started[0].says(b"Event 'remove' on sink #42")
    assert awaited(changes, True)
    assert not changes.happened()
    assert len(started) == 1


@pytest.mark.parametrize("line", [b"Event 'new' on sink-input #7", b"Event 'change' on sink #1"])
def test_streams_of_programs_and_volumes_are_no_change(watch, line):
    changes, started, _ = watch
    assert changes.happened()
    assert changes.happened()
    started[0].says(line)
    started[0].says(b"Event 'new' on source #9")
    assert awaited(changes, True)  # the second line; the first came before it
    started[0].says(line)
    assert not awaited(changes, False)


def test_without_events_nodes_are_looked_at_now_and_then(watch):
    changes, _, now = watch
    assert changes.happened()
    assert changes.happened()
    now[0] += ASK_SECONDS - 1
    assert not changes.happened()
    now[0] += 1
    assert changes.happened()
    assert not changes.happened()


def test_a_subscription_that_ends_begins_again_and_nothing_is_missed(watch):
    changes, started, _ = watch
    assert changes.happened()
    assert changes.happened()
    started[0].kill()
    assert changes.happened()
    assert len(started) == 2
    assert changes.happened()
    assert not changes.happened()


def test_without_the_program_every_look_is_due():
    def missing():
        raise FileNotFoundError("pactl")

    changes = NodeChanges(missing)
    assert changes.happened()
    assert changes.happened()
    changes.close()
