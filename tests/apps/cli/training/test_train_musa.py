"""``voicenym train musa``: from a folder of speakers to a codec."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from voicenym.apps.cli import app
from voicenym.errors import VoicenymError

pytest.importorskip("lightning")

CONFIG = """
codec: {channels: 2, size: 8, layers: 1, codebooks: 2, entries: 8, speaker: 8, causal: true}
seconds: 0.2
batch: 2
every: 2
judges: 0.03
"""


@pytest.fixture(scope="module")
def buzzers(tmp_path_factory, buzz):
    """Four speakers who buzz at pitches of their own, and units of their cepstra."""
    import torch

    from voicenym.nets.content.units import Units

    root = tmp_path_factory.mktemp("speech")
    buzz(root / "train", speakers=4, time=8_000)
    (root / "tiny.yaml").write_text(CONFIG)
    Units(torch.randn(6, 39), {"features": "cepstra"}).save(root / "units")
    Units(torch.randn(6, 39), {"features": "hubert", "layer": 3}).save(root / "others")
    return root


def test_a_codec_is_trained_and_kept(buzzers, tmp_path):
    out = tmp_path / "codec"
    arguments = [
        "train", "musa", "-d", buzzers / "train", "-c", buzzers / "tiny.yaml", "-o", out,
        "--units", buzzers / "units", "--steps", "2", "--accelerator", "cpu", "--workers", "0",
    ]  # fmt: skip
    done = CliRunner().invoke(app, [str(a) for a in arguments])
    assert done.exit_code == 0, done.output
    config = json.loads((out / "config.json").read_text())
    assert config["kind"] == "musa"
    assert config["card"]["teacher"] == {"features": "cepstra", "units": 6}
    assert config["card"]["speakers"] == 3
    from voicenym.nets.codec.codec import Codec

    codec, _ = Codec.load(out)
    assert codec.sizes.entries == 8


def test_trainings_of_one_teacher_share_its_labels_in_a_cache(buzzers, tmp_path):
    stamps = []
    for name in ("one", "other"):
        arguments = [
            "train", "musa", "-d", buzzers / "train", "-c", buzzers / "tiny.yaml", "--steps", "1",
            "--units", buzzers / "units", "--accelerator", "cpu", "--workers", "0",
            "--cache", tmp_path / "cache", "-o", tmp_path / name,
        ]  # fmt: skip
        done = CliRunner().invoke(app, [str(a) for a in arguments])
        assert done.exit_code == 0, done.output
        assert not (tmp_path / name / "labels").exists()
        files = sorted((tmp_path / "cache" / "labels").rglob("*.npy"))
        stamps.append([(path, path.stat().st_mtime_ns) for path in files])
    assert stamps[0] == stamps[1] != []


def test_the_command_of_the_error_for_want_of_weights_works(buzzers, tmp_path):
    """Word codes of the package are the teacher where ``--units bundled`` says so."""
    from voicenym.systems.musa import HOW

    given = {"CORPUS": buzzers / "train", "musa-quick": buzzers / "tiny.yaml", "FOLDER": tmp_path}
    arguments = [str(given.get(word, word)) for word in HOW.split()[1:]]
    more = ["--steps", "1", "--accelerator", "cpu", "--workers", "0", "--bits", "8"]
    done = CliRunner().invoke(app, [*arguments, *more])
    assert done.exit_code == 0, done.output
    config = json.loads((tmp_path / "config.json").read_text())
    assert config["card"]["teacher"].keys() == {"word codes", "hop"}


def refused(*arguments):
    done = CliRunner().invoke(app, ["train", "musa", *map(str, arguments)])
    assert isinstance(done.exception, VoicenymError), done.output
    return str(done.exception)


def test_mistakes_are_one_line(buzzers, tmp_path):
    given = ["-d", buzzers / "train", "-c", buzzers / "tiny.yaml", "-o", tmp_path / "out"]
    given += ["--accelerator", "cpu"]
    assert "weights: {semantic: 0}" in refused(*given)
    assert "give that by --features" in refused(*given, "--units", buzzers / "others")
    wrong = refused(*given, "--units", buzzers / "others", "--features", "cepstra")
    assert "are of other features" in wrong
    assert "holds no codec" in refused(*given, "--from", buzzers / "units")
    assert "holds no units" in refused(*given, "--units", _codec(tmp_path))


def _codec(folder):
    from voicenym.nets.codec.codec import Codec
    from voicenym.nets.codec.codec_config import CodecConfig

    Codec(CodecConfig(channels=1, size=2, entries=2, speaker=2)).save(folder / "c")
    return folder / "c"


def test_a_layer_of_xls_r_gives_units_by_its_weights(tmp_path):
    import torch

    transformers = pytest.importorskip("transformers")
    from voicenym.training.content.units.unit_features import features_of
    from voicenym.training.run.machine import Machine

    sizes = {
        "hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2,
        "intermediate_size": 20, "conv_dim": [8] * 7, "num_conv_pos_embeddings": 6,
        "num_conv_pos_embedding_groups": 4,
    }  # fmt: skip
    torch.manual_seed(0)
    model = transformers.Wav2Vec2Model(transformers.Wav2Vec2Config(**sizes))
    done = []
    for name in ("one", "copy"):
        model.save_pretrained(tmp_path / name)
        received, source = features_of(f"wav2vec2:{tmp_path / name}", 2, Machine("cpu"))
        assert received.extract(torch.randn(3200)).shape == (10, 16)
        done.append(source)
    assert done[0] == done[1]
    assert (done[0]["features"], done[0]["layer"]) == ("wav2vec2", 2)
    with pytest.raises(VoicenymError, match="nowhere"):
        features_of(f"wav2vec2:{tmp_path / 'nowhere'}", 2, Machine("cpu"))


def test_what_base_hears_of_content_gives_units(buzzers, tmp_path):
    from voicenym.systems.base import BUNDLED
    from voicenym.training.content.units.unit_features import features_behind, features_of
    from voicenym.training.run.machine import Machine

    received, source = features_of("base", 0, Machine("cpu"))
    assert (received.hop, received.size, source["features"]) == (320, 12, "narrow")
    assert features_of(f"narrow:{BUNDLED}", 0, Machine("cpu"))[1] == source
    # the bundled one needs no name; another is not taken for it
    assert features_behind(tmp_path, source, None, Machine("cpu")).size == 12
    with pytest.raises(VoicenymError, match="are of other features"):
        features_behind(tmp_path, {**source, "sha256": "0"}, None, Machine("cpu"))
    arguments = [
        "train", "units", "-d", buzzers / "train", "--features", "base", "--units", 2,
        "-o", tmp_path / "units",
    ]  # fmt: skip
    done = CliRunner().invoke(app, [str(a) for a in arguments])
    assert done.exit_code == 0, done.output


def test_a_tokenizer_is_trained_and_teaches(buzzers, tmp_path):
    out = tmp_path / "tokens"
    config = tmp_path / "tiny.yaml"
    config.write_text("options: {width: 4, entries: 4, code: 2}\nframes: 8\nevery: 2\n")
    arguments = [
        "train", "tokenizer", "-d", buzzers / "train", "--features", "cepstra", "-c", config,
        "-o", out, "--steps", "2", "--batch", "2", "--accelerator", "cpu", "--workers", "0",
    ]  # fmt: skip
    done = CliRunner().invoke(app, [str(a) for a in arguments])
    assert done.exit_code == 0, done.output
    assert "result: share of the variance lost " in done.output
    arguments = [
        "train", "musa", "-d", buzzers / "train", "-c", buzzers / "tiny.yaml",
        "-o", tmp_path / "codec", "--units", out, "--steps", "1", "--accelerator", "cpu",
        "--workers", "0",
    ]  # fmt: skip
    done = CliRunner().invoke(app, [str(a) for a in arguments])
    assert done.exit_code == 0, done.output
    teacher = json.loads((tmp_path / "codec" / "config.json").read_text())["card"]["teacher"]
    assert teacher["units"] == 4
    assert len(teacher["tokenizer"]) == 64
