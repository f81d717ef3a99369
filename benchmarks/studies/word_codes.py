r"""Measures the words that codes of words keep, and the speaker identity that they reveal.

Found: the error rates of the original states; no codes were trained long enough yet
(``docs/research/word-codes.md``).

    pip install -e .[evaluate,train,recognisers]
    python benchmarks/studies/word_codes.py --speech DIR --whisper FOLDER --cache DIR \
        [--codes FOLDER ...] [--aloud FOLDER] [--half tune|report|both] [--leakage]

No sound is made: Whisper's own decoder listens to the states that codes become, greedily, in whole
windows of 30 s, as it does to the original states, which are the first row.

Words: WER on adults of speechocean762's dev (24 speakers, six recordings each) and its children;
of LibriSpeech, on every fifth speaker, where the reference is what the decoder writes of the
original states, since there are no texts; of sentences of synthetic voices that were held out
(`benchmarks/studies/read_aloud.py`). Training must leave these out: `--training FILE` writes a
manifest of what it may use, and does no more.

Bits a second: entropy of single codes over all test recordings, times their rate.

Leakage (`--leakage`): attackers who read nothing but codes, or the states themselves; their timing
is in them. A network (convolutions over embedded codes, means and deviations, angular margin) and
counts of codes with a two-covariance model; they learn from speechocean762's train
(`--learnt` recordings of each speaker), and are tried on the 24 adults, three recordings to enrol,
three to try.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import soundfile
import torch

from voicenym.metrics import word_errors
from voicenym.metrics.eer import EER, eer
from voicenym.metrics.scores import Speakers
from voicenym.nets.content import word_codes
from voicenym.nets.content.word_codes import WordCodes
from voicenym.nets.words.whisper import STATE, Whisper
from voicenym.nets.words.whisper_published import Published, published
from voicenym.private import private_folder
from voicenym.training.content.transcript_tokens import Tokenizer
from voicenym.training.speakers.margin_softmax import AngularMargin
from voicenym.verification.plda import PLDA

ADULT = 18
SPEAKERS, EACH, ENROLLED = 24, 6, 3
FEW, ROWS = 200, 16
"""Frames of a crop that the network learns from, in codes; crops in a step."""


class Judged(NamedTuple):
    """A recording.

    Args:
        name, speaker, text: of the manifest.
        path: of the sound.
        half: of dev.
    """

    name: str
    speaker: str
    text: str
    path: Path
    half: str = ""


def manifest(folder: Path) -> list[dict[str, str]]:
    with (folder / "manifest.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def spread(rows: Sequence[dict[str, str]], count: int) -> list[dict[str, str]]:
    return [rows[i] for i in np.unique(np.linspace(0, len(rows) - 1, count).astype(int))]


def dev(speech: Path, adults: bool) -> list[Judged]:
    """Recordings of the first adults, or children, of dev; halves are as in other benchmarks."""
    rows = [r for r in manifest(speech) if r["corpus"] == "speechocean762" and r["split"] == "dev"]
    everybody = sorted({r["speaker"] for r in rows})
    found = []
    able = [s for s in everybody if (_age(rows, s) >= ADULT) == adults][:SPEAKERS]
    for speaker in able:
        half = "tune" if everybody.index(speaker) % 2 == 0 else "report"
        for r in spread([r for r in rows if r["speaker"] == speaker], EACH):
            path = speech / r["path"]
            found.append(Judged(r["utterance"], speaker, r["text"], path, half))
    return found


def _age(rows: Sequence[dict[str, str]], speaker: str) -> int:
    return next(int(r["age"]) for r in rows if r["speaker"] == speaker)


def unheard(speech: Path) -> list[Judged]:
    rows = [r for r in manifest(speech) if r["corpus"] == "librispeech"]
    speakers = sorted({r["speaker"] for r in rows})[::5]
    return [
        Judged(r["utterance"], r["speaker"], "", speech / r["path"])
        for r in rows
        if r["speaker"] in speakers
    ]


def aloud(folder: Path) -> list[Judged]:
    return [
        Judged(r["utterance"], r["corpus"], r["text"], folder / r["path"]) for r in manifest(folder)
    ]


def learnt(speech: Path, each: int) -> list[Judged]:
    rows = [
        r for r in manifest(speech) if r["corpus"] == "speechocean762" and r["split"] == "train"
    ]
    return [
        Judged(r["utterance"], speaker, r["text"], speech / r["path"])
        for speaker in sorted({r["speaker"] for r in rows})
        for r in spread([r for r in rows if r["speaker"] == speaker], each)
    ]


def for_training(speech: Path, file: Path) -> None:
    """Write a manifest of English speech without the test recordings."""
    rows = [
        {**row, "path": str((speech / row["path"]).resolve()), "speaker": row["speaker"] or name}
        for row in manifest(speech)
        if (name := row["utterance"])
        and row["split"] == "train"
        and row["corpus"] in ("speechocean762", "librispeech", "picovoice_sti")
    ]
    judged_ = {one.speaker for one in unheard(speech)}
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(
            out, list(rows[0]), delimiter="\t", quoting=csv.QUOTE_NONE, quotechar=None
        )
        writer.writeheader()
        writer.writerows(row for row in rows if row["speaker"] not in judged_)


class Heard:
    """States of whole windows by Whisper; those of the speech are kept in a folder.

    Args:
        whisper: the recogniser.
        folder: for its owner alone.
    """

    def __init__(self, whisper: Published, folder: Path) -> None:
        self.whisper = whisper
        self._folder = private_folder(folder, "what was heard of speech")

    @torch.inference_mode()
    def __call__(self, one: Judged, whole: bool = False) -> torch.Tensor:
        """``[state, size]`` of the speech; of the whole window, where it is asked for."""
        kind = "whole" if whole else "speech"
        path = self._folder / f"{one.path.stem}.{kind}.npy"
        if not path.is_file():
            samples, _ = soundfile.read(one.path, dtype="float32")
            states = self.whisper.network.states(torch.from_numpy(samples)[None])[0].half()
            count = min(len(states), -(-len(samples) // STATE))
            np.save(self._folder / f"{one.path.stem}.speech.npy", states[:count].numpy())
            if whole:
                np.save(path, states.numpy())
        return torch.from_numpy(np.load(path, allow_pickle=False)).float()


def written(whisper: Published, windows: Sequence[torch.Tensor]) -> list[str]:
    """What the decoder writes of whole windows."""
    tokenizer = Tokenizer(whisper.tokenizer)
    network: Whisper = whisper.network
    return [
        tokenizer.decode(tokens)
        for start in range(0, len(windows), ROWS)
        for tokens in network.write(
            torch.stack(list(windows[start : start + ROWS])), whisper.writing
        )
    ]


def bits(codes: Sequence[torch.Tensor], rate: float) -> float:
    """A second: entropy of single codes, books summed."""
    found = 0.0
    for book in range(codes[0].shape[1]):
        counts = Counter(int(c) for one in codes for c in one[:, book])
        shares = np.array(list(counts.values())) / sum(counts.values())
        found -= float((shares * np.log2(shares)).sum())
    return found * rate


class Network(torch.nn.Module):
    """An attacker: frames to a vector.

    Args:
        enter: what a frame is told by.
    """

    def __init__(self, enter: torch.nn.Module, width: int = 128) -> None:
        super().__init__()
        self.enter = enter
        self.layers = torch.nn.ModuleList(
            [
                torch.nn.Sequential(
                    torch.nn.Conv1d(width, width, 5, padding=2 * d, dilation=d),
                    torch.nn.GELU(),
                    torch.nn.BatchNorm1d(width),
                )
                for d in (1, 2, 3)
            ]
        )
        self.weigh = torch.nn.Conv1d(width, 1, 1)
        self.leave = torch.nn.Sequential(
            torch.nn.BatchNorm1d(2 * width),
            torch.nn.Dropout(0.3),
            torch.nn.Linear(2 * width, width),
        )

    def forward(self, frames: torch.Tensor) -> torch.Tensor:
        """``[batch, frame, ...]`` to ``[batch, element]``."""
        x = self.enter(frames).transpose(1, 2)
        for layer in self.layers:
            x = x + layer(x)
        weights = self.weigh(x).softmax(2)
        mean = (x * weights).sum(2)
        deviation = ((x - mean[:, :, None]).square() * weights).sum(2).clamp_min(1e-6).sqrt()
        return self.leave(torch.cat([mean, deviation], 1))


class Codes(torch.nn.Module):
    """Embedded codes, books summed."""

    def __init__(self, entries: int, books: int, width: int = 128) -> None:
        super().__init__()
        self.tables = torch.nn.ModuleList(
            [torch.nn.Embedding(entries, width) for _ in range(books)]
        )

    def forward(self, codes: torch.Tensor) -> torch.Tensor:
        found = [table(codes[..., i]) for i, table in enumerate(self.tables)]
        return torch.stack(found).sum(0)


def attackers_vectors(
    enter: Callable[[], torch.nn.Module],
    known: Sequence[torch.Tensor],
    speakers: Sequence[str],
    tried: Sequence[torch.Tensor],
    steps: int,
    seed: int,
    crop: int,
) -> np.ndarray:
    """Vectors ``[recording, element]`` of the trials by a trained network."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    names = sorted(set(speakers))
    own = {name: [x for x, s in zip(known, speakers, strict=True) if s == name] for name in names}
    network = Network(enter())
    margin = AngularMargin(128, len(names), margin=0.1)
    optimizer = torch.optim.AdamW(
        [*network.parameters(), *margin.parameters()], lr=2e-3, weight_decay=1e-2
    )
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=steps)
    network.train()
    for _ in range(steps):
        labels = rng.integers(len(names), size=32)
        rows = []
        for label in labels:
            x = own[names[label]][rng.integers(len(own[names[label]]))]
            while len(x) < crop:  # recordings of a speaker, one after the other
                x = torch.cat([x, own[names[label]][rng.integers(len(own[names[label]]))]])
            start = int(rng.integers(len(x) - crop + 1))
            rows.append(x[start : start + crop])
        loss = margin(network(torch.stack(rows)), torch.from_numpy(labels))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    network.eval()
    with torch.inference_mode():
        return np.concatenate([network(x[None]).numpy() for x in tried])


def counted(found: Sequence[torch.Tensor], entries: int) -> np.ndarray:
    """Square roots of the shares of codes ``[recording, book * entry]``."""
    return np.array(
        [
            np.concatenate(
                [
                    np.bincount(x[:, b], minlength=entries) / max(1, len(x))
                    for b in range(x.shape[1])
                ]
            )
            ** 0.5
            for x in found
        ]
    )


def trials(vectors: np.ndarray, tried: Sequence[Judged]) -> tuple[np.ndarray, np.ndarray]:
    """Cosines ``[model, trial]`` of mean vectors and single ones, and who they are."""
    who = sorted({one.speaker for one in tried})
    places = {s: [i for i, one in enumerate(tried) if one.speaker == s] for s in who}
    normal = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    models = np.stack([normal[places[s][:ENROLLED]].mean(0) for s in who])
    models /= np.linalg.norm(models, axis=1, keepdims=True)
    rest = [i for s in who for i in places[s][ENROLLED:]]
    owner = np.array([who.index(tried[i].speaker) for i in rest])
    return models @ normal[rest].T, owner


def judged(scores: np.ndarray, owner: np.ndarray) -> EER:
    models, which = np.indices(scores.shape).reshape(2, -1)
    pairs = np.stack([models, owner[which]], axis=1)
    same = pairs[:, 0] == pairs[:, 1]
    values = scores[models, which]
    return eer(values[same], values[~same], Speakers(pairs[same], pairs[~same]))


def told(found: EER) -> str:
    low, high = found.interval
    return f"{100 * found.value:.1f} ({100 * low:.1f} to {100 * high:.1f})"


def leakage(
    name: str,
    known: list[torch.Tensor],
    learnt_: list[Judged],
    tried_: list[torch.Tensor],
    tried: list[Judged],
    entries: int,
    books: int,
    steps: int,
) -> None:
    """Print the attackers' equal error rates."""
    size = known[0].shape[-1]
    centred = np.concatenate([x.float().mean(0, keepdim=True).numpy() for x in known])

    def enter() -> torch.nn.Module:
        if entries:
            return Codes(entries, books)
        return torch.nn.Sequential(torch.nn.LayerNorm(size), torch.nn.Linear(size, 128))

    speakers = [one.speaker for one in learnt_]
    crop = FEW if entries else 2 * FEW
    sums = []
    for seed in range(3):
        vectors = attackers_vectors(enter, known, speakers, tried_, steps, seed, crop)
        sums.append(trials(vectors - vectors.mean(0), tried)[0])
    scores, owner = np.mean(sums, axis=0), trials(vectors, tried)[1]
    print(f"{name}: network, three seeds: EER {told(judged(scores, owner))} %", flush=True)
    if entries:
        x, y = counted(known, entries), counted(tried_, entries)
    else:
        x = centred
        y = np.concatenate([v.mean(0, keepdim=True).numpy() for v in tried_])
    centre = x.mean(0)
    axes = np.linalg.svd(x - centre, full_matrices=False)[2][:150]
    x, y = (x - centre) @ axes.T, (y - centre) @ axes.T
    plda = PLDA.train(x, speakers)
    who = sorted({one.speaker for one in tried})
    places = {s: [i for i, one in enumerate(tried) if one.speaker == s] for s in who}
    rest = [i for s in who for i in places[s][ENROLLED:]]
    by_counts = plda.score([y[places[s][:ENROLLED]] for s in who], y[rest])
    kind = "counts" if entries else "means"
    print(f"{name}: {kind}, two covariances: EER {told(judged(by_counts, owner))} %", flush=True)
    both = (scores - scores.mean()) / scores.std() + (
        by_counts - by_counts.mean()
    ) / by_counts.std()
    print(f"{name}: both: EER {told(judged(both, owner))} %", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--speech", type=Path, required=True)
    parser.add_argument("--training", type=Path, help="a manifest to write, of what may be learnt")
    parser.add_argument("--whisper", type=Path)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--codes", type=Path, action="append", default=[])
    parser.add_argument("--aloud", type=Path)
    parser.add_argument("--half", choices=["tune", "report", "both"], default="both")
    parser.add_argument("--original", action="store_true", help="words of the original states too")
    parser.add_argument("--leakage", action="store_true")
    parser.add_argument("--only", help="sets whose names hold this")
    parser.add_argument("--learnt", type=int, default=12, help="recordings of each, for attackers")
    parser.add_argument("--steps", type=int, default=800, help="of the attacker's network")
    given = parser.parse_args()
    if given.training is not None:
        for_training(given.speech, given.training)
        return
    if given.whisper is None or given.cache is None:
        parser.error("give --whisper and --cache")
    heard = Heard(published(given.whisper), given.cache)
    sets = {
        "dev, adults": dev(given.speech, True),
        "dev, children": dev(given.speech, False),
        "LibriSpeech, unheard speakers": unheard(given.speech),
    }
    if given.aloud:
        sets["synthetic, unheard sentences"] = aloud(given.aloud)
    if given.only:
        sets = {name: some for name, some in sets.items() if given.only in name}
    if given.half != "both":
        sets = {n: [x for x in v if x.half in ("", given.half)] for n, v in sets.items()}
    everything: list[tuple[str, WordCodes | None]] = [
        (str(path), word_codes.load(path)) for path in given.codes
    ]
    if given.original:
        everything.insert(0, ("states as they are", None))
    texts: dict[str, list[str]] = {}
    for name, some in sets.items():
        texts[name] = [one.text for one in some]
        if not any(texts[name]):
            path = given.cache / "unheard.txt"
            if not path.is_file():
                found = written(heard.whisper, [heard(one, whole=True) for one in some])
                path.write_text("\n".join(found), "utf-8")
            texts[name] = path.read_text("utf-8").split("\n")
    for label, codes in everything:
        all_codes = []
        for name, some in sets.items():
            if codes is None:
                windows = [heard(one, whole=True) for one in some]
            else:
                coded = [codes.codes(heard(one)) for one in some]
                all_codes += coded
                windows = [codes.decoded(c) for c in coded]
            found = word_errors(
                texts[name], written(heard.whisper, windows), [one.speaker for one in some]
            )
            low, high = found.interval or (found.value, found.value)
            print(
                f"{label}: {name}, {len(some)} recordings: WER {100 * found.value:.1f} "
                f"({100 * low:.1f} to {100 * high:.1f}) %, "
                f"insertions {100 * found.insertions / found.length:.1f} %",
                flush=True,
            )
        if all_codes and codes is not None:
            most = codes.rate * codes.sizes.books * math.log2(codes.sizes.entries)
            print(f"{label}: {bits(all_codes, codes.rate):.0f} bits a second of {most:.0f} at most")
    if given.leakage:
        some = learnt(given.speech, given.learnt)
        tried = [x for x in dev(given.speech, True) if given.half in ("both", x.half)]
        known, attacked = [heard(x) for x in some], [heard(x) for x in tried]
        for label, codes in everything:
            if codes is None:
                leakage(label, known, some, attacked, tried, 0, 0, given.steps)
            else:
                size = codes.sizes
                leakage(
                    label,
                    [codes.codes(x) for x in known],
                    some,
                    [codes.codes(x) for x in attacked],
                    tried,
                    size.entries,
                    size.books,
                    given.steps,
                )


if __name__ == "__main__":
    main()
