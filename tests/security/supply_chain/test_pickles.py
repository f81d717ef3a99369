"""No pickle runs a program: weights of others are refused or converted with care."""

from __future__ import annotations

import ast
import os
import pickle
from pathlib import Path

import pytest
import torch
from package_locks import ROOT

from voicenym.errors import DependencyError, VoicenymError


class Bomb:
    """Leaves a mark where it is unpickled without care."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self):
        return (os.mkdir, (str(self.mark),))


def bombs(mark: Path) -> dict[str, object]:
    """In each place of a checkpoint that something looks at."""
    bomb = Bomb(mark)
    nested = ("model_state", "state_dict", "generator", "hubert", "model")
    return {
        "whole": bomb,
        "beside": {"a": torch.zeros(1), "b": bomb},
        **{n: {n: bomb} for n in nested},
    }


def readers(path: Path) -> dict:
    """What ``models convert`` makes of a checkpoint."""
    from voicenym.nets.checkpoint_conversion import KINDS, convert

    out = path.parent / "converted"
    (path.parent / "config.json").write_text('{"sampling_rate": 16000}')
    return {kind: lambda kind=kind: convert(path, kind, out) for kind in KINDS}


@pytest.mark.parametrize("legacy", [False, True], ids=["zip", "legacy"])
def test_a_pickle_that_would_run_a_program_is_refused(tmp_path, legacy):
    mark, path = tmp_path / "mark", tmp_path / "in" / "checkpoint.pt"
    path.parent.mkdir()
    for what in bombs(mark).values():
        torch.save(what, path, _use_new_zipfile_serialization=not legacy)
        for read in readers(path).values():
            with pytest.raises(VoicenymError):
                read()
            assert not mark.exists()
    path.write_bytes(pickle.dumps(Bomb(mark)))
    for read in readers(path).values():
        with pytest.raises(VoicenymError):
            read()
        assert not mark.exists()
    pickle.loads(path.read_bytes())  # the bomb is one
    assert mark.exists()


@pytest.mark.parametrize("version", ["2.4.1", "2.5.1+cu121", "2.9.1"])
def test_a_torch_that_unpickles_more_than_it_says_is_not_used(tmp_path, monkeypatch, version):
    from voicenym.nets.weights import pickles

    torch.save({"a": torch.zeros(1)}, tmp_path / "a.pt")
    assert pickles.state(tmp_path / "a.pt")["a"].shape == (1,)
    monkeypatch.setattr(torch, "__version__", version)
    with pytest.raises(DependencyError, match=r"does not read checkpoints safely.*torch>=2\.10"):
        pickles.state(tmp_path / "a.pt")


def test_resemblyzers_weights_are_known_by_their_digest(tmp_path, monkeypatch):
    from voicenym.nets import hub
    from voicenym.nets.weight_pull import pull

    (tmp_path / "pretrained.pt").write_bytes(b"other")
    monkeypatch.setenv("VOICENYM_WEIGHTS", str(tmp_path / "home"))
    with pytest.raises(VoicenymError, match=r"pretrained\.pt: damaged, or not what"):
        pull("resemblyzer", fetch=lambda *_: str(tmp_path / "pretrained.pt"))
    assert not hub.is_pulled("resemblyzer")


def loaders(place: Path) -> dict:
    """Whatever loads weights that a user names, with the kind that it tells to convert to."""
    from voicenym.nets.content import content_encoders as contents
    from voicenym.nets.content.hubert_published import from_hubert
    from voicenym.nets.content.wav2vec import Wav2Vec
    from voicenym.nets.encoder_folders import folder_of
    from voicenym.nets.speakers import speaker_encoders as encoders
    from voicenym.nets.synthesis import synthesizers
    from voicenym.nets.weights.safetensors_file import tensors
    from voicenym.training.cloak.vcloak_recipe import words_loss
    from voicenym.training.content.units.soft_content_recipe import initial_network
    from voicenym.training.content.units.train_hubert_soft import SoftConfig
    from voicenym.training.content.units.unit_features import features_of
    from voicenym.training.run.machine import Machine
    from voicenym.verification.verifiers import encoder_of, verifier

    text = str(place)
    return {
        "ecapa": [
            lambda: verifier(f"ecapa:{text}"),
            lambda: encoder_of(f"ecapa:{text}"),
            lambda: folder_of("speaker", f"ecapa:{text}"),
        ],
        "xvector": [lambda: verifier(f"xvector:{text}")],
        "wav2vec2": [
            lambda: features_of(f"wav2vec2:{text}", 1, Machine()),
            lambda: Wav2Vec.from_published(text),
        ],
        "hubert": [
            lambda: features_of(text, 1, Machine()),
            lambda: initial_network(text, SoftConfig(), ()),
            lambda: from_hubert(place),
        ],
        "deepspeech2": [lambda: words_loss(place, "posteriorgram")],
        "KIND": [lambda: folder_of("content", text), lambda: folder_of("speaker", text)]
        + [lambda load=m.load: load(place) for m in (contents, encoders, synthesizers)]
        * place.is_file()
        + [lambda: tensors(place)] * place.is_file(),
    }


NAMES = (
    "embedding_model.ckpt",
    "pytorch_model.bin",
    "weights.pt",
    "w.pth",
    "model.safetensors",
    "w",
)


@pytest.mark.parametrize("legacy", [False, True], ids=["zip", "legacy"])
@pytest.mark.parametrize("name", NAMES)
def test_a_checkpoint_is_refused_by_what_it_holds_and_never_unpickled(
    tmp_path, monkeypatch, name, legacy
):
    pytest.importorskip("transformers")
    pytest.importorskip("lightning")
    mark, folder = tmp_path / "mark", tmp_path / "in"
    folder.mkdir()
    (folder / "config.json").write_text('{"model_type": "wav2vec2"}')

    def never(*arguments, **options):
        raise AssertionError("unpickled")

    monkeypatch.setattr(torch, "load", never)
    monkeypatch.setattr(pickle, "load", never)
    for content in (Bomb(mark), {"a": torch.zeros(1)}):
        torch.save(content, folder / name, _use_new_zipfile_serialization=not legacy)
        for place in (folder / name, folder):
            for kind, calls in loaders(place).items():
                for load in calls:
                    with pytest.raises(VoicenymError) as caught:
                        load()
                    command = f"voicenym models convert {place} --as {kind} -o FOLDER"
                    assert command in str(caught.value)
    assert not mark.exists()


def test_transformers_is_given_no_pickle(tmp_path):
    """Neither a model in its layout, nor a recogniser."""
    transformers = pytest.importorskip("transformers")
    from voicenym.nets.content.wav2vec import Wav2Vec
    from voicenym.recognition.published_recogniser import Pretrained

    torch.manual_seed(0)
    config = transformers.Wav2Vec2Config(
        hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=20,
        conv_dim=[8] * 7, num_conv_pos_embeddings=6, num_conv_pos_embedding_groups=4,
        vocab_size=3, architectures=["Wav2Vec2ForCTC"],
    )  # fmt: skip
    mark, folder = tmp_path / "mark", tmp_path / "in"
    transformers.Wav2Vec2ForCTC(config).save_pretrained(folder)
    (folder / "vocab.json").write_text('{"<pad>": 0, "a": 1, "|": 2}')
    transformers.Wav2Vec2Processor(
        transformers.Wav2Vec2FeatureExtractor(),
        transformers.Wav2Vec2CTCTokenizer(str(folder / "vocab.json")),
    ).save_pretrained(folder)
    assert Wav2Vec.from_published(str(folder)).layer == 2
    assert Pretrained(folder).name == "in"
    (folder / "model.safetensors").unlink()
    torch.save({"a": Bomb(mark)}, folder / "pytorch_model.bin")
    with pytest.raises(VoicenymError, match="--as wav2vec2 -o FOLDER"):
        Wav2Vec.from_published(str(folder))
    with pytest.raises(VoicenymError, match="no usable weights there"):
        Pretrained(folder)
    (folder / "pytorch_model.bin").rename(folder / "model.safetensors")
    for load in (lambda: Wav2Vec.from_published(str(folder)), lambda: Pretrained(folder)):
        with pytest.raises(VoicenymError):
            load()
    assert not mark.exists()


def test_nothing_else_in_the_package_unpickles():
    """Whoever adds a way to load says how it refuses programs."""
    forbidden = {"pickle.load", "pickle.loads", "joblib.load", "yaml.load", "torch.jit.load"}
    forbidden |= {"torch.hub.load", "pandas.read_pickle", "yaml.unsafe_load", "shelve.open"}
    safe = {"torch.load": ("weights_only", True), "np.load": ("allow_pickle", False)}
    seen = set()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = ast.unparse(node.func)
            assert name not in forbidden, f"{path}:{node.lineno}: {name}"
            if name in safe:
                option, value = safe[name]
                given = {k.arg: getattr(k.value, "value", None) for k in node.keywords}
                assert given.get(option) is value, f"{path}:{node.lineno}: {name} without {option}"
                seen.add((name, path.name))
    # torch.load: to convert checkpoints of others, and of our own in the folder of a training
    assert {file for name, file in seen if name == "torch.load"} == {"pickles.py", "fit.py"}


def test_only_converting_opens_pickles():
    """``checkpoint_conversion`` alone imports ``pickles``; only two modules import it."""
    pickles = "voicenym.nets.weights.pickles"
    conversion = "voicenym.nets.checkpoint_conversion"
    importers: dict[str, set[str]] = {pickles: set(), conversion: set()}
    used = set()
    for path in (ROOT / "src").rglob("*.py"):
        name = path.relative_to(ROOT / "src" / "voicenym").as_posix()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            for module in importers:
                if isinstance(node, ast.ImportFrom):
                    whole = {f"{node.module}.{alias.name}" for alias in node.names}
                    found = {node.module, *whole}
                elif isinstance(node, ast.Import):
                    found = {alias.name for alias in node.names}
                else:
                    continue
                if module in found:
                    importers[module].add(name)
            if isinstance(node, ast.keyword) and node.arg == "use_safetensors":
                assert getattr(node.value, "value", None) is True
                used.add(name)
    assert importers[pickles] == {"nets/checkpoint_conversion.py"}
    assert importers[conversion] == {
        "nets/weight_pull.py",
        "apps/cli/commands/models.py",
    }
    assert used == {"nets/content/wav2vec.py", "recognition/published_recogniser.py"}
