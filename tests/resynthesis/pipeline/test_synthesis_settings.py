"""Training settings of a synthesizer are those of its pipeline."""

from __future__ import annotations

import json

import pytest

from voicenym.errors import VoicenymError
from voicenym.nets.synthesis import synthesizers
from voicenym.resynthesis.pipeline import assembly
from voicenym.resynthesis.pipeline.synthesis_settings import Settings, TrainingRecord, names

USED = Settings("live", 70.0, 300.0, "root")


@pytest.fixture
def trained(small_parts, tmp_path):
    """Parts whose synthesizer says what it was trained with."""
    parts = {name: small_parts["ssl"][name] for name in assembly.NEEDED}
    known = (tuple(sorted(names(parts[name]))) for name in ("content", "speaker"))
    network = synthesizers.load(parts["synthesizer"])
    synthesizers.save(network, tmp_path / "trained", None, **TrainingRecord(USED, *known).config())
    return {**parts, "synthesizer": tmp_path / "trained"}


def test_a_folder_is_used_as_its_synthesizer_was_trained(trained, small_parts, tmp_path):
    place = tmp_path / "a"
    before = {**trained, "synthesizer": small_parts["ssl"]["synthesizer"]}
    assembly.assemble(place, before, Settings(lowest=50.0))
    assert TrainingRecord.of(place / "synthesizer") is None
    assembly.assemble(place, {"synthesizer": trained["synthesizer"]})
    assert assembly.opened(place).settings == USED
    adjusted = assembly.adjusted(place, {"tracker": "yaapt"}, trained["synthesizer"])
    assert adjusted == Settings("yaapt", 70.0, 300.0, "root")
    assembly.assemble(place, {"pool": small_parts["ssl"]["pool"]})
    assert assembly.opened(place).settings == USED


@pytest.mark.parametrize("name", ["content", "speaker"])
def test_other_weights_of_the_same_size_are_refused(name, trained, tmp_path):
    from voicenym.nets.content import content_encoders as contents
    from voicenym.nets.speakers import speaker_encoders as speakers

    room = contents if name == "content" else speakers
    network = room.load(trained[name])
    next(iter(network.parameters())).data.mul_(1.01)
    room.save(network, tmp_path / "other")
    with pytest.raises(VoicenymError, match=f"trained with other weights of the {name}"):
        assembly.assemble(tmp_path / "a", {**trained, name: tmp_path / "other"})
    assert not (tmp_path / "a").exists()


def test_settings_that_mean_nothing_are_refused(trained):
    path = trained["synthesizer"] / "config.json"
    adjusted = json.loads(path.read_text("utf-8"))
    adjusted["learnt_with"]["scale"] = "double"
    path.write_text(json.dumps(adjusted), "utf-8")
    with pytest.raises(VoicenymError, match=r"config\.json: scale is one of"):
        TrainingRecord.of(trained["synthesizer"])
