import pytest

from voicenym.errors import VoicenymError
from voicenym.training.codec.musa_config import MusaConfig
from voicenym.training.run.config import build, bundled, changed, load
from voicenym.training.speakers.train_verifier import VerifierConfig


def test_every_bundled_configuration_of_a_verifier_loads():
    names = [name for name in bundled() if name.startswith(("ecapa", "xvector"))]
    assert names
    for name in names:
        assert load(name, VerifierConfig).batch > 1
        assert load(name.removesuffix(".yaml"), VerifierConfig) == load(name, VerifierConfig)


def test_a_file_fills_fields_and_inner_ones(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("rate: 5e-4\nspeeds: [1.0]\nschedule: {cycles: 3}\noptions: {channels: 64}\n")
    found = load(str(path), VerifierConfig)
    assert found.rate == 5e-4
    assert found.speeds == (1.0,)
    assert found.schedule.cycles == 3
    assert found.options == {"channels": 64}
    assert found.batch == VerifierConfig().batch


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rates: 1", "no field 'rates'"),
        ("schedule: {cicles: 1}", "no field 'cicles'"),
        ("rate: fast", "is no number"),
        ("batch: many", "is no int"),
        ("- 1", "field: value"),
        ("a: [", "no YAML"),
        ("every: 0", "every: 1 at least, not 0"),
        ("steps: -5", "steps: 1 at least, not -5"),
        ("batch: 0", "batch: 1 at least"),
        ("seed: -1", "seed: 0 at least"),
        ("seed: 4294967296", "seed: 4294967295 at most"),
        ("held_out: 2.0", "a share of the speakers is from 0 to 1, not 2"),
        ("speeds: [fast]", "speeds: 'fast' is no number"),
        ("speeds: [[1.0]]", r"speeds: \[1.0\] is no number"),
        ("batch: true", "True is no int"),
        ("decay: true", "True is no float"),
        ("rate: -1", "a rate is above 0, not -1"),
        ("rate: 0", "a rate is above 0, not 0"),
        ("scale: .nan", "nan is no finite number"),
        ("decay: inf", "inf is no finite number"),
        ("schedule: {cycles: 0}", "1 cycle or more"),
        ("schedule: {rise: 1.5}", "a rise and a floor from 0 to 1"),
        ("schedule: {floor: 2}", "a rise and a floor from 0 to 1"),
    ],
)
def test_mistakes_are_named(tmp_path, text, message):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(VoicenymError, match=message):
        load(str(path), VerifierConfig)


def test_an_unknown_name_lists_what_there_is():
    with pytest.raises(VoicenymError, match="ecapa-small"):
        load("nothing", VerifierConfig)


def test_changes_leave_what_is_none():
    small = VerifierConfig(steps=40)
    assert changed(small, steps=None, batch=8) == VerifierConfig(steps=40, batch=8)
    assert changed(small) == small


@pytest.mark.parametrize("value", ["x", 2.5, True, None])
def test_elements_of_whole_numbers_are_whole_numbers(value):
    with pytest.raises(VoicenymError, match=f"mels: {value!r} is no int"):
        build(MusaConfig, {"mels": [1024, value]}, "mine")
    assert build(MusaConfig, {"mels": [1024, 512]}, "mine").mels == (1024, 512)
