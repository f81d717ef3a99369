r"""Training of native codes with windows that are drawn, varied and encoded anew at every step.

    python benchmarks/studies/word_codes/native_codes_anew.py --data CORPUS --readings ALOUD \
        --whisper FOLDER \
        --states STATES/ -o OUT/ [--adversary 0.3] [--words 1] [--seed 0] [--minutes 9]

``voicenym train native-codes`` caches Whisper's states of fixed windows, as a laptop needs it. On a
GPU Whisper is the smaller part of a step, and no window need come twice: pace, vocal tract length
(warped filterbank, Jaitly and Hinton 2013), channel (a smooth gain over the bands), noise, masked
bands (Park et al. 2019) and the states' dropout are drawn for each. Losses are those of
``voicenym.training.content.native_codes.train_native_codes``, but the adversary hears sequences:
the one-hot codes, with gradients of the softmax, through two convolutions. The weights that are
kept are exponential means over some hundred steps, at 35, 55, 75 and 100 % of the time.

The bundled encoder of drawn accents is the mean, at 55 %, of ``--adversary 0.3 --words 1 --seed 1``
and of ``--adversary 0.6 --words 1`` (docs/research/word-codes-native.md).
"""

from __future__ import annotations

import argparse
import math
import queue
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch.nn.functional import cross_entropy, dropout, one_hot

from voicenym.corpus.recordings import collect
from voicenym.corpus.transforms import ORIGINAL
from voicenym.nets.content import word_code_bottleneck, word_code_encoder
from voicenym.nets.content.word_code_encoder import WordCodeEncoder
from voicenym.nets.gradient_reversal import reversed_gradient
from voicenym.nets.masked_batch import padded, valid
from voicenym.nets.words.whisper.whisper import Encoder
from voicenym.nets.words.whisper.whisper_published import Published, published
from voicenym.nets.words.word_codes.word_code_content import WordCodeContent
from voicenym.training.content.bottleneck.speaker_branch import growth
from voicenym.training.content.native_codes.native_code_start import started
from voicenym.training.content.native_codes.native_code_targets import (
    UNKNOWN,
    NativeTargets,
    matched,
)
from voicenym.training.content.native_codes.reading_alignment import quiet
from voicenym.training.content.native_codes.train_native_codes import NativeCodesConfig, moments
from voicenym.training.content.word_codes.speech_windows import GAIN, LEVEL, PAUSE, pieces
from voicenym.training.content.word_codes.train_word_codes import places_of, with_blank
from voicenym.training.content.word_codes.transcript_tokens import Tokenizer
from voicenym.training.speech.speech_cache import SpeechCache, Utterance

RATE, CODE = 16_000, 640
SILENCE = 207
"""Code of quiet places in the bundled codes of tiny.en."""
LIMIT = 0.75
"""Recordings whose alignment costs more are left out."""
OTHERS, SINGLE = 0.13, 0.1
"""Shares of windows without readings, and of windows of one recording."""
PACES, NOISES = (0.88, 1.14), (1e-4, 5e-3)
TRACTS = torch.linspace(0.84, 1.18, 35)
KEPT_AT = (0.35, 0.55, 0.75, 1.0)
MEAN = 0.998
"""Of the exponential mean of the weights."""


class Piece(NamedTuple):
    """A recording with target codes ``[code]``, -1 where they are not known, and tokens."""

    speech: Utterance
    codes: np.ndarray
    tokens: list[int]
    read: bool


class Window(NamedTuple):
    """Samples, codes, tokens and number of the speaker, -1 for several."""

    samples: np.ndarray
    codes: np.ndarray
    tokens: list[int]
    speaker: int


def prepared(given: argparse.Namespace, whisper: Published) -> list[Piece]:
    """Recordings with targets: of their readings, or silence alone where nobody read them."""
    codes = word_code_bottleneck.load(word_code_bottleneck.BUNDLED)
    recordings = collect(given.data, None, ())
    pairs = matched(recordings, collect(given.readings, None, ()))
    cache = SpeechCache(given.output / "speech")
    spoken = cache.fill([*recordings, *sorted(set(pairs.values()))], ORIGINAL)
    by = {one.recording: one for one in spoken}
    targets = NativeTargets(WordCodeContent.of(whisper.network, codes), given.states)
    found = dict(
        zip(pairs, targets([(by[a], by[b]) for a, b in pairs.items()], print), strict=True)
    )
    texts = pieces([by[one] for one in recordings], whisper, given.states, print)
    tokenizer, made = Tokenizer(whisper.tokenizer), list[Piece]()
    for speech, text in texts:
        target = found.get(speech.recording)
        if target is not None and target.cost > LIMIT:
            continue
        wanted = np.where(quiet(speech.samples(), CODE), SILENCE, UNKNOWN)
        own = wanted if target is None else target.codes(SILENCE)
        made.append(Piece(speech, own, tokenizer.encode(text), target is not None))
    return made


def window(rng: np.random.Generator, some: Sequence[Piece], goal: float, speaker: int) -> Window:
    """Recordings in random order, up to ``goal`` seconds, one at least."""
    samples, codes, tokens, length = list[np.ndarray](), list[np.ndarray](), list[int](), 0
    for place in rng.permutation(len(some)):
        piece = some[place]
        if samples and length + piece.speech.length > (goal - PAUSE[1]) * RATE:
            break
        x = piece.speech.samples()
        if samples:
            pause = round(rng.uniform(*PAUSE) * RATE)
            pause += -(length + pause) % CODE
            samples.append((1e-4 * rng.standard_normal(pause)).astype(np.float32))
            length += pause
            codes.append(np.full(length // CODE - sum(map(len, codes)), SILENCE))
        loud = float(np.sqrt(np.mean(x * x))) or 1.0
        samples.append(np.clip(x * LEVEL / loud * 10 ** (rng.uniform(-GAIN, GAIN) / 20), -1, 1))
        codes.append(piece.codes)
        tokens += piece.tokens
        length += len(x)
    return Window(np.concatenate(samples), np.concatenate(codes), tokens[:200], speaker)


class Spectra:
    """Log mel spectra of varied speech.

    Args:
        encoder: Whisper's.
        seed: of the draws.
    """

    def __init__(self, encoder: Encoder, seed: int) -> None:
        self._encoder, self._bank = encoder, encoder.bank.float()
        self.device = self._bank.device
        self._banks = torch.stack([self._warped(float(tract)) for tract in TRACTS])
        self._rng = torch.Generator(self.device).manual_seed(seed)

    def _warped(self, tract: float) -> torch.Tensor:
        """Filterbank that reads the power at ``tract`` times each frequency; linear up to Nyquist
        beyond a knee.
        """
        last = self._bank.shape[1] - 1
        bins = torch.arange(last + 1, dtype=torch.float64)
        knee = 0.85 * last / max(tract, 1.0)
        above = knee * tract + (bins - knee) * (last - knee * tract) / (last - knee)
        place = torch.where(bins <= knee, bins * tract, above)
        low = place.floor().clamp(0, last - 1).long()
        share = (place - low).float()
        read = torch.zeros(last + 1, last + 1)
        read[low, bins.long()] += 1.0 - share
        read[low + 1, bins.long()] += share
        return self._bank @ read.to(self.device)

    def _uniform(self, *size: int, low: float = 0.0, high: float = 1.0) -> torch.Tensor:
        return low + (high - low) * torch.rand(size, generator=self._rng, device=self.device)

    def __call__(
        self, waves: torch.Tensor, lengths: torch.Tensor, varied: bool
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Spectra ``[row, band, frame]`` of whole windows, samples and pace of each row."""
        rows, bands = len(waves), self._bank.shape[0]
        pace = torch.ones(rows, device=self.device)
        if varied:
            drawn = self._uniform(rows, low=PACES[0], high=PACES[1])
            pace = torch.where(self._uniform(rows) < 0.5, drawn, pace)
        pace = torch.maximum(pace, (lengths / (29.9 * RATE)).clamp_max(1.0))
        count = (lengths / pace).floor().long().clamp_max(30 * RATE)
        place = torch.arange(int(count.max()), device=self.device)[None] * pace[:, None]
        low = place.long().clamp_max(waves.shape[1] - 2)
        share = place - low
        moved = waves.gather(1, low) * (1 - share) + waves.gather(1, low + 1) * share
        inside = valid(count, moved.shape[1])
        if varied:
            level = self._uniform(rows, low=math.log(NOISES[0]), high=math.log(NOISES[1])).exp()
            level *= self._uniform(rows) < 0.3
            noise = torch.randn(moved.shape, generator=self._rng, device=self.device)
            moved = (moved + level[:, None] * noise).clamp(-1.0, 1.0)
        moved = torch.nn.functional.pad(moved * inside, (0, 30 * RATE - moved.shape[1]))
        window = self._encoder.window
        power = torch.stft(moved, 400, 160, window=window, return_complex=True).abs().square()
        banks = self._bank.expand(rows, -1, -1)
        if varied:
            which = (self._uniform(rows) * len(TRACTS)).long()
            usual = torch.full_like(which, int((TRACTS - 1.0).abs().argmin()))
            banks = self._banks[torch.where(self._uniform(rows) < 0.7, which, usual)]
        mels = (banks @ power[..., :-1]).clamp_min(1e-10).log10()
        if varied:
            band = torch.arange(bands, device=self.device)
            waviness = math.pi * torch.arange(1, 5, device=self.device)[:, None] * band / bands
            gains = torch.randn(rows, 4, generator=self._rng, device=self.device)
            mels = mels + (0.12 * gains @ waviness.cos())[:, :, None]
            first = (self._uniform(rows) * (bands - 6)).long()[:, None]
            width = 1 + (self._uniform(rows) * 6).long()[:, None]
            masked = (band >= first) & (band < first + width) & (self._uniform(rows, 1) < 0.3)
            mels = torch.where(masked[:, :, None], mels.amax((1, 2), keepdim=True) - 8.0, mels)
        top = mels.amax((1, 2), keepdim=True)
        return (torch.maximum(mels, top - 8.0) + 4.0) / 4.0, count, pace


class Branch(torch.nn.Module):
    """Recognises speakers by sequences of codes."""

    def __init__(self, entries: int, speakers: int, units: int = 256) -> None:
        super().__init__()
        self.enter = torch.nn.Linear(entries, units, bias=False)
        self.first = torch.nn.Conv1d(units, units, 5, padding=2)
        self.second = torch.nn.Conv1d(units, units, 5, padding=2)
        self.hidden, self.output = (
            torch.nn.Linear(2 * units, units),
            torch.nn.Linear(units, speakers),
        )

    def forward(self, codes: torch.Tensor, inside: torch.Tensor) -> torch.Tensor:
        """Scores ``[row, speaker]`` of one-hot codes ``[row, code, entry]``."""
        x = (self.enter(codes) * inside[..., None]).transpose(1, 2)
        x = torch.relu(self.second(torch.relu(self.first(x)))).transpose(1, 2).float()
        return self.output(torch.relu(self.hidden(moments(x, inside))))


class Training:
    """Losses of a batch of windows.

    Args:
        whisper: frozen.
        tokens: all that texts have.
        speakers: of the adversary.
        given: of the command line.
        device: where to compute.
    """

    def __init__(
        self,
        whisper: Published,
        tokens: Sequence[int],
        speakers: int,
        given: argparse.Namespace,
        device: torch.device,
    ) -> None:
        self.whisper, self.given = whisper, given
        self.network = whisper.network.requires_grad_(False).eval().to(device)
        codes = word_code_bottleneck.load(word_code_bottleneck.BUNDLED)
        self.encoder = started(codes, NativeCodesConfig(before=5, silence=SILENCE)).to(device)
        self.codes = codes.requires_grad_(False).eval().to(device)
        self.book = self.codes.quantizer.books[0].vectors.float()
        self.scale = torch.nn.Parameter(torch.tensor(-2.0, device=device))
        self.branch = Branch(len(self.book), speakers).to(device) if given.adversary else None
        self.pieces = torch.tensor(sorted({*tokens, whisper.writing.end}), device=device)
        self.places = places_of(self.pieces.cpu(), self.network.sizes.tokens)
        self.spectra = Spectra(self.network.encoder, given.seed + 5)
        self.device = device

    def batch(self, windows: Sequence[Window]) -> list[torch.Tensor]:
        """Waves, lengths, codes, tokens, wanted tokens and speakers of windows."""
        writing = self.whisper.writing
        waves, lengths = padded([torch.from_numpy(one.samples).float() for one in windows])
        # one more than the code, so that padding is what is not known
        codes, _ = padded([torch.from_numpy(one.codes).long() - UNKNOWN for one in windows])
        texts = [torch.tensor([*writing.begin, *one.tokens, writing.end]) for one in windows]
        tokens, _ = padded([text[:-1] for text in texts])
        wanted = torch.full(tokens.shape, -100)
        first = len(writing.begin)
        for row, text in enumerate(texts):
            wanted[row, first - 1 : len(text) - 1] = self.places[text[first:]]
        who = torch.tensor([one.speaker for one in windows])
        return [waves, lengths, codes + UNKNOWN, tokens, wanted, who]

    def losses(
        self, batch: Sequence[torch.Tensor], varied: bool, share: float
    ) -> dict[str, torch.Tensor]:
        """Losses by name, after a share of the training."""
        waves, lengths, codes, tokens, wanted, who = (
            x.to(self.device, non_blocking=True) for x in batch
        )
        auto = torch.autocast(self.device.type, torch.bfloat16)
        book = self.book
        with torch.no_grad():
            spectra, count, pace = self.spectra(waves, lengths, varied)
            states_of = count.add(319).div(320, rounding_mode="floor")
            with auto:
                states = self.network.encoder(spectra, first=int(states_of.max())).float()
                own = self.codes.encoded(states, states_of).float()
            place = torch.arange(own.shape[1], device=self.device)[None] * pace[:, None]
            place = place.round().long()
            target = codes.gather(1, place.clamp_max(codes.shape[1] - 1))
            native = (target >= 0) & (place < codes.shape[1])
            nearest_own = (2 * own @ book.T - book.square().sum(1)).argmax(2)
            target = torch.where(native, target, nearest_own)
            states = dropout(states, 0.05, training=varied)
        with auto:
            vectors = self.encoder.encoded(states, states_of).float()
        inside = valid(self.encoder.counts(states_of), vectors.shape[1])
        distances = (
            vectors.square().sum(2, keepdim=True) + book.square().sum(1) - 2 * vectors @ book.T
        )
        logits = -0.5 * self.scale.exp() * distances
        nearest = logits.argmax(2)
        entries = book[nearest]
        weight = torch.where(native, 1.0, 0.3) * inside
        each = cross_entropy(logits.transpose(1, 2), target, reduction="none")
        with auto:
            through = vectors + (entries - vectors).detach()
            memory = with_blank(
                self.network.decoder, self.codes, self.codes.expanded(through, states_of)
            )
            asked = wanted >= 0
            decoded = self.network.decoder(tokens, memory)[asked]
            scores = self.network.decoder.scores(decoded, self.pieces)
        found = {
            "codes": (each * weight).sum() / weight.sum(),
            "words": cross_entropy(scores.float(), wanted[asked]),
            "commitment": (vectors - entries).square().mean(2)[inside].mean(),
            "right": (nearest == target)[native & inside].float().mean(),
        }
        known = who >= 0
        if self.branch is not None and varied and bool(known.any()):
            soft = logits[known].softmax(2)
            hard = one_hot(nearest[known], len(book)) + soft - soft.detach()
            hidden = reversed_gradient(hard, self.given.adversary * growth(share))
            with auto:
                heard = self.branch(hidden, inside[known])
            found["adversary"] = cross_entropy(heard.float(), who[known])
            found["speakers right"] = (heard.argmax(1) == who[known]).float().mean()
        return found


def trained(
    job: Training, draw: queue.Queue[list[torch.Tensor]], watched: Sequence[list[torch.Tensor]]
) -> None:
    """Trains until the time ends, and saves encoders."""
    given, encoder = job.given, job.encoder
    groups = [
        {"params": list(encoder.parameters()), "lr": given.rate},
        {"params": [job.scale], "lr": 10 * given.rate},
    ]
    if job.branch is not None:
        groups.append({"params": list(job.branch.parameters()), "lr": 2 * given.rate})
    optimizer = torch.optim.AdamW(groups, weight_decay=1e-2)
    peaks = [group["lr"] for group in groups]
    mean = {name: x.detach().clone() for name, x in encoder.state_dict().items()}
    start, step, left, next_line = time.monotonic(), 0, list(KEPT_AT), 0.0
    while True:
        share = (time.monotonic() - start) / (60.0 * given.minutes)
        if given.steps:
            share = max(share, step / given.steps)
        if left and share >= left[0]:
            keep(job, mean, f"{round(100 * left.pop(0))}")
        if share >= min(next_line, 1.0):
            next_line += 0.1
            now = {name: x.clone() for name, x in encoder.state_dict().items()}
            encoder.load_state_dict(mean)
            with torch.no_grad():
                rows = [job.losses(one, False, 1.0) for one in watched]
            encoder.load_state_dict(now)
            line = {name: sum(float(row[name]) for row in rows) / len(rows) for name in rows[0]}
            print(step, {name: round(value, 3) for name, value in line.items()}, flush=True)
        if share >= 1.0:
            return
        for group, peak in zip(optimizer.param_groups, peaks, strict=True):
            group["lr"] = peak * min(1.0, share / 0.06) * max(0.02, 1.0 - share)
        found = job.losses(draw.get(), True, share)
        loss = found["codes"] + given.words * found["words"] + 0.25 * found["commitment"]
        optimizer.zero_grad()
        (loss + found.get("adversary", 0.0)).backward()
        torch.nn.utils.clip_grad_norm_(encoder.parameters(), 1.0)
        optimizer.step()
        step += 1
        decay = min(MEAN, (1 + step) / (10 + step))
        with torch.no_grad():
            for name, x in encoder.state_dict().items():
                mean[name].lerp_(x, 1.0 - decay)


def keep(job: Training, state: dict[str, torch.Tensor], name: str) -> None:
    made = WordCodeEncoder(**job.encoder.config())
    made.load_state_dict({name: x.cpu() for name, x in state.items()})
    word_code_encoder.save(
        made, job.given.output / name, {"of": __file__.rpartition("/")[2]}, half=True
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, nargs="+", required=True)
    parser.add_argument("--readings", type=Path, nargs="+", required=True)
    parser.add_argument("--whisper", type=Path, required=True)
    parser.add_argument("--states", type=Path, required=True)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--adversary", type=float, default=0.3)
    parser.add_argument("--words", type=float, default=1.0)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--windows", type=int, default=24, help="of a step")
    parser.add_argument("--seconds", type=float, default=27.0, help="of the longest window")
    parser.add_argument("--minutes", type=float, default=9.0)
    parser.add_argument("--steps", type=int, default=0, help="at most; 0: as many as there is time")
    parser.add_argument("--held-out", type=int, default=8, help="speakers")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(given.seed)
    whisper = published(given.whisper)
    known = prepared(given, whisper)
    by: dict[str, list[Piece]] = {}
    for piece in known:
        if piece.read:
            by.setdefault(piece.speech.speaker, []).append(piece)
    others = [piece for piece in known if not piece.read]
    names = sorted(by)
    away = {names[i] for i in np.random.default_rng(1).permutation(len(names))[: given.held_out]}
    learners = [name for name in names if name not in away]
    tokens = [token for piece in known for token in piece.tokens]
    job = Training(whisper, tokens, len(learners), given, device)

    def drawn(rng: np.random.Generator) -> Window:
        goal = 0.0 if rng.random() < SINGLE else rng.uniform(3.0, given.seconds)
        if others and rng.random() < OTHERS:
            some = [others[i] for i in rng.permutation(len(others))[:4]]
            return window(rng, some, goal, -1)
        who = int(rng.integers(len(learners)))
        return window(rng, by[learners[who]], goal, who)

    ready: queue.Queue[list[torch.Tensor]] = queue.Queue(6)

    def feed(number: int) -> None:
        rng = np.random.default_rng((given.seed, number))
        while True:
            ready.put(job.batch([drawn(rng) for _ in range(given.windows)]))

    for number in range(2):
        threading.Thread(target=feed, args=(number,), daemon=True).start()
    rng = np.random.default_rng(3)
    watched = [
        job.batch(
            [window(rng, by[name], rng.uniform(3.0, given.seconds), -1) for name in sorted(away)]
        )
        for _ in range(4)
    ]
    print(f"{len(learners)} speakers, {len(away)} held out, {len(others)} other recordings")
    trained(job, ready, watched)


if __name__ == "__main__":
    main()
