"""Pipeline folders: compatible parts, and messages on others."""

import json
import shutil

import pytest
import torch

from voicenym import load
from voicenym.errors import UnknownSystemError, VoicenymError, WeightsError
from voicenym.nets.synthesis import synthesizers, vocoders
from voicenym.resynthesis.pipeline import assembly
from voicenym.resynthesis.pipeline.assembly import assemble, opened
from voicenym.resynthesis.pipeline.synthesis_settings import Settings


@pytest.fixture
def folder(pipelines, tmp_path):
    """A folder of a pipeline that a test may spoil."""
    shutil.copytree(pipelines / "ssl", tmp_path / "ssl")
    return tmp_path / "ssl"


def test_parts_come_back_with_their_settings(small_parts, tmp_path):
    parts = {name: small_parts["ssl"][name] for name in assembly.NEEDED}
    assemble(tmp_path / "a", parts, Settings("live", 70.0, 300.0, "root"), {"content": "x"})
    found = opened(tmp_path / "a")
    assert (found.content.kind, found.speaker.kind) == ("hubert-soft", "ecapa")
    assert found.settings == Settings("live", 70.0, 300.0, "root")
    assert found.tracker.hop == 0.01
    scaled = found.settings.scaled(torch.rand(2, 12))
    torch.testing.assert_close(scaled.norm(dim=1), torch.full((2,), 12.0).sqrt())


def test_a_part_is_added_to_a_folder_and_others_stay(small_parts, tmp_path):
    parts = small_parts["ssl"]
    assemble(tmp_path, {name: parts[name] for name in assembly.NEEDED}, Settings(lowest=50.0))
    before = assembly.version(tmp_path)
    with pytest.raises(WeightsError, match="assemble --pool"):
        assembly.part(tmp_path, "pool")
    assemble(tmp_path, {"pool": parts["pool"]})
    assert assembly.part(tmp_path, "pool").is_dir()
    assert opened(tmp_path).settings.lowest == 50.0
    assert assembly.version(tmp_path) != before
    assert assembly.adjusted(tmp_path, {"highest": 350.0}) == Settings(lowest=50.0, highest=350.0)


def test_missing_weights_and_foreign_folders_have_different_messages(tmp_path):
    with pytest.raises(WeightsError, match="models assemble"):
        opened(tmp_path / "nothing")
    with pytest.raises(WeightsError, match="models assemble"):
        opened(tmp_path)
    (tmp_path / "holiday.jpg").write_bytes(b"")
    with pytest.raises(VoicenymError, match="not the folder of a pipeline"):
        opened(tmp_path)
    assert assembly.version(tmp_path) == ""


def test_a_single_part_is_no_pipeline(small_parts):
    with pytest.raises(VoicenymError, match="holds ecapa"):
        opened(small_parts["ssl"]["speaker"])


@pytest.mark.parametrize("name", assembly.NEEDED)
def test_a_missing_part_names_the_command_that_adds_it(folder, name):
    shutil.rmtree(folder / name)
    with pytest.raises(WeightsError, match=f"assemble --{name}"):
        opened(folder)


@pytest.mark.parametrize("name", assembly.NEEDED)
def test_damaged_weights_are_refused_by_their_path(folder, name):
    path = folder / name / "model.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(VoicenymError, match=rf"{name}/model\.safetensors: damaged"):
        opened(folder)


def test_a_part_that_was_exchanged_by_hand_is_noticed(folder, small_parts):
    shutil.rmtree(folder / "synthesizer")
    shutil.copytree(small_parts["b1b"]["synthesizer"], folder / "synthesizer")
    with pytest.raises(VoicenymError, match="put together"):
        opened(folder)


def test_a_shared_part_stays_where_it_lies_and_moves_with_both_folders(small_parts, tmp_path):
    ssl = small_parts["ssl"]
    assemble(tmp_path / "one" / "first", ssl)
    parts = {name: tmp_path / "one" / "first" / name for name in ssl}
    shared = ("content", "speaker", "pool")
    second = tmp_path / "one" / "second"
    assemble(second, parts, shared=shared)
    assert not any((second / name).exists() for name in shared)
    assert (second / "synthesizer").is_dir()
    assert assembly.version(second)
    shutil.move(tmp_path / "one", tmp_path / "two")
    first, second = tmp_path / "two" / "first", tmp_path / "two" / "second"
    assert assembly.part(second, "pool").resolve() == (first / "pool").resolve()
    both = opened(first).content.state_dict(), opened(second).content.state_dict()
    assert all(torch.equal(both[0][name], both[1][name]) for name in both[0])
    # an added part leaves the shared ones where they are, and a copy of its own replaces one
    assemble(second, {"pool": first / "pool"})
    assert (second / "pool").is_dir()
    assert not (second / "content").exists()
    config = json.loads((second / "config.json").read_text("utf-8"))
    assert set(config["shared"]) == {"content", "speaker"}
    shutil.rmtree(first / "speaker")
    with pytest.raises(VoicenymError, match="has no speaker"):
        assembly.part(second, "speaker")


def test_a_part_of_a_revision_changes_no_version_and_a_part_that_is_given_replaces_it(
    folder, small_parts
):
    roh = small_parts["ssl"]["roh"]
    before = assembly.version(folder)
    assert assembly.of_revision(folder, "roh", 2) == "roh"
    assemble(folder, {"roh-2": roh})
    assert assembly.version(folder) == before
    for name, revision, used in (("roh", 1, "roh"), ("roh", 2, "roh-2"), ("loh", 2, "loh")):
        assert assembly.of_revision(folder, name, revision) == used
    assemble(folder, {"pool": small_parts["ssl"]["pool"]})
    assert assembly.of_revision(folder, "roh", 2) == "roh-2"
    for other in ("roh", "loh"):  # the second time, what lies there is not put in again
        assemble(folder, {other: small_parts["ssl"][other]})
        assert assembly.of_revision(folder, "roh", 2) == "roh"


def test_a_later_synthesizer_is_checked_as_the_first_one(folder, small_parts):
    ssl, b1 = small_parts["ssl"], small_parts["b1b"]
    assemble(folder, {"synthesizer-7": ssl["synthesizer"]})
    assert assembly.of_revision(folder, "synthesizer", 6) == "synthesizer"
    assert assembly.of_revision(folder, "synthesizer", 7) == "synthesizer-7"
    with pytest.raises(VoicenymError, match="synthesizer"):
        assemble(folder, {"synthesizer-7": b1["synthesizer"]})


def test_soft_units_need_content_of_codes(small_parts, tmp_path):
    assemble(tmp_path, {**small_parts["ssl"]})
    identity = "blank"
    load("ssl-gmm", weights=str(tmp_path), identity=identity).check()
    with pytest.raises(UnknownSystemError, match="hubert-soft, which has no codes; leave it out"):
        load("ssl-gmm", weights=str(tmp_path), identity=identity, units="soft").check()
    with pytest.raises(UnknownSystemError, match="units is codes or soft, not 'hard'"):
        load("ssl-gmm", units="hard")


def test_another_vocoder_speaks_from_the_acoustic_model_of_the_synthesizer(small_parts, tmp_path):
    """It changes nothing without the setting, and goes with a synthesizer of another training."""
    b1 = small_parts["b1a"]
    folder, parts = tmp_path / "weights", {name: b1[name] for name in (*assembly.NEEDED, "pool")}
    assemble(folder, parts)
    sizes = synthesizers.load(b1["synthesizer"]).config()
    torch.manual_seed(1)
    some = {"channels": 4, "blocks": 1, "convolutions": 1, "width": 4, "speaker_width": 2}
    vocoder = vocoders.make(
        "folded-nsf", {"features": sizes["mels"], "speaker": sizes["speaker"], **some}
    )
    vocoders.save(vocoder, tmp_path / "vocoder")
    before = assembly.version(folder)
    assemble(folder, {"nsf": tmp_path / "vocoder"})
    assert assembly.version(folder) == before
    usual, other = load("b1a", weights=str(folder)), load("b1a", weights=str(folder), vocoder="nsf")
    assert usual.version == before
    assert other.version != before
    other.check()
    first, second = usual.synthesizer_of(1), other.synthesizer_of(1)
    assert first.kind == "acoustic-nsf"
    assert second.kind == "acoustic-nsf-folded"
    assert second.acoustic is first.acoustic
    assert other.synthesizer_of(1) is second
    wider = vocoders.make("folded-nsf", {"features": 3, "speaker": sizes["speaker"], **some})
    vocoders.save(wider, tmp_path / "wider")
    with pytest.raises(VoicenymError, match="the vocoder has features 3"):
        assemble(folder, {"nsf": tmp_path / "wider"})
    assemble(folder, {"synthesizer": b1["synthesizer"]})
    assert usual.synthesizer_of(1).kind == "acoustic-nsf"
    with pytest.raises(UnknownSystemError, match=r"has no nsf/; .* leave out vocoder=nsf"):
        other.synthesizer_of(1)
    with pytest.raises(UnknownSystemError, match="no vocoder 'wavenet'; give nsf"):
        load("b1a", vocoder="wavenet")


def test_a_small_hifigan_speaks_from_the_frame_network_of_the_synthesizer(small_parts, tmp_path):
    ssl, folder = small_parts["ssl"], tmp_path / "weights"
    sizes = {"content": 10, "speaker": 12, "width": 8, "inner": 16, "blocks": 1}
    torch.manual_seed(1)
    synthesizers.save(synthesizers.make("istft-vocoder", sizes), tmp_path / "istft")
    size = {"rates": [8, 5, 4], "channels": 8}
    vocoders.save(vocoders.make("hifigan-head", {"inputs": 8, "size": size}), tmp_path / "hifigan")
    parts = {"content": ssl["content"], "speaker": ssl["speaker"], "pool": ssl["pool"]}
    assemble(folder, {**parts, "synthesizer": tmp_path / "istft"})
    before = assembly.version(folder)
    assemble(folder, {"hifigan": tmp_path / "hifigan"})
    given = {"weights": str(folder), "affinity": "cosine"}
    usual, other = load("ssl-select", **given), load("ssl-select", **given, vocoder="hifigan")
    assert usual.version == before != other.version
    first, second = usual.synthesizer_of(2), other.synthesizer_of(2)
    assert (first.kind, second.kind) == ("istft-vocoder", "convnext-hifigan")
    assert second.frames is first
    with pytest.raises(UnknownSystemError, match="no vocoder 'nsf'; give hifigan"):
        load("ssl-select", vocoder="nsf")
    vocoders.save(vocoders.make("hifigan-head", {"inputs": 9, "size": size}), tmp_path / "wider")
    with pytest.raises(VoicenymError, match="frames of 9 numbers"):
        assemble(folder, {"hifigan": tmp_path / "wider"})


def test_a_later_hifigan_has_the_place_of_the_former_from_its_revision_on(small_parts, tmp_path):
    ssl, folder = small_parts["ssl"], tmp_path / "weights"
    sizes = {"content": 10, "speaker": 12, "width": 8, "inner": 16, "blocks": 1}
    torch.manual_seed(1)
    synthesizers.save(synthesizers.make("istft-vocoder", sizes), tmp_path / "istft")
    size = {"rates": [8, 5, 4], "channels": 8}
    for name in ("hifigan", "hifigan-speaker"):
        vocoders.save(vocoders.make("hifigan-head", {"inputs": 8, "size": size}), tmp_path / name)
    parts = {"content": ssl["content"], "speaker": ssl["speaker"], "pool": ssl["pool"]}
    parts |= {"synthesizer": tmp_path / "istft", "hifigan": tmp_path / "hifigan"}
    assemble(folder, parts)
    system = load("ssl-select", weights=str(folder), affinity="cosine", vocoder="hifigan")
    latest, before = system.revisions[-1], system.version
    assert {system.vocoder_of(one) for one in system.revisions} == {"hifigan"}
    assemble(folder, {"hifigan-speaker": tmp_path / "hifigan-speaker"})
    assert system.version == before, "keys that exist keep their voices"
    assert [system.vocoder_of(one) for one in system.revisions] == [
        *["hifigan"] * (len(system.revisions) - 1),
        "hifigan-speaker",
    ]
    former, later = (system.synthesizer_of(one) for one in (latest - 1, latest))
    assert former.frames is later.frames
    differ = [
        not torch.equal(a, b)
        for a, b in zip(former.vocoder.parameters(), later.vocoder.parameters(), strict=True)
    ]
    assert any(differ)
    with pytest.raises(UnknownSystemError, match="no vocoder 'hifigan-speaker'; give hifigan"):
        load("ssl-select", vocoder="hifigan-speaker")
    synthesizers.save(synthesizers.make("istft-vocoder", sizes), tmp_path / "istft-2")
    assemble(folder, {"synthesizer": tmp_path / "istft-2"})
    assert not assembly.belongs(folder, "hifigan-speaker"), "it was trained with the other frames"


def test_parts_of_other_sizes_and_kinds_are_named(small_parts, tmp_path):
    ssl, b1 = small_parts["ssl"], small_parts["b1b"]
    parts = {name: ssl[name] for name in assembly.NEEDED}

    def given(match, **changed):
        with pytest.raises(VoicenymError, match=match):
            assemble(tmp_path / "never", {**parts, **changed})
        assert not (tmp_path / "never").exists()

    given("content .tdnnf. gives 8 numbers", content=b1["content"])
    given("speaker .xvector. gives 14 numbers", speaker=b1["speaker"])
    given("no content encoder", content=ssl["speaker"])
    given("pool: is of speaker vectors of 14", pool=b1["pool"])
    given("of the form roh, not loh", loh=ssl["roh"])
    given("no pool", pool=ssl["roh"])
    given("no part 'vocoder'", vocoder=ssl["roh"])
    given("no register", register=ssl["roh"])


def test_vectors_of_other_weights_of_the_encoder_are_refused(small_parts, tmp_path):
    from voicenym.nets.speakers import speaker_encoders

    torch.manual_seed(1)
    options = {"channels": 16, "size": 12, "attention": 8, "squeeze": 8}
    speaker_encoders.save(speaker_encoders.make("ecapa", options), tmp_path / "speaker")
    parts = {**small_parts["ssl"], "speaker": tmp_path / "speaker"}
    with pytest.raises(VoicenymError, match="other weights of the speaker encoder"):
        assemble(tmp_path / "a", parts)


def test_a_pool_may_name_the_checkpoint_that_the_encoder_was_converted_from(small_parts, tmp_path):
    from voicenym.identity.pools import speaker_pool
    from voicenym.nets.speakers import speaker_encoders

    encoder = speaker_encoders.load(small_parts["ssl"]["speaker"])
    speaker_encoders.save(
        encoder, tmp_path / "speaker", {"its SHA-256": "0123456789abcdef" + 48 * "0"}
    )
    people = speaker_pool.load(small_parts["ssl"]["pool"])
    from dataclasses import replace

    speaker_pool.save(replace(people, version="0123456789abcdef"), tmp_path / "pool")
    parts = {name: small_parts["ssl"][name] for name in assembly.NEEDED}
    assemble(tmp_path / "a", {**parts, "speaker": tmp_path / "speaker", "pool": tmp_path / "pool"})
    assert "pool" in assembly.there_are(tmp_path / "a")


def test_settings_that_mean_nothing_are_refused(folder):
    for wrong, match in (
        ({"tracker": "ear"}, "no pitch tracker"),
        ({"scale": "double"}, "scale is one of"),
        ({"lowest": 500.0}, "none"),
    ):
        with pytest.raises(VoicenymError, match=match):
            Settings(**wrong)
        given = json.loads((folder / "config.json").read_text("utf-8"))
        (folder / "config.json").write_text(json.dumps({**given, **wrong}), "utf-8")
        with pytest.raises(VoicenymError, match=rf"config\.json: .*{match}"):
            opened(folder)
        (folder / "config.json").write_text(json.dumps(given), "utf-8")
