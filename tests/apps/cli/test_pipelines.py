"""Systems that need weights, from the command line: with, without, and with invalid weights."""

import json
import shutil

import numpy as np
import pytest
import soundfile

from voicenym.resynthesis.pipeline import assembly

KINDS = ("content", "speaker", "synthesizer", "pool", "roh", "loh", "mixture", "register")
OFFLINE = {"HF_HUB_OFFLINE": "1", "no_proxy": "", "https_proxy": "http://127.0.0.1:9"}


@pytest.fixture
def inside(monkeypatch, tmp_path):
    """As ``command``, in this process: what a process of its own would say, and its status."""
    from typer.testing import CliRunner

    from voicenym.apps.cli import app
    from voicenym.errors import VoicenymError

    def run(*arguments, **environment):
        with monkeypatch.context() as patch:
            patch.chdir(tmp_path)
            for name, value in environment.items():
                patch.setenv(name, value)
            result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        given = result.output
        if isinstance(result.exception, VoicenymError):
            given += str(result.exception)
        elif result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.exit_code, given

    return run


@pytest.fixture
def assembled(inside, small_parts, tmp_path):
    """A folder that the command made."""
    parts = small_parts["ssl"]
    options = [text for name in KINDS for text in (f"--{name}", parts[name])]
    status, given = inside("models", "assemble", *options, "-o", tmp_path / "w" / "ssl", **OFFLINE)
    assert status == 0, given
    assert "hubert-soft, ecapa, hifigan; pool, roh, loh, mixture, register" in given
    return tmp_path / "w" / "ssl"


def test_a_file_is_anonymized_offline_by_any_way_to_name_the_weights(
    process, inside, assembled, speech
):
    recording = speech("talk.wav", 1.3)
    key = recording.parent / "k.key"
    assert inside("key", "new", key)[0] == 0
    base = ("anonymize", recording, "--system", "ssl-loh", "-k", key)
    done = process(
        *base, "--set", f"weights={assembled}", "-o", recording.parent / "0.wav", **OFFLINE
    )
    assert done.returncode == 0, done.stderr.decode()
    samples, rate = soundfile.read(recording.parent / "0.wav")
    assert (rate, len(samples)) == (16_000, soundfile.info(recording).frames)
    ways = (
        (("--weights", assembled), {}),
        ((), {"VOICENYM_WEIGHTS": str(assembled.parent)}),
        (("--set", "f0=moved", "--weights", assembled), {}),
    )
    for number, (way, environment) in enumerate(ways, 1):
        target = recording.parent / f"{number}.wav"
        status, given = inside(*base, *way, "-o", target, **environment, **OFFLINE)
        assert status == 0, given
    sounds = [soundfile.read(recording.parent / f"{n}.wav")[0] for n in range(4)]
    for sound in sounds[1:3]:
        np.testing.assert_allclose(sound, sounds[0], atol=1e-3)
    assert np.abs(sounds[3] - sounds[0]).max() > 3e-3  # the others agree to 1e-3


def test_a_corpus_is_not_gone_on_with_under_other_weights(inside, assembled, speech):
    for name in ("corpus/a/1.wav", "corpus/b/1.wav"):
        speech(name, 0.6)
    root = assembled.parents[1]
    assert inside("key", "new", root / "k.key")[0] == 0
    run = ("anonymize", root / "corpus", "-o", root / "anon", "-k", root / "k.key")
    run = (*run, "-s", "ssl-gmm", "--weights", assembled)
    assert inside(*run)[0] == 0
    assert "2 already done" in inside(*run)[1]
    assert inside("models", "assemble", "--scale", "root", "-o", assembled)[0] == 0
    status, given = inside(*run)
    assert status == 1
    assert "was made with weights" in given
    assert "go on with the weights that made them" in given


def test_without_weights_nothing_is_written_and_the_cure_is_named(inside, speech):
    recording = speech("talk.wav", 0.5)
    nowhere = recording.parent / "nowhere"
    status, given = inside("anonymize", recording, "--system", "b1a", "--weights", nowhere)
    assert status == 1
    assert "voicenym models assemble" in given
    assert not (recording.parent / "talk.anon.wav").exists()


def test_damaged_weights_end_with_one_line_and_a_status(command, inside, assembled, speech):
    recording = speech("talk.wav", 0.5)
    path = assembled / "synthesizer" / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-4] + b"xxxx")
    done = command("anonymize", recording, "-s", "ssl-loh", "--weights", assembled)
    given = done.stderr.decode()
    assert done.returncode == 1
    assert "damaged" in given
    assert "Traceback" not in given
    for folder, match in (
        (recording.parent, "not the folder of a pipeline"),
        (assembled / "speaker", "holds ecapa"),
    ):
        status, given = inside("anonymize", recording, "-s", "ssl-loh", "--weights", folder)
        assert status == 1
        assert match in given
    assert not list(recording.parent.glob("*.anon.wav"))


def test_a_system_without_weights_of_its_own_has_no_such_option(inside, speech):
    status, given = inside("anonymize", speech("talk.wav", 0.5), "-s", "mcadams", "--weights", "x")
    assert status == 1
    assert "mcadams has no parameter weights; it has: voice_kind, voice_variant, device" in given


def test_parts_that_do_not_fit_are_named_by_the_command(inside, small_parts, tmp_path):
    ssl, b1 = small_parts["ssl"], small_parts["b1a"]
    make = ("models", "assemble", "-o", tmp_path / "w", "--content")
    rest = ("--speaker", ssl["speaker"], "--synthesizer", ssl["synthesizer"])
    for arguments, match in (
        ((b1["content"], *rest), "the content (tdnnf) gives 8 numbers"),
        ((ssl["content"],), "give --speaker"),
        ((tmp_path / "gone", *rest), "gone"),
        ((ssl["content"], *rest, "--tracker", "ear"), "no pitch tracker"),
    ):
        status, given = inside(*make, *arguments)
        assert status == 1
        assert match in given
    assert not (tmp_path / "w").exists()


def test_what_is_not_here_is_not_fetched(inside, small_parts, tmp_path):
    ssl = small_parts["ssl"]
    status, given = inside(
        "models", "assemble", "-o", tmp_path / "w", "--speaker", "ecapa-voxceleb",
        "--content", ssl["content"], "--synthesizer", ssl["synthesizer"],
        HF_HOME=str(tmp_path / "hub"), **OFFLINE,
    )  # fmt: skip
    assert status == 1
    assert "voicenym models pull ecapa-voxceleb" in given
    assert not (tmp_path / "w").exists()


def test_systems_says_whose_weights_are_needed(inside):
    needs = {row["name"]: row["needs"] for row in json.loads(inside("systems", "--json")[1])}
    assert needs["asr-tts"].startswith("weights, not bundled")
    for name in ("ssl-select", "ssl-roh", "ssl-loh", "ssl-gmm", "b1b"):
        assert needs[name].startswith("bundled weights, of English")


def test_who_evaluates_all_hears_what_is_left_out_for_want_of_weights(
    pipelines, monkeypatch, capsys, tmp_path
):
    from voicenym.anonymizer import available, usable
    from voicenym.apps.cli.evaluating.evaluate_plan import say_left_out
    from voicenym.errors import VoicenymError

    found = usable(say_left_out)
    assert set(found) == set(available()) - {"asr-tts"}
    given = capsys.readouterr().err
    assert "asr-tts is left out: " in given
    monkeypatch.setenv("VOICENYM_WEIGHTS", str(pipelines))
    assert usable() == [name for name in available() if name != "asr-tts"]
    monkeypatch.setenv("VOICENYM_WEIGHTS", str(tmp_path))
    (tmp_path / "b1a").mkdir()
    (tmp_path / "b1a" / "something").touch()
    with pytest.raises(VoicenymError, match="not the folder of a pipeline"):
        usable()  # there, and not as it should be


def test_a_register_is_of_a_bundled_encoder_by_its_name(inside, speech, tmp_path):
    for speaker in range(8):
        speech(f"corpus/s{speaker}/u.wav", 0.8)
    status, given = inside(
        "train", "register", "-d", tmp_path / "corpus", "-o", tmp_path / "register",
        "--speaker", "ecapa-small",
    )  # fmt: skip
    assert status == 0, given


def test_a_register_is_trained_and_added(inside, small_parts, speech, tmp_path):
    for speaker in range(8):
        speech(f"corpus/s{speaker}/u.wav", 0.8)
    ssl = small_parts["ssl"]
    status, given = inside(
        "train", "register", "-d", tmp_path / "corpus", "-o", tmp_path / "register",
        "--speaker", ssl["speaker"],
    )  # fmt: skip
    assert status == 0, given
    options = [text for name in KINDS[:3] for text in (f"--{name}", ssl[name])]
    register = ("--register", tmp_path / "register", "-o", tmp_path / "w")
    status, given = inside("models", "assemble", *options, *register)
    assert status == 0, given


def test_halves_and_methods_that_do_not_fit_from_the_command_line(
    inside, pipelines, speech, tmp_path
):
    recording = speech("talk.wav", 0.5)
    lies = {"VOICENYM_WEIGHTS": str(pipelines), **OFFLINE}
    pool = pipelines / "b1a" / "pool"
    for number, part in enumerate(("vocoder", "acoustic")):
        half = f"identity=half:of=(selection:pool={pool}),part={part}"
        target = tmp_path / f"{number}.wav"
        status, given = inside(
            "anonymize", recording, "-s", "b1a", "--set", half, "-o", target, **lies
        )
        assert status == 0, given
        assert soundfile.info(target).frames == soundfile.info(recording).frames
    for system, text, wanted in (
        ("b1b", half, "b1b: half gives two parts"),
        ("base", half, "base: half gives two parts"),
        ("b1a", "identity=formant-pitch", "b1a: formant-pitch scales formants"),
        ("musa", "identity=half:of=copy", "half: of is a method in parentheses"),
    ):
        never = tmp_path / "never.wav"
        status, given = inside(
            "anonymize", recording, "-s", system, "--set", text, "-o", never, **lies
        )
        assert status != 0
        assert wanted in given
        assert not never.exists()


def test_parts_may_lie_in_the_current_folder(inside, assembled, small_parts, tmp_path):
    for name in ("pool", "content"):
        shutil.copytree(small_parts["ssl"][name], tmp_path / name)
    given = ("--pool", "pool/", "--content", "./content")
    status, text = inside("models", "assemble", *given, "-o", assembled)
    assert status == 0, text


def test_parts_of_another_pipeline_are_referred_to(inside, assembled, tmp_path):
    status, given = inside("models", "assemble", "--base", assembled, "-o", tmp_path / "again")
    assert status == 0, given
    recorded, former = (
        json.loads((folder / "config.json").read_text())
        for folder in (tmp_path / "again", assembled)
    )
    assert recorded["parts"] == former["parts"]
    assert set(recorded["shared"]) == set(recorded["parts"])
    assert assembly.version(tmp_path / "again") == assembly.version(assembled)


def test_a_base_that_is_no_pipeline_is_refused(inside, tmp_path):
    status, given = inside("models", "assemble", "--base", "nothing", "-o", tmp_path / "never")
    assert status == 1
    assert "give its folder as ./FOLDER, or one of b1a, b1b, ssl" in given
    assert not (tmp_path / "never").exists()


def test_other_drawn_accents_go_without_the_live_encoder_of_the_base(inside, tmp_path):
    drawn = tmp_path / "drawn"
    shutil.copytree(assembly.located(assembly.BUNDLED / "ssl", "drawn"), drawn)
    folder = tmp_path / "mine"
    status, given = inside("models", "assemble", "--base", "ssl", "--drawn", drawn, "-o", folder)
    assert status == 0, given
    there = assembly.there_are(folder)
    gone = {"live", "live-8"}
    assert not gone.intersection(there)
    assert {*there, *gone} == set(assembly.there_are(assembly.BUNDLED / "ssl"))
