"""``voicenym speakers`` and ``anonymize --rttm`` as commands: outputs, reports and errors."""

import os
import stat

import numpy as np
import pytest
import soundfile
import soxr

from voicenym.diarization.formats.turn_files import read_turns
from voicenym.diarization.speaker_turns import Turn
from voicenym.pseudonym import Key

RATE = 16_000


@pytest.fixture(scope="session")
def two_voices(sample):
    """Sound of two voices in turn, and its truth: the sample, and the sample at another speed."""
    one, _ = soundfile.read(sample, dtype="float32")
    other = soxr.resample(one, RATE, round(RATE / 1.35)).astype(np.float32)
    parts, turns, place = [], [], 0.0
    for number in range(4):
        sound = 0.8 * (other if number % 2 else one)
        pause = np.zeros(RATE // 2, np.float32)
        turns.append(Turn(place, place + len(sound) / RATE, "ben" if number % 2 else "anna"))
        parts += [sound, pause]
        place += (len(sound) + len(pause)) / RATE
    signal = np.concatenate(parts)
    noise = 3e-4 * np.random.default_rng(0).standard_normal(len(signal))
    return signal + noise.astype(np.float32), turns


@pytest.fixture
def talk(two_voices, tmp_path):
    """``talk.wav`` and ``talk.rttm`` in the folder of the command."""
    signal, turns = two_voices
    soundfile.write(tmp_path / "talk.wav", signal, RATE, subtype="PCM_16")
    lines = [
        f"SPEAKER talk 1 {t.start:.3f} {t.end - t.start:.3f} <NA> <NA> {t.speaker} <NA> <NA>"
        for t in turns
    ]
    (tmp_path / "talk.rttm").write_text("\n".join(lines) + "\n")
    return turns


def refused(done, *words):
    message = done.stderr.decode()
    assert done.returncode == 1, message
    assert "Traceback" not in message
    assert message.count("voicenym: error") == 1
    assert message.splitlines()[-1].startswith("voicenym: error: ")
    for word in words:
        assert word in message, message


def at(found, moment):
    return {turn.speaker for turn in found.turns if turn.start <= moment < turn.end}


@pytest.mark.parametrize("options", [[], ["--speakers", "2"]])
def test_two_voices_are_found_and_written(command, talk, tmp_path, options):
    done = command("speakers", "talk.wav", "-o", "found.TextGrid", *options)
    assert done.returncode == 0, done.stderr.decode()
    assert b"wrote found.TextGrid" in done.stderr
    # the talk has less than a minute of speech
    assert (b"give --speakers N if you know it" in done.stderr) == (not options)
    found = read_turns(tmp_path / "found.TextGrid")
    assert found.speakers == ("speaker-1", "speaker-2")
    right = [
        at(found, moment) == {{"anna": "speaker-1", "ben": "speaker-2"}[turn.speaker]}
        for turn in talk
        for moment in np.arange(turn.start + 0.5, turn.end - 0.5, 0.1)
    ]
    assert np.mean(right) > 0.9


def test_turns_are_converted_named_and_printed(command, talk, tmp_path):
    done = command("speakers", "talk.wav", "--turns", "talk.rttm", "--name", "ben=host", "-q")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().split()[:3] == ["SPEAKER", "talk", "1"]
    assert b" host " in done.stdout
    assert command("speakers", "talk.wav", "--turns", "talk.rttm", "-o", "t.vtt").returncode == 0
    assert "<v anna>" in (tmp_path / "t.vtt").read_text()
    refused(command("speakers", "talk.wav", "--turns", "talk.rttm", "-o", "t.vtt"), "--overwrite")
    refused(command("speakers", "talk.wav", "-o", "t.doc"), ".rttm")
    refused(command("speakers", "talk.wav", "--name", "anna"), "LABEL=NAME")
    refused(command("speakers", "talk.wav", "--clustering", "x"), "vbx, spectral")
    refused(command("speakers", "no.wav"), "does not exist")


def test_sound_without_speech_and_one_speaker_where_two_were_named(command, talk, tmp_path):
    soundfile.write(tmp_path / "noise.wav", 0.01 * np.random.default_rng(0).random(32_000), RATE)
    refused(command("speakers", "noise.wav"), "no speech was found")
    soundfile.write(tmp_path / "short.wav", soundfile.read(tmp_path / "talk.wav")[0][:20_000], RATE)
    refused(command("speakers", "short.wav", "--speakers", "4"), "of 4 speakers", "fewer")


def test_only_the_chosen_person_is_hidden(command, talk, tmp_path):
    Key(bytes(32)).save(tmp_path / "k")
    words = ["anonymize", "talk.wav", "--rttm", "talk.rttm", "--only", "anna", "-s", "mcadams"]
    done = command(*words, "--key", "k")
    message = done.stderr.decode()
    assert done.returncode == 0, message
    for text in ("hidden: anna, turn", "kept: ben, turn", "in every recording", "system: mcadams"):
        assert text in message
    before, _ = soundfile.read(tmp_path / "talk.wav", dtype="int16")
    after, _ = soundfile.read(tmp_path / "talk.anon.wav", dtype="int16")
    assert len(before) == len(after)
    for turn in talk:
        inner = slice(round((turn.start + 0.3) * RATE), round((turn.end - 0.3) * RATE))
        if turn.speaker == "ben":
            assert np.array_equal(before[inner], after[inner])
        else:
            assert np.corrcoef(before[inner], after[inner])[0, 1] < 0.9
    again = command(*words, "--key", "k", "-o", "2.wav", "-q")
    assert (again.returncode, again.stderr) == (0, b"")
    assert (tmp_path / "2.wav").read_bytes() == (tmp_path / "talk.anon.wav").read_bytes()
    other = command(*words, "-o", "3.wav", "-q")
    assert other.returncode == 0
    assert (tmp_path / "3.wav").read_bytes() != (tmp_path / "2.wav").read_bytes()


def test_a_dry_run_draws_and_writes_nothing_but_the_page(command, talk, tmp_path):
    words = ["anonymize", "talk.wav", "--rttm", "talk.rttm", "--keep", "ben", "--dry-run"]
    done = command(*words)
    assert done.returncode == 0
    lines = done.stdout.decode().splitlines()
    assert lines[1].startswith("anna")
    assert "#" in lines[1]
    assert lines[2].startswith("ben")
    assert "=" in lines[2]
    assert "#" not in lines[2]
    assert any("hidden: anna, turn" in line for line in lines)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["talk.rttm", "talk.wav"]
    assert command(*words, "--timeline", "t.html").returncode == 0
    assert "<svg" in (tmp_path / "t.html").read_text()
    assert not (tmp_path / "talk.anon.wav").exists()


def test_unsure_parts_are_hidden_silenced_or_kept(command, talk):
    words = ["anonymize", "talk.wav", "--rttm", "talk.rttm", "--only", "anna", "--dry-run"]
    for unsure, text in (
        ("hide", "hidden: anna, b"),
        ("silence", "silenced: b"),
        ("keep", "kept: b"),
    ):
        done = command(*words, "--unsure", unsure)
        assert text + "order of a hidden turn" in done.stdout.decode()
    refused(command(*words, "--unsure", "perhaps"), "hide, keep or silence")


def test_a_counted_label_is_named_on_request(command, talk, tmp_path):
    text = (tmp_path / "talk.rttm").read_text()
    (tmp_path / "talk.rttm").write_text(text.replace("anna", "speaker-1"))
    words = ["anonymize", "talk.wav", "--rttm", "talk.rttm", "-s", "mcadams", "--dry-run"]
    assert b"of this recording alone" in command(*words, "--only", "speaker-1").stderr
    named = command(*words, "--name", "speaker-1=anna", "--only", "anna")
    assert named.returncode == 0
    assert b"of this recording alone" not in named.stderr


@pytest.mark.parametrize(
    ("words", "texts"),
    [
        (["talk.wav", "--only", "anna"], ["--only", "--rttm"]),
        (["talk.wav", "--unsure", "keep"], ["--unsure", "--rttm"]),
        (["talk.wav", "--rttm", "talk.rttm", "--only", "eve"], ["eve", "anna, ben"]),
        (["talk.wav", "--rttm", "talk.rttm", "--keep", "eve"], ["eve", "anna, ben"]),
        (["talk.wav", "--rttm", "talk.rttm", "--keep", "anna", "--keep", "ben"], ["nobody"]),
        (["talk.wav", "talk.wav", "--rttm", "talk.rttm"], ["one recording"]),
        (["-", "--rttm", "talk.rttm"], ["one recording"]),
        ([".", "--rttm", "talk.rttm"], ["one recording"]),
        (["talk.wav", "--rttm", "talk.rttm", "--speaker", "x"], ["--speaker"]),
        (["talk.wav", "--rttm", "talk.rttm", "--name", "eve=x"], ["eve", "anna, ben"]),
        (["talk.wav", "--rttm", "talk.rttm", "--timeline", "t.txt"], [".html"]),
        (["talk.wav", "--rttm", "no.rttm"], ["no.rttm", "cannot be read"]),
        (["talk.wav", "--rttm", "late.rttm"], ["late.rttm", "does not fit", "ends at 999.00 s"]),
        (["talk.wav", "--rttm", "other.rttm"], ["no turn of the recording 'talk'", "interview"]),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_written(command, talk, tmp_path, words, texts):
    line = "SPEAKER {} 1 {} 1.000 <NA> <NA> anna <NA> <NA>\n"
    (tmp_path / "late.rttm").write_text(line.format("talk", 998))
    (tmp_path / "other.rttm").write_text(line.format("interview", 1))
    before = sorted(p.name for p in tmp_path.iterdir())
    refused(command("anonymize", *words), *texts)
    assert sorted(p.name for p in tmp_path.iterdir()) == before


def test_a_failed_run_leaves_neither_the_timeline_nor_new_folders(
    command, talk, tmp_path, monkeypatch
):
    from voicenym.corpus.people import hidden_voices
    from voicenym.errors import AudioError

    def fail(*arguments, **others):
        raise AudioError("talk.wav: breaks off")

    before = sorted(os.listdir(tmp_path))
    words = ("anonymize", "talk.wav", "--rttm", "talk.rttm", "-s", "mcadams", "--timeline")
    with monkeypatch.context() as patch:
        patch.setattr(hidden_voices.HiddenVoices, "push", fail)
        refused(command(*words, "t.html", "-o", "new/inner/out.wav"), "breaks off")
        assert sorted(os.listdir(tmp_path)) == before
        (tmp_path / "t.html").write_text("former")
        done = command(*words, "t.html", "-o", "out.wav", "--overwrite")
        refused(done, "breaks off")
        assert (tmp_path / "t.html").read_text() == "former"
    done = command(*words, "new/t.html", "-o", "new/out.wav")
    assert done.returncode == 0, done.stderr
    assert b"wrote new/t.html" in done.stderr
    assert sorted(os.listdir(tmp_path / "new")) == ["out.wav", "t.html"]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("-o", "new/out.txt"), "new/out.txt: cannot write files ending in '.txt'"),
        (("-o", "out"), "out: cannot write files ending in ''"),
        (("--timeline", "taken.html"), "taken.html: exists already; add --overwrite"),
        (("--timeline", "no/t.html"), "no/t.html: its folder does not exist"),
        (("--timeline", "folder.html"), "folder.html: is a folder"),
    ],
)
def test_outputs_that_cannot_be_written_are_refused_before_the_work(
    command, talk, tmp_path, monkeypatch, options, why
):
    from voicenym.corpus.people import several_speakers

    (tmp_path / "taken.html").touch()
    (tmp_path / "folder.html").mkdir()
    before = sorted(os.listdir(tmp_path))
    monkeypatch.delattr(several_speakers, "plan_speakers")  # nothing is read
    words = ("anonymize", "talk.wav", "--rttm", "talk.rttm", "-s", "mcadams")
    refused(command(*words, *options), why)
    assert sorted(os.listdir(tmp_path)) == before


def test_turns_and_timelines_are_private(command, talk, tmp_path):
    before = os.umask(0)
    try:
        words = ["--turns", "talk.rttm", "-o", "t.rttm"]
        assert command("speakers", "talk.wav", *words).returncode == 0
        words = ["--rttm", "talk.rttm", "--dry-run", "--timeline", "t.html"]
        assert command("anonymize", "talk.wav", *words).returncode == 0
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "t.rttm").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "t.html").stat().st_mode) == 0o600


def stopped(monkeypatch, place, name, after):
    """Ctrl-C in a method after a number of its calls; counts the calls of all that follow."""
    calls, real = [], getattr(place, name)

    def counted(*arguments, **others):
        if len(calls) == after:
            raise KeyboardInterrupt
        calls.append(name)
        return real(*arguments, **others)

    monkeypatch.setattr(place, name, counted)
    return calls


def test_a_search_for_speakers_goes_on_where_it_was_interrupted(
    command, talk, tmp_path, monkeypatch
):
    from voicenym.diarization import window_vectors
    from voicenym.nets.activity.silero import SpeechProbabilities
    from voicenym.nets.speakers.speaker_encoder import Encoder

    monkeypatch.setattr(window_vectors, "AT_ONCE", 8)
    before = sorted(os.listdir(tmp_path))
    with monkeypatch.context() as patch:
        whole = stopped(patch, Encoder, "embed", -1)
        assert command("speakers", "talk.wav", "-o", "whole.rttm").returncode == 0
    assert len(whole) > 6
    kept = tmp_path / ".voicenym-found.rttm.voices"
    for more in (3, 2):
        with monkeypatch.context() as patch:
            stopped(patch, Encoder, "embed", more)
            done = command("speakers", "talk.wav", "-o", "found.rttm")
        assert done.returncode == 130, done.stderr
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    with kept.open("ab") as file:
        file.write(b"{torn")
    with monkeypatch.context() as patch:
        rest = stopped(patch, Encoder, "embed", -1)
        heard = stopped(patch, SpeechProbabilities, "push", -1)
        done = command("speakers", "talk.wav", "-o", "found.rttm")
    assert done.returncode == 0, done.stderr
    assert len(rest) == len(whole) - 5
    assert not heard  # the first pass was complete
    assert (tmp_path / "found.rttm").read_bytes() == (tmp_path / "whole.rttm").read_bytes()
    assert sorted(os.listdir(tmp_path)) == sorted([*before, "found.rttm", "whole.rttm"])


def test_vectors_of_another_recording_are_not_used(command, talk, tmp_path, monkeypatch):
    from voicenym.diarization import window_vectors
    from voicenym.nets.speakers.speaker_encoder import Encoder

    monkeypatch.setattr(window_vectors, "AT_ONCE", 16)
    with monkeypatch.context() as patch:
        stopped(patch, Encoder, "embed", 1)
        assert command("speakers", "talk.wav", "-o", "found.rttm").returncode == 130
    sound, _ = soundfile.read(tmp_path / "talk.wav", dtype="int16")
    sound[100] += 1
    soundfile.write(tmp_path / "talk.wav", sound, RATE)
    with monkeypatch.context() as patch:
        calls = stopped(patch, Encoder, "embed", -1)
        assert command("speakers", "talk.wav", "-o", "found.rttm").returncode == 0
    with monkeypatch.context() as patch:
        alone = stopped(patch, Encoder, "embed", -1)
        assert command("speakers", "talk.wav", "-o", "alone.rttm").returncode == 0
    assert len(calls) == len(alone)


@pytest.fixture
def short_groups(monkeypatch):
    from voicenym.corpus.people import hidden_voices

    monkeypatch.setattr(hidden_voices, "GROUP_SECONDS", 1.0)


def test_hiding_people_goes_on_where_it_was_interrupted(
    command, talk, short_groups, tmp_path, monkeypatch
):
    from voicenym.systems.mcadams import McAdams

    command("key", "new", "project.key")
    given = ("anonymize", "talk.wav", "--rttm", "talk.rttm", "-s", "mcadams", "-k", "project.key")
    before = sorted(os.listdir(tmp_path))
    with monkeypatch.context() as patch:
        whole = stopped(patch, McAdams, "core", -1)
        assert command(*given, "-o", "whole.wav").returncode == 0
    assert len(whole) >= 4
    kept = tmp_path / ".voicenym-out.wav.parts"
    with monkeypatch.context() as patch:
        stopped(patch, McAdams, "core", 2)
        assert command(*given, "-o", "out.wav").returncode == 130
    assert sorted(os.listdir(tmp_path)) == sorted([kept.name, *before, "whole.wav"])
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert not [name for name in (b"anna", b"ben", b"talk") if name in kept.read_bytes()]
    part = kept.read_bytes()
    sound, _ = soundfile.read(tmp_path / "talk.wav", dtype="float32")
    assert not [at for at in range(0, len(sound) - 8, 997) if sound[at : at + 8].tobytes() in part]
    with monkeypatch.context() as patch:
        rest = stopped(patch, McAdams, "core", -1)
        done = command(*given, "-o", "out.wav")
    assert done.returncode == 0, done.stderr
    assert b"not writable" not in done.stderr
    assert len(rest) == len(whole) - 2
    assert (tmp_path / "out.wav").read_bytes() == (tmp_path / "whole.wav").read_bytes()
    assert sorted(os.listdir(tmp_path)) == sorted([*before, "out.wav", "whole.wav"])


@pytest.mark.parametrize("change", ["key", "setting", "none"])
def test_parts_of_another_voice_are_not_used(
    command, talk, short_groups, tmp_path, monkeypatch, change
):
    """Without a key, nothing is kept: the next run draws other voices."""
    from voicenym.systems.mcadams import McAdams

    command("key", "new", "one.key")
    command("key", "new", "two.key")
    given = ("anonymize", "talk.wav", "--rttm", "talk.rttm", "-s", "mcadams", "-o", "out.wav")
    keys = [] if change == "none" else ["--key", "one.key"]
    with monkeypatch.context() as patch:
        stopped(patch, McAdams, "core", 2)
        assert command(*given, *keys).returncode == 130
    assert (tmp_path / ".voicenym-out.wav.parts").exists() == (change != "none")
    more = {"key": ["--key", "two.key"], "setting": [*keys, "--set", "low=0.71"], "none": []}
    with monkeypatch.context() as patch:
        calls = stopped(patch, McAdams, "core", -1)
        assert command(*given, *more[change]).returncode == 0
    with monkeypatch.context() as patch:
        alone = stopped(patch, McAdams, "core", -1)
        assert command(*given[:-1], "alone.wav", *more[change]).returncode == 0
    assert len(calls) == len(alone)
    assert not (tmp_path / ".voicenym-out.wav.parts").exists()


def test_a_missing_folder_of_turns_is_refused_before_the_work(command, talk, monkeypatch):
    from voicenym.diarization import diarizer

    monkeypatch.delattr(diarizer, "diarize_file")
    done = command("speakers", "talk.wav", "-o", "no/talk.vtt")
    refused(done, "no/talk.vtt: its folder does not exist; create the folder first")
