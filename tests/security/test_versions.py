"""Upgrades change no voice: known answers of every system and revision.

``answers.json`` holds, for each revision of each system that speaks without weights from elsewhere,
what it makes of one made-up recording under one key: the drawn parameters, the levels of bands, and
a thin comb of samples. Rounding differs from processor to processor, so these are compared within a
tolerance far below what a listener or a verifier notices. A change of them is a new revision:

    python tests/security/test_versions.py      # adds the answers of revisions that have none
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
import torch
from typer.testing import CliRunner

import voicenym
from voicenym import Audio, Key, available, load
from voicenym.anonymizer import system_class, usable
from voicenym.apps.cli import app
from voicenym.corpus.batches.revision_check import check_log
from voicenym.errors import CorpusError, KeyFileError, UnknownSystemError

ANSWERS = Path(__file__).with_name("answers.json")
KEY = Key(bytes(range(32)))
SPEAKER = "speaker-3"
RATE = 16_000
SECONDS = 2.4
SYSTEMS = (
    "b1a",
    "b1b",
    "base",
    "formant",
    "mcadams",
    "mcadams-radius",
    "musa",
    "pv-tsm",
    "recast",
    "ssl-gmm",
    "ssl-loh",
    "ssl-roh",
    "ssl-select",
    "vcloak",
    "vtln",
    "word-codes",
)
"""Those that speak without weights from elsewhere."""
LIVE = {f"{name} live": name for name in ("base", "musa", "recast", "word-codes")}
"""Systems whose live streams differ from recordings, by the names of streams in the answers."""
EDGES = (0, 200, 400, 600, 800, 1100, 1400, 1800, 2300, 2900, 3700, 4700, 6000, 8000)
SEGMENT = 1600
COMB = 97
FLOOR = 1e-7
MOST_DECIBELS = 0.5
"""Mean difference of a band's level in a tenth of a second."""
MOST_DEVIATION = 0.1
"""RMS of the difference of samples, relative to their own."""
PHASES_ADD_UP = ("b1a", "b1b", "ssl-gmm", "ssl-loh", "ssl-roh", "ssl-select")
"""Vocoders that add F0 up to a phase add its rounding up too: the samples of `b1b` and `ssl-roh`
deviate by 0.11 between one thread and two, and the levels by 0.08 dB at most. Their samples may
deviate by twice as much as others', their levels by half: another key's voice has 0.6 dB."""


def most(name: str) -> tuple[float, float]:
    """Limits of a system: difference of levels in dB, deviation of samples."""
    if name in PHASES_ADD_UP:
        return MOST_DECIBELS / 2, 2 * MOST_DEVIATION
    return MOST_DECIBELS, MOST_DEVIATION


def speech() -> np.ndarray:
    """Vowels with gliding pitch and a little noise, by plain arithmetic: ``[time]``."""
    count = round(SECONDS * RATE)
    time = np.arange(count) / RATE
    pitch = 132.0 * (1.0 + 0.1 * np.sin(2 * np.pi * 0.9 * time + 0.4))
    phase = 2 * np.pi * np.cumsum(pitch) / RATE
    place = 4.0 * time / 1.2  # vowels a second, and where we are among them
    vowels = np.array(
        [(730, 1090, 2440), (270, 2290, 3010), (300, 870, 2240), (530, 1840, 2480)], float
    )
    share = np.clip(4.0 * (place % 1.0) - 3.0, 0.0, 1.0)[:, None]
    here, following = place.astype(int) % 4, (place.astype(int) + 1) % 4
    formants = (1.0 - share) * vowels[here] + share * vowels[following]
    signal = np.zeros(count)
    for harmonic in range(1, 45):
        hertz = harmonic * pitch
        gain = np.zeros(count)
        for i, width in enumerate((80.0, 110.0, 150.0)):
            gain += 0.6**i / (1.0 + ((hertz - formants[:, i]) / width) ** 2)
        signal += np.where(hertz < 7000, gain, 0.0) * np.cos(harmonic * phase)
    state, noise = 12345, np.zeros(count)
    for i in range(count):  # a generator of its own: libraries' may change
        state = (1103515245 * state + 12345) % (1 << 31)
        noise[i] = state / (1 << 30) - 1.0
    signal = signal * (0.6 + 0.4 * np.sin(np.pi * place) ** 2) + 0.02 * noise
    return (0.3 * signal / np.abs(signal).max()).astype(np.float32)


def levels(samples: np.ndarray) -> list[int]:
    """Tenths of a decibel, of each band of each tenth of a second."""
    parts = samples.astype(np.float64).reshape(-1, SEGMENT) * np.hanning(SEGMENT)
    power = np.abs(np.fft.rfft(parts)) ** 2 / SEGMENT
    places = [round(edge / (RATE / 2) * (power.shape[1] - 1)) for edge in EDGES]
    bands = np.add.reduceat(power, places[:-1], axis=1)
    return np.rint(100 * np.log10(bands + FLOOR)).astype(int).ravel().tolist()


def answer(name: str, revision: int) -> dict[str, Any]:
    """What a system makes of the recording, and what it draws."""
    live = {"live": True} if name in LIVE else {}
    system = load(LIVE.get(name, name), revision=revision, **live)
    pseudonym = KEY.pseudonym(SPEAKER)
    with torch.inference_mode():
        made = system(Audio(torch.from_numpy(speech()), RATE), pseudonym).samples.numpy()
    comb = np.rint(1e4 * made[::COMB]).astype(int).tolist()
    return {
        "weights": system.version,
        "draws": draws(system, pseudonym),
        "levels": levels(made),
        "samples": comb,
    }


def draws(system: Any, pseudonym: Any) -> list[float]:
    """The drawn parameters, exactly, where a system says them."""
    name = system.card.name
    if name == "vtln":
        omega = torch.linspace(0.0, torch.pi, 9, dtype=torch.float64)
        return [round(v, 9) for v in system.warped(pseudonym, omega).tolist()]
    if name == "pv-tsm":
        return [system.semitones(pseudonym)]
    if name.startswith("mcadams"):
        return [pseudonym.uniform("mcadams.alpha", system.low, system.high)]
    return []


def record() -> None:
    """Add the answers of revisions that have none; those that are there stay as they are."""
    known = json.loads(ANSWERS.read_text("utf-8")) if ANSWERS.exists() else {}
    for name in (*SYSTEMS, *LIVE):
        for revision in load(LIVE.get(name, name)).revisions:
            if str(revision) not in known.setdefault(name, {}):
                known[name][str(revision)] = answer(name, revision)
    rows = ",\n".join(
        f"  {json.dumps(name)}: {{\n"
        + ",\n".join(
            f"    {json.dumps(r)}: {json.dumps(known[name][r])}" for r in sorted(known[name])
        )
        + "\n  }"
        for name in sorted(known)
    )
    ANSWERS.write_text(f"{{\n{rows}\n}}\n", "utf-8")


KNOWN = json.loads(ANSWERS.read_text("utf-8"))
PINNED = [(name, int(revision)) for name in sorted(KNOWN) for revision in sorted(KNOWN[name])]


def far(one: dict[str, Any], other: dict[str, Any]) -> tuple[float, float]:
    """Mean difference of levels in dB, and deviation of samples relative to their RMS."""
    a, b = (np.array(x["levels"], float) / 10 for x in (one, other))
    c, d = (np.array(x["samples"], float) for x in (one, other))
    return float(np.abs(a - b).mean()), float(np.sqrt(((c - d) ** 2).mean() / (c**2).mean()))


@pytest.mark.parametrize(("name", "revision"), PINNED)
def test_known_answers_of_every_revision(name, revision):
    known, now = KNOWN[name][str(revision)], answer(name, revision)
    changed = f"{name}, revision {revision}: other voices; make the change a new revision"
    assert now["weights"] == known["weights"], changed
    assert now["draws"] == pytest.approx(known["draws"], rel=1e-9), changed
    decibels, deviation = far(known, now)
    most_decibels, most_deviation = most(name)
    assert decibels < most_decibels, changed
    assert deviation < most_deviation, changed


def test_every_revision_of_every_system_that_speaks_is_pinned():
    pinned = {name: tuple(sorted(map(int, KNOWN[name]))) for name in KNOWN}
    names = {**{name: name for name in SYSTEMS}, **LIVE}
    assert pinned == {name: load(system).revisions for name, system in names.items()}
    left_out: list[str] = []
    assert sorted(usable(lambda name, why: left_out.append(name))) == sorted(SYSTEMS), left_out


def test_the_known_answers_distinguish_revisions_and_keys():
    """The pins would fail: another revision, and the same one under another key, are far away."""
    for name in ("formant", "vtln"):
        decibels, deviation = far(KNOWN[name]["1"], KNOWN[name]["2"])
        assert decibels > 2 * MOST_DECIBELS
        assert deviation > 2 * MOST_DEVIATION
    with torch.inference_mode():
        audio = Audio(torch.from_numpy(speech()), RATE)
        for name in SYSTEMS:
            made = load(name)(audio, KEY.pseudonym("speaker-2")).samples.numpy()
            comb = np.rint(1e4 * made[::COMB]).astype(int).tolist()
            other = {"levels": levels(made), "samples": comb}
            decibels, deviation = far(KNOWN[name]["1"], other)
            most_decibels, most_deviation = most(name)
            assert decibels > 2 * most_decibels or deviation > 2 * most_deviation, name


# What a key remembers

OLD = "voicenym-key-1 " + bytes(range(32)).hex() + "\n"


def test_an_old_key_file_means_revision_one_of_everything(tmp_path):
    path = tmp_path / "old.key"
    path.write_text(OLD)
    key = Key.load(path)
    assert key == KEY
    for name in available():
        assert system_class(name)().revision_for(key) == 1
        assert system_class(name)().revision_for(key.pseudonym("a")) == 1


def test_a_new_key_file_keeps_the_revisions_of_the_day_it_was_made(tmp_path, monkeypatch):
    path = tmp_path / "new.key"
    fresh = Key.generate()
    fresh.save(path)
    kept = Key.load(path)
    assert (
        kept.revisions
        == voicenym.revisions()
        == {n: max(system_class(n).revisions) for n in available()}
    )
    # a later release brings a third revision: the fresh key would take it, the kept one does not
    vtln = system_class("vtln")
    monkeypatch.setattr(vtln, "revisions", (1, 2, 3))
    assert vtln().revision_for(fresh) == 3
    assert vtln().revision_for(kept.pseudonym("a")) == 2
    # and a system that the key had never heard of is at its first
    monkeypatch.setattr(system_class("pv-tsm"), "revisions", (1, 2))
    path.write_text("".join(x for x in path.read_text().splitlines(True) if "pv-tsm" not in x))
    assert load("pv-tsm").revision_for(Key.load(path)) == 1


def test_bytes_alone_are_a_key_of_the_first_revisions():
    """Whoever keeps the 32 bytes somewhere else keeps the voices, too."""
    assert load("vtln").revision_for(Key(bytes(32))) == 1
    assert load("vtln").revision_for(Key(bytes(32), None)) == 2
    assert load("vtln", revision=1).revision_for(Key.generate()) == 1


@pytest.mark.parametrize(
    ("lines", "word"),
    [
        ("derivation 2\nvtln 2\n", "version 2 of the derivation.*use the release"),
        ("vtln 2\n", "no line 'derivation 1'"),
        ("derivation 1\nvtln\n", "line 3 is not a system's name"),
        ("derivation 1\nvtln two\n", "line 3"),
        ("derivation 1\nvtln 0\n", "line 3"),
        ("derivation 1\nvtln 1\nvtln 2\n", "line 4"),
    ],
)
def test_a_damaged_or_later_key_file_is_refused_and_its_secret_not_shown(lines, word, tmp_path):
    path = tmp_path / "some.key"
    path.write_text(OLD.replace("key-1", "key-2") + lines)
    with pytest.raises(KeyFileError, match=word) as caught:
        Key.load(path)
    assert "some.key" in str(caught.value)
    assert "00010203" not in str(caught.value)


def test_a_revision_of_a_later_release_is_refused(tmp_path):
    path = tmp_path / "later.key"
    path.write_text(OLD.replace("key-1", "key-2") + "derivation 1\nvtln 7\n")
    with pytest.raises(
        UnknownSystemError, match=r"vtln: revision 7 is not of this release.*1 and 2"
    ):
        load("vtln")(Audio(torch.zeros(1600), RATE), Key.load(path).pseudonym("a"))
    with pytest.raises(UnknownSystemError, match="vtln has no revision 7"):
        load("vtln", revision=7)


def test_one_batch_may_hold_voices_of_two_revisions():
    audio = Audio(torch.from_numpy(speech()), RATE)
    old, new = KEY.pseudonym("a"), KEY.with_revisions(None).pseudonym("a")
    system = load("vtln")
    together = system.batch([audio, audio], [old, new])
    for made, revision in zip(together, (1, 2), strict=True):
        alone = load("vtln", revision=revision)(audio, old)
        torch.testing.assert_close(made.samples, alone.samples, atol=2e-3, rtol=0)
    assert old != new


# What a run remembers


@pytest.fixture
def corpus_of(tmp_path):
    """``corpus_of(names)``: a folder with a recording of one speaker under each name."""

    def make(*names: str) -> Path:
        folder = tmp_path / "in"
        for name in names:
            path = folder / "ann" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            soundfile.write(path, speech(), RATE)
        return folder

    return make


def run(*arguments: object) -> Any:
    return CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "300"})


def anonymized(folder: Path, output: Path, key: Path, *more: object) -> Any:
    return run("anonymize", folder, "-o", output, "--key", key, "-s", "vtln", *more)


def log_of(output: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (output / "voicenym.jsonl").read_text().splitlines()]


def test_a_corpus_of_an_old_key_goes_on_in_its_old_voices(tmp_path, corpus_of):
    key, output = tmp_path / "old.key", tmp_path / "out"
    key.write_text(OLD)
    first = anonymized(corpus_of("1.wav"), output, key)
    assert first.exit_code == 0, first.output
    assert "revision 1, as the key" in first.output
    lines = log_of(output)
    assert [(x["revision"], x["derivation"], x["system"]) for x in lines] == [(1, 1, "vtln")]
    # the log of an earlier release says nothing of revisions
    old = [{k: v for k, v in x.items() if k != "revision"} for x in lines]
    (output / "voicenym.jsonl").write_text("".join(json.dumps(x) + "\n" for x in old))
    again = anonymized(corpus_of("1.wav", "2.wav"), output, key)
    assert again.exit_code == 0, again.output
    assert "1 anonymized, 1 already done" in again.output
    written = [soundfile.read(output / "ann" / f"{n}.wav")[0] for n in (1, 2)]
    np.testing.assert_array_equal(*written)
    before = soundfile.read(tmp_path / "in" / "ann" / "1.wav", dtype="float32")[0]
    expected = load("vtln", revision=1)(Audio(torch.from_numpy(before), RATE), KEY.pseudonym("ann"))
    np.testing.assert_allclose(written[0], expected.samples.numpy(), atol=1e-4)


@pytest.mark.parametrize("names", [("1.wav",), ("1.wav", "2.wav"), ("2.wav",)])
def test_a_corpus_is_not_resumed_nor_extended_in_other_voices(names, tmp_path, corpus_of):
    key, upgraded, output = tmp_path / "old.key", tmp_path / "new.key", tmp_path / "out"
    key.write_text(OLD)
    assert anonymized(corpus_of("1.wav"), output, key).exit_code == 0
    done = run("key", "upgrade", key, upgraded)
    assert "vtln (1 to 2)" in done.output
    assert Key.load(upgraded) != Key.load(key), "the voices differ"
    assert Key.load(upgraded).with_revisions({}) == Key.load(key), "the secret is the same"
    for path in (tmp_path / "in" / "ann").iterdir():
        path.unlink()
    before = (output / "ann" / "1.wav").read_bytes()
    stopped = anonymized(corpus_of(*names), output, upgraded)
    assert stopped.exit_code != 0
    message = str(stopped.exception or stopped.output)
    assert "revision 1 of vtln" in message
    assert "--set revision=1" in message
    assert [p.name for p in (output / "ann").iterdir()] == ["1.wav"]
    assert (output / "ann" / "1.wav").read_bytes() == before
    # the cure that the message names
    cured = anonymized(corpus_of(*names), output, upgraded, "--set", "revision=1")
    assert cured.exit_code == 0, cured.output
    assert (output / "ann" / "1.wav").read_bytes() == before


def test_a_corpus_that_is_written_over_as_a_whole_may_change_its_voices(tmp_path, corpus_of):
    key, upgraded, output = tmp_path / "old.key", tmp_path / "new.key", tmp_path / "out"
    key.write_text(OLD)
    assert anonymized(corpus_of("1.wav", "2.wav"), output, key).exit_code == 0
    run("key", "upgrade", key, upgraded)
    (tmp_path / "in" / "ann" / "2.wav").unlink()
    assert anonymized(corpus_of("1.wav"), output, upgraded, "--overwrite").exit_code != 0
    assert anonymized(corpus_of("1.wav", "2.wav"), output, upgraded, "--overwrite").exit_code == 0


def test_workers_take_the_revision_of_the_key(tmp_path, corpus_of):
    key = tmp_path / "old.key"
    key.write_text(OLD)
    folder = corpus_of("1.wav", "2.wav")
    for count, output in ((1, tmp_path / "one"), (2, tmp_path / "two")):
        made = anonymized(folder, output, key, "--workers", count)
        assert made.exit_code == 0, made.output
    for name in ("1.wav", "2.wav"):
        one, two = (tmp_path / o / "ann" / name for o in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()


def test_the_weights_are_in_the_log_and_others_are_not_mixed_in(tmp_path):
    log = tmp_path / "voicenym.jsonl"
    line = {"output": "a.wav", "sha256": "0", "system": "base", "key_check": "k", "derivation": 1}
    log.write_text(json.dumps({**line, "weights": "one"}) + "\n{half a li")
    stamp = {**line, "revision": 1, "weights": "other"}
    with pytest.raises(CorpusError, match=r"a\.wav was made with weights one of base.*other"):
        check_log(log, stamp)
    check_log(log, {**stamp, "weights": "one"})
    check_log(log, {**stamp, "key_check": "another"})
    check_log(log, stamp, replaced=[tmp_path / "a.wav"])
    check_log(tmp_path / "none.jsonl", stamp)


# What the commands say


def test_keys_and_systems_are_shown_with_their_revisions(tmp_path):
    key = tmp_path / "old.key"
    key.write_text(OLD)
    shown = run("key", "show", key).output
    lines = shown.splitlines()
    assert lines[0] == "system\trevision\tlatest\tderivation"
    assert "vtln\t1\t2\t1" in lines
    assert "mcadams\t1\t2\t1" in lines
    assert "pv-tsm\t1\t2\t1" in lines
    assert "00010203" not in shown
    assert "Revisions: 1, 2; a new key takes the last" in run("systems", "vtln").output
    assert json.loads(run("systems", "vtln", "--json").output)[0]["revisions"] == [1, 2]
    run("key", "new", tmp_path / "new.key")
    for record in json.loads(run("key", "show", tmp_path / "new.key", "--json").output):
        assert record["revision"] == record["latest"]
    same = run("key", "upgrade", tmp_path / "new.key", tmp_path / "newer.key").output
    assert "the same voices" in same


def test_attackers_and_evaluations_know_today_and_the_past():
    """Attackers of a system have its latest revision, unless it was set."""
    from voicenym.attack.searches.key_search import candidate_keys
    from voicenym.corpus.recording import Recording
    from voicenym.corpus.transforms import Anonymize
    from voicenym.evaluation.evaluation_plan import key as evaluation_key

    recording = Recording("a", "ann", ANSWERS)
    today = evaluation_key(0, "user")
    assert today.revisions is None
    assert {k.revisions for k in candidate_keys(today, 2)} == {None}
    done = Anonymize("vtln", today).identity(recording)
    assert "revision 2" in done
    old = Anonymize("vtln", today, parameters=(("revision", 1),)).identity(recording)
    assert done != old


if __name__ == "__main__":
    record()
