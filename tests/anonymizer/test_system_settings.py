"""Systems with settings: names in a report, and equal settings however they are written."""

import pytest

from voicenym.anonymizer import SYSTEMS, load
from voicenym.anonymizer.system_settings import changed, label, labelled, parsed, unmeasured
from voicenym.errors import VoicenymError
from voicenym.reproduction.counterparts import BUNDLED


def test_defaults_and_ways_of_writing_do_not_matter():
    assert parsed("mcadams:low=0.5,high=0.9,order=20") == ("mcadams", {})
    assert parsed("mcadams:high=1,low=0.8") == parsed("mcadams: low = 0.80, high=1.0")
    assert changed("pv-tsm", {"low": 3, "high": 5}) == {"low": 3.0}


@pytest.mark.parametrize("text", ["mcadams:low=0.8,high=0.8", "formant:rate=true", "vcloak"])
def test_a_name_without_folders_can_be_typed_again(text):
    name, settings = parsed(text)
    shown = label(name, settings, "0123456789abcdef")
    assert parsed(shown) == (name, settings)
    assert load(shown) == load(text)


def test_weights_of_ones_own_are_in_the_name():
    assert labelled("mcadams:high=0.8,low=0.8") == "mcadams:high=0.8,low=0.8"
    digest = load("ssl-select").version[:8]
    assert labelled(f"ssl-select:weights={BUNDLED}") == f"ssl-select:weights=ssl@{digest}"


def test_an_inner_method_keeps_its_commas():
    text = "base:identity=(half:of=(copy),x=1)"
    name, settings = parsed(text)
    assert settings == {"identity": "half:of=(copy),x=1"}
    assert label(name, settings) == text


def test_folders_are_named_by_the_digest_and_not_by_where_they_are():
    places = {
        "weights": "/elsewhere/ann/secret/mine/",
        "identity": "selection:pool=../a/pool,world=5",
    }
    shown = label("base", places, "0123456789abcdef")
    assert shown == "base:identity=(selection:pool=pool@01234567,world=5),weights=mine@01234567"
    other = label("base", {**places, "weights": "/elsewhere/mine"}, "fedcba9876543210")
    assert other != shown, "folders of one name and other contents are told apart"


@pytest.mark.parametrize("name", sorted(set(SYSTEMS)))
def test_a_system_with_default_settings_is_the_measured_one(name):
    assert unmeasured(load(name)) == ""


def test_what_the_figures_of_a_card_are_not_of():
    assert unmeasured(load("mcadams", low=0.8, high=1, device="cpu")) == "high=1,low=0.8"
    assert unmeasured(load("recast", voice_kind="low", voice_variant=2)) == (
        "voice_kind=low,voice_variant=2"
    )
    own = load("asr-tts", recogniser="./here", synthesiser="./there.onnx", level="kept")
    assert unmeasured(own) == "level=kept", "weights that no package holds are no settings"


@pytest.mark.parametrize(("name", "folder"), [("musa", "musa"), ("ssl-loh", "ssl")])
def test_weights_in_place_of_bundled_ones_are_not_the_measured_ones(
    name, folder, tmp_path, monkeypatch
):
    monkeypatch.setenv("VOICENYM_WEIGHTS", str(tmp_path))
    assert unmeasured(load(name)) == ""
    (tmp_path / folder).mkdir()
    own = load(name)
    assert own.own_weights == str(tmp_path / folder)
    assert unmeasured(own) == f"your weights in {tmp_path / folder}"
    assert load(name, weights="./mine").own_weights == "", "which the setting names"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mcadamz:low=0.8", "did you mean mcadams"),
        ("mcadams:lwo=0.8", "did you mean low"),
        ("mcadams:low=much", "low is a number, which 'much' is not"),
        ("mcadams:low", "is not FIELD=VALUE"),
        ("mcadams:low=0.8,low=0.9", "given twice"),
    ],
)
def test_mistakes_name_what_is_near(text, message):
    with pytest.raises(VoicenymError, match=message):
        parsed(text)


def test_every_system_of_ours_has_no_settings_by_default():
    for name in SYSTEMS.names():
        assert changed(name, {p.name: p.default for p in SYSTEMS.parameters(name)}) == {}


def test_the_device_is_no_part_of_a_name():
    assert label("base", {"device": "cuda"}) == "base"
    assert label("mcadams", {"device": "cuda", "low": 0.8}) == "mcadams:low=0.8"
