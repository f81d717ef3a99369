"""Fall-back: recordings that a system refuses are anonymized by another one, or are errors."""

from __future__ import annotations

import dataclasses
import io
import json
from dataclasses import dataclass

import numpy as np
import pytest
import soundfile
import torch

import voicenym
from voicenym.anonymizer import SYSTEMS, Refusal, load
from voicenym.apps.cli.anonymizing.batch_report import _grouped
from voicenym.corpus.batches import fallback
from voicenym.corpus.batches.batch_runner import Job, run
from voicenym.corpus.batches.fallback import Fallback, fallback_of
from voicenym.corpus.batches.revision_check import check_log
from voicenym.corpus.batches.single_file import anonymize_file
from voicenym.corpus.plans.file_plan import Item
from voicenym.errors import CorpusError, RefusedError, UnknownSystemError
from voicenym.pseudonym import Key
from voicenym.registry.names import Entry
from voicenym.systems.mcadams import McAdams

KEY = Key(bytes(32))
PSEUDONYM = KEY.pseudonym("ann")
LIMIT = 0.05


class Peak:
    """Profile: the largest magnitude."""

    def __init__(self):
        self.found = 0.0

    def push(self, block):
        self.found = max(self.found, float(block.abs().max()) if block.numel() else 0.0)

    def result(self):
        return self.found


@dataclass(frozen=True)
class Choosy(McAdams):
    """McAdams for loud recordings only."""

    bold: bool = False

    card = dataclasses.replace(McAdams.card, name="choosy")

    needs_profile = True

    def profiler(self, rows, rate, lengths):
        return Peak()

    @property
    def may_refuse(self):
        return not self.bold

    def refusal(self, profile):
        if self.bold or profile >= LIMIT:
            return None
        return Refusal("it is too quiet", "give --set bold=true")


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setitem(SYSTEMS.own, "choosy", Entry(Choosy))


@pytest.fixture
def recordings(tmp_path, buzz):
    """A loud one and a quiet one."""
    loud = buzz("in/loud.wav")
    samples, rate = soundfile.read(loud)
    soundfile.write(tmp_path / "in/quiet.wav", 0.2 * samples, rate)
    return loud, tmp_path / "in/quiet.wav"


def items(tmp_path, recordings):
    return [Item(path, tmp_path / "out" / path.name, "ann", path.name) for path in recordings]


def job(tmp_path, **options):
    return Job("choosy", {}, KEY, log=tmp_path / "out/voicenym.jsonl", **options)


def lines(tmp_path):
    return [json.loads(text) for text in (tmp_path / "out/voicenym.jsonl").read_text().splitlines()]


def test_a_refused_file_is_an_error_and_nothing_is_written(tmp_path, recordings):
    loud, quiet = recordings
    output = tmp_path / "out.wav"
    with pytest.raises(RefusedError, match=r"quiet\.wav: it is too quiet; give --set bold=true"):
        anonymize_file(load("choosy"), PSEUDONYM, quiet, output)
    assert not output.exists()
    made = anonymize_file(load("choosy"), PSEUDONYM, loud, output)
    assert made.refusal is None
    assert anonymize_file(load("choosy", bold=True), PSEUDONYM, quiet, tmp_path / "b.wav")


def test_the_fallback_makes_what_it_makes_by_itself_under_the_same_key(tmp_path, recordings):
    _, quiet = recordings
    one, other, piped = tmp_path / "one.wav", tmp_path / "other.wav", io.BytesIO()
    made = anonymize_file(load("choosy"), PSEUDONYM, quiet, one, fallback=load("vtln"))
    assert made.refusal is not None
    assert made.refusal.reason == "it is too quiet"
    anonymize_file(load("vtln"), PSEUDONYM, quiet, other)
    assert one.read_bytes() == other.read_bytes()
    data = io.BytesIO(quiet.read_bytes())
    anonymize_file(load("choosy"), PSEUDONYM, data, piped, fallback=load("vtln"))
    assert piped.getvalue() == other.read_bytes()


def test_a_fallback_that_refuses_too_is_an_error(tmp_path, recordings):
    with pytest.raises(RefusedError, match="too quiet"):
        anonymize_file(
            load("choosy"), PSEUDONYM, recordings[1], tmp_path / "o.wav", fallback=load("choosy")
        )
    assert not (tmp_path / "o.wav").exists()


def test_a_batch_records_the_fallback_of_each_output_and_resumes_alike(tmp_path, recordings):
    settings = job(tmp_path, fallback=Fallback("vtln", {}))
    summary = run(settings, items(tmp_path, recordings))
    assert (summary.done, summary.failures) == (2, [])
    assert [(source, why.reason) for source, why in summary.refused] == [
        (str(recordings[1]), "it is too quiet")
    ]
    loud, quiet = lines(tmp_path)
    assert "fallback" not in loud
    assert quiet["fallback"] == {
        "system": "vtln",
        "revision": 1,
        "parameters": {},
        "reason": "it is too quiet",
    }
    assert quiet["system"] == "choosy"
    again = run(settings, items(tmp_path, recordings))
    assert (again.done, again.skipped) == (0, 2)
    bytes_before = (tmp_path / "out/quiet.wav").read_bytes()
    (tmp_path / "out/quiet.wav").unlink()
    assert run(settings, items(tmp_path, recordings)).done == 1
    assert (tmp_path / "out/quiet.wav").read_bytes() == bytes_before


def test_a_killed_run_whose_log_lacks_the_line_is_done_alike(tmp_path, recordings):
    settings = job(tmp_path, fallback=Fallback("vtln", {}))
    run(settings, items(tmp_path, recordings))
    (tmp_path / "out/voicenym.jsonl").unlink()
    again = run(settings, items(tmp_path, recordings))
    assert (again.done, again.skipped, again.failures) == (0, 2, [])
    assert lines(tmp_path)[1]["fallback"]["system"] == "vtln"


@pytest.mark.parametrize("other", [None, Fallback("mcadams", {}), Fallback("vtln", {"x": 1})])
def test_a_resumed_run_does_not_change_the_fallback(tmp_path, recordings, other):
    run(job(tmp_path, fallback=Fallback("vtln", {})), items(tmp_path, recordings))
    with pytest.raises(CorpusError, match=r"quiet\.wav: made earlier.*--fallback vtln"):
        run(job(tmp_path, fallback=other), items(tmp_path, recordings))
    only_loud = items(tmp_path, recordings[:1])
    assert run(job(tmp_path, fallback=other), only_loud).skipped == 1


def test_without_a_fallback_the_refused_recording_fails_and_the_others_go_on(tmp_path, recordings):
    summary = run(job(tmp_path), items(tmp_path, recordings))
    assert summary.done == 1
    ((source, reason),) = summary.failures
    assert source == str(recordings[1])
    assert "give --set bold=true, or give a fall-back, such as --fallback recast" in reason
    assert not (tmp_path / "out/quiet.wav").exists()
    assert "too quiet" in lines(tmp_path)[1]["error"]


def test_a_log_holds_the_fallback_to_its_revision(tmp_path, recordings):
    run(job(tmp_path, fallback=Fallback("vtln", {})), items(tmp_path, recordings))
    log, stamp = tmp_path / "out/voicenym.jsonl", job(tmp_path).stamp()
    check_log(log, stamp, fallback=Fallback("vtln", {}).stamp())
    check_log(log, stamp, fallback=Fallback("mcadams", {}, 2).stamp())
    with pytest.raises(CorpusError, match="revision 1 of vtln"):
        check_log(log, stamp, fallback=Fallback("vtln", {}, 2).stamp())


def test_which_fallback_a_user_gets():
    choosy = load("choosy")
    assert fallback_of("none", choosy, KEY) is None
    assert fallback_of("vtln", load("mcadams"), KEY) is None, "mcadams refuses nothing"
    found = fallback_of("mcadams:low=0.6", choosy, KEY)
    assert found is not None
    assert (found.system, found.parameters["low"], found.revision) == ("mcadams", 0.6, 1)
    with pytest.raises(UnknownSystemError, match="choosy: is the system itself"):
        fallback_of("choosy", choosy, KEY)
    for system in (choosy, load("mcadams")):
        with pytest.raises(UnknownSystemError, match="nosuch"):
            fallback_of("nosuch", system, KEY)


def test_in_memory_the_fallback_takes_what_the_system_refuses_and_warns(recordings):
    loud, quiet = (voicenym.read(path) for path in recordings)
    assert torch.equal(
        voicenym.anonymize(loud, PSEUDONYM, "choosy").samples,
        load("choosy")(loud, PSEUDONYM).samples,
    )
    with pytest.warns(UserWarning, match="with vtln, not with choosy: it is too quiet"):
        made = voicenym.anonymize(quiet, PSEUDONYM, load("choosy"), fallback="vtln")
    assert torch.equal(made.samples, load("vtln")(quiet, PSEUDONYM).samples)
    for other in (None, "choosy"):
        with pytest.raises(RefusedError, match="the recording: it is too quiet"):
            voicenym.anonymize(quiet, PSEUDONYM, "choosy", fallback=other)
    as_itself = load("choosy")(quiet, PSEUDONYM)
    assert np.isfinite(as_itself.samples.numpy()).all()


def test_the_command_says_what_it_did_and_fails_without_a_fallback(command, tmp_path, recordings):
    done = command("anonymize", "in", "-o", "out", "-s", "choosy", "--fallback", "mcadams")
    said = done.stderr.decode()
    assert done.returncode == 0, said
    (sentence,) = [line for line in said.splitlines() if "quiet.wav: anonymized" in line]
    for words in (
        "anonymized with mcadams instead of choosy: it is too quiet",
        "give --set bold=true",
        "mcadams has an EER of",
    ):
        assert words in sentence
    assert "2 anonymized (1 of them with mcadams)" in said
    alone = command(
        "anonymize", "in", "-o", "alone", "-s", "choosy", "--fallback", "none", "--lenient"
    )
    assert alone.returncode == 1
    assert "quiet.wav: it is too quiet" in alone.stderr.decode()
    assert (tmp_path / "alone/loud.wav").is_file()
    assert not (tmp_path / "alone/quiet.wav").exists()
    data = recordings[1].read_bytes()
    piped = command("anonymize", "-", "-s", "choosy", "--fallback", "mcadams", input=data)
    assert piped.returncode == 0
    assert "standard input: anonymized with mcadams" in piped.stderr.decode()
    refused = command("anonymize", "-", "-s", "choosy", "--fallback", "none", input=data)
    assert (refused.returncode, refused.stdout) == (1, b"")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("-s", "choosy", "--fallback", "nosuch"), "nosuch"),
        (("-s", "choosy", "--fallback", "mcadams:low=9"), "mcadams"),
        (("-s", "choosy", "--fallback", "mcadams:nothing=1"), "no parameter nothing"),
        (("-s", "choosy", "--fallback", "choosy"), "is the system itself"),
        (("-s", "choosy", "--fallback", "recast:delay=short"), "delay=short is of live streams"),
        (("-s", "mcadams", "--fallback", "vtln"), "refuses no recording"),
        (("-s", "mcadams", "--device", "mps"), "take cpu, cuda, or a GPU by number"),
    ],
)
def test_a_dry_run_refuses_what_the_run_would(options, words, command, tmp_path, recordings):
    told = []
    for more in ((), ("--dry-run",)):
        done = command("anonymize", "in", "-o", "out", *options, *more)
        assert done.returncode == 1
        assert words in " ".join(done.stderr.decode().split())
        told.append(done.stderr)
    assert told[0] == told[1]
    assert not (tmp_path / "out").exists()


def test_many_warnings_of_one_text_are_one():
    few = [f"{name}.wav: too short" for name in "abcde"]
    assert _grouped([*few, "x.wav: clipped"]) == [*few, "x.wav: clipped"]
    many = [f"{name}.wav: too short" for name in "abcdefgh"]
    assert _grouped([*many[:4], "x.wav: clipped", *many[4:]]) == [
        "a.wav: too short (and 7 more recordings)",
        "x.wav: clipped",
    ]


def test_a_fallback_by_name_computes_where_the_system_does(monkeypatch):
    """The device of a fall-back that is named is that of the system which refuses."""
    seen = []
    monkeypatch.setattr(fallback, "load", lambda name, **given: seen.append((name, given)))
    for text in ("recast", "recast:device=cpu"):
        fallback._load(text, "cuda:1")
    assert seen == [("recast", {"device": "cuda:1"}), ("recast", {"device": "cpu"})]


@pytest.mark.parametrize("system", [3, None, b"mcadams"])
def test_a_system_is_a_name_or_an_anonymizer(system):
    with pytest.raises(UnknownSystemError, match="system: a name is text"):
        voicenym.anonymize(voicenym.Audio(torch.zeros(160), 16_000), PSEUDONYM, system)
