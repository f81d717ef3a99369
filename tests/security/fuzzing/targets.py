"""Fuzzing targets: valid files of each kind of input, and their readers.

A target is a function from a folder that it fills with valid files, by name, to what reads them
after one of them was damaged. To add one, write such a function and name it in :data:`TARGETS`.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import mutating
import numpy as np

Mutate = Callable[[bytes, random.Random], bytes]


@dataclass(frozen=True)
class Target:
    """A kind of input.

    Args:
        name: for tables.
        make: fills a folder; returns the names of the files that may be damaged.
        read: given the folder and the damaged file; what it raises is judged.
        mutate: damages one of the files.
        weight: share of the inputs, against the others'.
    """

    name: str
    make: Callable[[Path], list[str]]
    read: Callable[[Path, Path], Any]
    mutate: Mutate
    weight: int = 1


def sound(seconds: float = 0.25, rate: int = 16_000, channels: int = 1) -> np.ndarray:
    time = np.arange(round(seconds * rate)) / rate
    noise = np.random.default_rng(0).standard_normal((channels, len(time)))
    return (0.2 * np.sin(2 * np.pi * 220 * time) + 0.01 * noise).astype(np.float32)


AUDIO = (
    ("a.wav", "pcm_s16le"), ("b.wav", "pcm_f32le"), ("c.wav", "pcm_mulaw"), ("d.wav", "pcm_s24le"),
    ("a.rf64", "pcm_s16le"), ("a.flac", "flac"), ("a.ogg", "vorbis"), ("b.opus", "opus"),
    ("a.mp3", "mp3"), ("a.m4a", "aac"), ("b.m4a", "alac"), ("a.mov", "pcm_s16le"),
    ("a.mkv", "opus"), ("b.mka", "flac"), ("a.webm", "opus"), ("a.aac", "aac"),
)  # fmt: skip


def make_audio(folder: Path) -> list[str]:
    import torch

    from voicenym.audio import Audio, Format, write
    from voicenym.audio.container_files.containers import EXTENSIONS

    for name, codec in AUDIO:
        rate = 48_000 if codec in ("opus", "aac", "mp3") else 16_000
        channels = 2 if name.startswith("b") else 1
        kind = Format(EXTENSIONS[Path(name).suffix], codec)
        write(folder / name, Audio(torch.from_numpy(sound(0.25, rate, channels)), rate, kind))
    (folder / "noise.wav").write_bytes(np.random.default_rng(1).bytes(3_000))
    (folder / "list.m3u8").write_text("#EXTM3U\n#EXTINF:10,\na.wav\n#EXT-X-ENDLIST\n")
    (folder / "concat.ffconcat").write_text("ffconcat version 1.0\nfile a.wav\n")
    return sorted(path.name for path in folder.iterdir())


def read_audio(folder: Path, path: Path) -> None:
    """Read it, and where that goes well, anonymize it: what comes out is finite and in bounds."""
    from voicenym.anonymizer import load
    from voicenym.audio import read
    from voicenym.pseudonym import Key

    audio = read(path)
    assert bool(audio.samples.isfinite().all()), "samples that are no numbers"
    assert audio.samples.numel() < 10**8, "a small file that holds an hour"
    if audio.samples.numel() < 50_000:
        hidden = load("mcadams")(audio, Key(bytes(32)).pseudonym("s")).samples
        assert bool(hidden.isfinite().all()), "output that is no number"
        assert float(hidden.abs().max()) <= 1.0, "output beyond full scale"


def make_manifest(folder: Path) -> list[str]:
    from voicenym.audio import Audio, write

    for name in ("x1", "x2", "y1", "y2"):
        import torch

        write(folder / f"{name}.wav", Audio(torch.from_numpy(sound()[0]), 16_000))
    rows = ["utterance\tpath\tspeaker\tgender\ttext\tsplit"]
    rows += [f"{n}\t{n}.wav\t{n[0]}\tf\tfour words are here\ttrain" for n in ("x1", "x2", "y1")]
    (folder / "manifest.tsv").write_text("\n".join(rows) + "\n")
    return ["manifest.tsv"]


def read_manifest(folder: Path, path: Path) -> None:
    from voicenym.corpus.recordings import recordings
    from voicenym.corpus.skipped import LeftOut

    for recording in recordings(folder, left_out=LeftOut()):
        assert recording.path.is_file()
    recordings(folder, split="train")


def make_kaldi(folder: Path) -> list[str]:
    make_manifest(folder)
    (folder / "manifest.tsv").unlink()
    names = ("x1", "x2", "y1", "y2")
    lines = {
        "wav.scp": [f"rec-{n} {folder / n}.wav" for n in names],
        "segments": [f"{n} rec-{n} 0.0 0.2" for n in names],
        "utt2spk": [f"{n} {n[0]}" for n in names],
        "spk2gender": ["x f", "y m"],
        "text": [f"{n} what is said" for n in names],
    }
    for name, rows in lines.items():
        (folder / name).write_text("\n".join(rows) + "\n")
    return list(lines)


def read_kaldi(folder: Path, path: Path) -> None:
    from voicenym.corpus.plans.kaldi_plan import read_kaldi as planned
    from voicenym.corpus.recordings import recordings
    from voicenym.corpus.skipped import LeftOut

    def anonymize() -> None:
        found = planned(folder, folder / "output")
        for item in found.items:
            assert (folder / "output").resolve() in item.target.resolve().parents, item.target

    _each(anonymize, lambda: recordings(folder, left_out=LeftOut()))


def make_lhotse(folder: Path) -> list[str]:
    import lhotse

    make_manifest(folder)
    cuts = []
    for name in ("x1", "x2", "y1"):
        recording = lhotse.Recording.from_file(folder / f"{name}.wav")
        cut = recording.to_cut()
        cut.supervisions = [
            lhotse.SupervisionSegment(
                f"s-{name}", recording.id, 0.0, 0.2, speaker=name[0], gender="F", text="a b",
                custom={"a": 1},
            )
        ]  # fmt: skip
        cuts.append(cut)
    lhotse.CutSet.from_cuts(cuts).to_file(folder / "cuts.jsonl")
    return ["cuts.jsonl"]


def read_lhotse(folder: Path, path: Path) -> None:
    from voicenym.corpus.plans.lhotse_manifest import read_manifest as planned
    from voicenym.corpus.recordings import recordings
    from voicenym.corpus.skipped import LeftOut

    def anonymize() -> None:
        for item in planned(path, folder / "output").items:
            assert (folder / "output").resolve() in item.target.resolve().parents, item.target

    _each(anonymize, lambda: recordings(path, left_out=LeftOut()))


def make_texts(folder: Path) -> list[str]:
    (folder / "model.arpa").write_text(
        "\\data\\\nngram 1=3\nngram 2=2\n\n\\1-grams:\n-0.7\t<s>\t-0.3\n-0.6\ta\t-0.1\n-0.6\t</s>\n"
        "\n\\2-grams:\n-0.2\t<s> a\n-0.3\ta </s>\n\n\\end\\\n"
    )
    (folder / "words.dict").write_text("either IY DH ER\neither(2) AY DH ER\ncat K AE T\n")
    (folder / "text").write_text("x1 what is said\nx2 and this\n")
    (folder / "heard.tsv").write_text("utterance\ttext\nx1\twhat is said\nx2\tand this\n")
    (folder / "alignments.jsonl").write_text(
        '{"of": "ab", "phones": [["SIL", 0.0, 0.5], ["K", 0.5, 0.7]]}\n'
        '{"of": "cd", "phones": null}\n'
    )
    (folder / "enrolls").write_text("x1\nx2\n")
    (folder / "trials").write_text("x x3 target\nx y1 nontarget\n")
    return [
        "model.arpa",
        "words.dict",
        "text",
        "heard.tsv",
        "alignments.jsonl",
        "enrolls",
        "trials",
    ]


def read_texts(folder: Path, path: Path) -> None:
    from voicenym.corpus.recording import Recording
    from voicenym.evaluation.trial_plans.voiceprivacy import from_voiceprivacy
    from voicenym.recognition.language_models.arpa import read_arpa
    from voicenym.recognition.language_models.closed_vocabulary import lexicon_of
    from voicenym.recognition.sphinx_processes.alignment import Alignments
    from voicenym.recognition.transcripts import read_transcripts

    speech = [Recording(n, n[0], folder, "f") for n in ("x1", "x2", "x3", "y1", "y2")]
    readers: dict[str, Callable[[], Any]] = {
        "model.arpa": lambda: read_arpa(path),
        "words.dict": lambda: lexicon_of(path),
        "text": lambda: read_transcripts(path),
        "heard.tsv": lambda: read_transcripts(path),
        "alignments.jsonl": lambda: Alignments(path, {}),
        "enrolls": lambda: from_voiceprivacy(path, folder / "trials", speech),
        "trials": lambda: from_voiceprivacy(folder / "enrolls", path, speech),
    }
    readers[path.name]()


def make_key(folder: Path) -> list[str]:
    from voicenym.pseudonym import Key

    Key(bytes(range(32))).save(folder / "a.key")
    return ["a.key"]


def read_key(folder: Path, path: Path) -> None:
    from voicenym.pseudonym import Key

    Key.load(path)


RECIPES = (
    ("verifier", "voicenym.training.speakers.train_verifier", "VerifierConfig", "ecapa-small"),
    ("attacker", "voicenym.training.speakers.train_verifier", "VerifierConfig", "attacker"),
    (
        "recogniser",
        "voicenym.training.words.train_recogniser",
        "RecogniserConfig",
        "recogniser-small",
    ),
    ("hybrid", "voicenym.training.words.train_hybrid", "HybridConfig", "recogniser-hybrid"),
    (
        "soft",
        "voicenym.training.content.units.train_hubert_soft",
        "SoftConfig",
        "hubert-soft-small",
    ),
    (
        "bottleneck",
        "voicenym.training.content.bottleneck.train_bottleneck",
        "BottleneckConfig",
        "bottleneck-small",
    ),
    (
        "householder",
        "voicenym.training.identity.train_householder",
        "HouseholderConfig",
        "householder",
    ),
    ("ivector", "voicenym.training.speakers.train_ivector", "IVectorConfig", ""),
)


def make_recipes(folder: Path) -> list[str]:
    from importlib.resources import files

    import yaml

    made = []
    for name, _, _, bundled in RECIPES:
        text = "components: 4\ncepstra: {coefficients: 6, bands: 16}\npiece: 2.0\n"
        if bundled:
            text = (files("voicenym.training") / "configs" / f"{bundled}.yaml").read_text("utf-8")
        (folder / f"{name}.yaml").write_text(text)
        (folder / f"{name}.json").write_text(json.dumps(yaml.safe_load(text)))  # YAML as well
        made += [f"{name}.yaml", f"{name}.json"]
    return made


def read_recipes(folder: Path, path: Path) -> None:
    from voicenym.training.run.config import load

    _, module, kind, _ = next(row for row in RECIPES if row[0] == path.stem)
    load(str(path), getattr(import_module(module), kind))


def make_weights(folder: Path) -> list[str]:
    from voicenym.nets.speakers import speaker_encoders

    options = {"channels": 8, "size": 4, "attention": 4, "squeeze": 4}
    speaker_encoders.save(speaker_encoders.make("ecapa", options), folder)
    return ["config.json", "model.safetensors"]


def read_weights(folder: Path, path: Path) -> None:
    """As they are; and with the digest of what was damaged, so that it is looked into."""
    import hashlib

    from voicenym.nets.speakers import speaker_encoders

    config = folder / "config.json"

    def signed() -> None:
        try:
            given = json.loads(config.read_bytes())
            given["sha256"] = hashlib.sha256(
                (folder / "model.safetensors").read_bytes()
            ).hexdigest()
            config.write_text(json.dumps(given))
        except (ValueError, TypeError, UnicodeDecodeError):
            return
        speaker_encoders.load(folder)

    _each(lambda: speaker_encoders.load(folder), signed)


def make_settings(folder: Path) -> list[str]:
    (folder / "settings.txt").write_text("low=0.7\nhigh=0.9\norder=20\n")
    (folder / "identity.txt").write_text("distinct:angle=10,pool=p,of=(selection:pool=p,world=5)")
    return ["settings.txt", "identity.txt"]


def read_settings(folder: Path, path: Path) -> None:
    from voicenym.anonymizer import SYSTEMS, load
    from voicenym.identity import METHODS

    text = path.read_bytes().decode("utf-8", "surrogateescape")
    if path.name == "identity.txt":
        METHODS.load(text)
        return
    for system in ("mcadams", "vtln", "formant"):
        _each(lambda name=system: load(name, **SYSTEMS.settings(name, text.split("\n"))))


def make_log(folder: Path) -> list[str]:
    lines = [
        {"version": "1", "system": "vtln", "output": f"{n}.wav", "sha256": "0" * 64, "input": n}
        for n in ("a", "b")
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "voicenym.jsonl").write_text(text + '{"version": "1", "sys')
    return ["voicenym.jsonl"]


def read_log(folder: Path, path: Path) -> None:
    log = import_module("voicenym.corpus.run_records.run_log").RunLog(path)
    log.read()
    assert all(isinstance(line, dict) for line in log.lines.values())


def make_report(folder: Path) -> list[str]:
    from voicenym.evaluation.results import (
        AttackFigures,
        Evaluation,
        Measured,
        Missed,
        SystemResults,
    )
    from voicenym.evaluation.results_file import save

    attack = AttackFigures(
        "ignorant", "nothing", "ear", {"EER": Measured(1.0, 0.5, 2.0)}, "A", 4, 9
    )
    system = SystemResults("vtln", "t", {}, "speaker", (attack,), {"WER": Measured(9.0)})
    missed = (Missed("a", "silent"),)
    save(Evaluation("1", "2025-01-01", "d", 4, 8, (attack,), (system,), left_out=missed), folder)
    return ["results.json"]


def read_report(folder: Path, path: Path) -> None:
    from voicenym.evaluation.results_file import load

    load(folder)


def make_pair(folder: Path) -> list[str]:
    time = np.arange(20_000) / 16_000
    pitch = 2 * np.pi * np.cumsum(120 + 30 * np.sin(2 * np.pi * 3 * time)) / 16_000
    level = 0.5 + 0.5 * np.sin(2 * np.pi * 4 * time)
    voice = 0.1 * level * sum(np.cos(k * pitch + k * k) / k for k in range(1, 20))
    (folder / "input.f32").write_bytes(voice.astype("<f4").tobytes())
    (folder / "output.f32").write_bytes(voice[::-1].astype("<f4").tobytes())
    return ["input.f32", "output.f32"]


def read_pair(folder: Path, path: Path) -> None:
    """The writer's comparison: what is made of a recording, and the recording itself."""
    from voicenym.anonymizer import load
    from voicenym.errors import AudioError

    check_of = import_module("voicenym.corpus.nearness.near_original").NearOriginalCheck

    def sound_of(name: str) -> np.ndarray:
        data = (folder / name).read_bytes()
        samples = np.frombuffer(data[: len(data) // 4 * 4], "<f4")
        # readers let nothing else through than finite numbers
        return np.clip(np.nan_to_num(samples), -1.0, 1.0).astype(np.float32)[None]

    def judge(one: np.ndarray, other: np.ndarray, size: int) -> None:
        check = check_of(load("mcadams"), str(path), 16_000, 1)
        for start in range(0, max(one.shape[1], other.shape[1]), size):
            check.push_input(one[:, start : start + size])
            check.push_output(other[:, start : start + size])
        check.finish()

    before, after = sound_of("input.f32"), sound_of("output.f32")
    if before.shape[1] > 8_000 and float(np.sqrt(np.mean(before**2))) > 1e-3:
        try:
            judge(before, before, 4_096)
        except AudioError:
            pass
        else:
            raise AssertionError("a copy of the input is let through")
    judge(before, after, 1_000)


def _each(*readers: Callable[[], Any]) -> None:
    """All of several readers: the first may refuse what the second takes."""
    from voicenym.errors import VoicenymError

    refused = None
    for read in readers:
        try:
            read()
        except VoicenymError as error:
            refused = error
    if refused is not None:
        raise refused


TARGETS = (
    Target("audio", make_audio, read_audio, mutating.mutated_bytes, weight=10),
    Target("TSV manifest", make_manifest, read_manifest, mutating.mutated_text, weight=2),
    Target("Kaldi folder", make_kaldi, read_kaldi, mutating.mutated_text, weight=2),
    Target("lhotse cuts", make_lhotse, read_lhotse, mutating.mutated_json, weight=2),
    Target("texts and lists", make_texts, read_texts, mutating.mutated_text, weight=2),
    Target("key file", make_key, read_key, mutating.mutated_text),
    Target("recipe", make_recipes, read_recipes, mutating.mutated_json, weight=2),
    Target("weights", make_weights, read_weights, mutating.mutated_json, weight=2),
    Target("settings", make_settings, read_settings, mutating.mutated_text),
    Target("log of a run", make_log, read_log, mutating.mutated_json),
    Target("results", make_report, read_report, mutating.mutated_json),
    Target("comparison", make_pair, read_pair, mutating.mutated_bytes),
)
