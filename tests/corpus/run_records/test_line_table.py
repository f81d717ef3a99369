"""A table of lines is a mapping in the order of its names, and lies outside of memory."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voicenym.corpus.run_records.line_table import LineTable
from voicenym.corpus.run_records.run_log import RunLog
from voicenym.errors import CorpusError

NAMES = st.text(st.characters(), max_size=8)
LINES = st.dictionaries(st.text(max_size=4), st.none() | st.integers() | st.text(max_size=4))


@given(st.lists(st.tuples(st.sampled_from(["set", "delete"]), NAMES, LINES), max_size=30))
def test_it_is_a_dictionary_in_the_order_of_its_names(actions):
    table, known = LineTable(), {}
    for action, name, line in actions:
        if action == "set":
            table[name] = known[name] = line
        elif name in known:
            del table[name], known[name]
        else:
            with pytest.raises(KeyError):
                del table[name]
    ordered = dict(sorted(known.items()))
    assert list(table.items()) == list(ordered.items())
    assert list(table) == list(ordered)
    assert list(table.values()) == list(ordered.values())
    assert (len(table), bool(table)) == (len(known), bool(known))
    for name, line in known.items():
        assert name in table
        assert table[name] == line
    assert table.get("not there: 123") is None
    assert 5 not in table


def test_names_of_undecodable_bytes_stay():
    name = b"\xff/a.wav".decode("utf-8", "surrogateescape")
    table = LineTable()
    table[name] = {"output": name}
    assert list(table.items()) == [(name, {"output": name})]


PROGRAM = """
import resource, sys
from voicenym.corpus.run_records.line_table import LineTable
from voicenym.corpus.run_records.run_log import RunLog
from voicenym.errors import CorpusError
table = LineTable()
def fill(first, count):
    for n in range(first, first + count):
        table[f"speaker-{n % 100}/{n:09}.wav"] = {"sha256": f"{n:064}", "input": "x" * 100, "n": n}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // 1024 if sys.platform == "darwin" else peak
few = fill(0, 5_000)
many = fill(5_000, 40_000)
assert len(table) == 45_000 and sum(line["n"] for line in table.values()) == 45_000 * 44_999 // 2
print(few, many)
"""


def test_memory_does_not_grow_with_lines():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    few, many = map(int, done.stdout.split())
    assert many - few < 4_000, "KiB, for 40,000 lines of 250 bytes, 10,000 KiB as text"


def test_a_full_folder_for_temporary_files_is_named(tmp_path):
    log = RunLog(tmp_path / "voicenym.jsonl")
    log.lines._base.execute("PRAGMA max_page_count=8")

    def fill():
        for number in range(10_000):
            log.append({"output": f"{number}.wav", "sha256": 64 * "0"})

    with pytest.raises(CorpusError, match=r"voicenym\.jsonl: .*folder for temporary files"):
        fill()
