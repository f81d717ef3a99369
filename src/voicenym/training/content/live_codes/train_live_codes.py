"""Training of a live encoder of word codes, which learns the vectors of that of whole recordings.

Loss: mean squared error of the vectors, in shares of their power, and cross-entropy of the codes
that are nearest to the teacher's vectors, with logits by the distance to each entry. Where windows
have texts, Whisper's decoder reads the codes, with an accent drawn for some, and the cross-entropy
of the words is a further loss. The number of states that a chunk has and reads ahead varies from
step to step, and so does the position of the first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import lightning.pytorch as pl
import torch

from voicenym.errors import CorpusError
from voicenym.nets.content import drawn_accent
from voicenym.nets.content.word_code_encoder import WordCodeEncoder
from voicenym.nets.masked_batch import valid
from voicenym.nets.words.whisper.whisper import Decoder, Encoder
from voicenym.nets.words.word_codes.live_word_codes import LiveWordCodes
from voicenym.nets.words.word_codes.word_code_content import WordCodeContent
from voicenym.training.content.live_codes.live_code_texts import TextBatch, TextWindows, text_batch
from voicenym.training.content.live_codes.live_code_windows import (
    Item,
    SpeakerWindows,
    Taught,
    WholeSpeech,
)
from voicenym.training.content.word_codes.train_word_codes import places_of, with_blank
from voicenym.training.run.adamw_config import AdamWConfig
from voicenym.training.run.configured_fit import fit_configured
from voicenym.training.run.fit import Outcome
from voicenym.training.run.machine import Machine
from voicenym.training.run.schedule import seeded

MONITORED = "error of vectors"
AGREEMENT = "codes of whole recordings %"


@dataclass(frozen=True)
class LiveCodesConfig(AdamWConfig):
    """Configuration of the training.

    Args:
        options: of :class:`~voicenym.nets.words.word_codes.live_word_codes.LiveSizes`.
        aheads: states after a chunk, of which a step draws one; those of ``options`` are validated.
        delays: states of a chunk and after it, of which a step draws one, in place of ``aheads``.
        words: weight of the cross-entropy of the words that a decoder reads; 0: windows need no
            texts.
        wordless: share of the windows without words, which may begin and end anywhere.
        accented: share of the windows whose words are read with a drawn accent.
        seconds: of a window; with words, at most.
        batch: windows of a step.
        paces: that speech is learnt at, times its own.
        codes: weight of the cross-entropy.
        sharpness: of its logits, per squared distance.
        gains: least and greatest gain of a window, in dB.
    """

    options: dict[str, Any] = field(default_factory=dict)
    aheads: tuple[int, ...] = (2, 4, 4, 8, 8, 16)
    delays: tuple[tuple[int, int], ...] = ()
    words: float = 0.0
    wordless: float = 0.25
    accented: float = 0.5
    seconds: float = 8.0
    batch: int = 4
    paces: tuple[float, ...] = (0.9, 1.0, 1.1)
    codes: float = 0.2
    sharpness: float = 0.2
    gains: tuple[float, float] = (-12.0, 6.0)
    steps: int = 4000
    every: int = 250
    held_out: float = 0.05


class Texts(NamedTuple):
    """Texts of recordings, and the decoder that reads codes.

    Args:
        decoder: Whisper's; it does not change.
        tokens: of each recording, by the stem of its file in the speech cache.
        begin, end: tokens around the text of a window.
    """

    decoder: Decoder
    tokens: Mapping[str, Sequence[int]]
    begin: tuple[int, ...]
    end: int

    def pieces(self) -> torch.Tensor:
        """Tokens that occur, in rising order."""
        known = {token for text in self.tokens.values() for token in text}
        return torch.tensor(sorted({*known, *self.begin, self.end}))


class Distillation(pl.LightningModule):
    """The training step and the validation.

    Args:
        network: to train.
        content, teacher: of whole recordings, with the codebook; they do not change.
        config: of the training.
        texts: whose words are read, if any.
    """

    book: torch.Tensor

    def __init__(
        self,
        network: LiveWordCodes,
        content: WordCodeContent,
        teacher: WordCodeEncoder,
        config: LiveCodesConfig,
        texts: Texts | None = None,
    ) -> None:
        super().__init__()
        self.network, self.recipe = network, config
        # in lists no module is registered
        self._frozen = [(content.encoder, teacher)]
        self._codes, self._texts = [content.codes], texts
        self._pieces = None if texts is None else texts.pieces()
        self.register_buffer("book", _entries(content))

    def configure_optimizers(self) -> torch.optim.Optimizer:
        recipe = self.recipe
        return torch.optim.AdamW(
            self.network.parameters(), lr=recipe.rate, weight_decay=recipe.decay
        )

    def training_step(self, batch: Item | TextBatch, index: int) -> torch.Tensor:
        recipe, own = self.recipe, self.network.sizes
        rng = seeded(torch.device("cpu"), recipe.seed, self.global_rank, self.global_step)
        delays = recipe.delays or [(own.chunk, ahead) for ahead in recipe.aheads]
        chunk, ahead = delays[int(torch.randint(len(delays), (1,), generator=rng))]
        first = int(torch.randint(own.period, (1,), generator=rng))
        samples, wanted = batch[:2]
        every = self._teachers(samples)
        found = self.network(*every, samples, ahead, first, chunk).own.float()
        losses = {}
        if isinstance(batch, TextBatch):
            if bool((batch.wanted >= 0).any()):
                losses["words"] = self._words(found, batch, rng)
            inside = valid(batch.lengths // self.network.every, found.shape[1])
            found, wanted = found[inside], wanted[inside]
        error = (found - wanted).square().mean() / wanted.square().mean()
        logits = -recipe.sharpness * torch.cdist(found.flatten(0, -2), self.book).square()
        codes = torch.cdist(wanted.flatten(0, -2), self.book).argmin(1)
        losses |= {"error": error, "nats": torch.nn.functional.cross_entropy(logits, codes)}
        self.log_dict({f"train/{name}": loss.detach() for name, loss in losses.items()})
        total = losses["error"] + recipe.codes * losses["nats"]
        return total + recipe.words * losses["words"] if "words" in losses else total

    def _words(self, vectors: torch.Tensor, batch: TextBatch, rng: torch.Generator) -> torch.Tensor:
        """Cross-entropy of the words by the codes of vectors ``[row, code, element]``."""
        assert self._texts is not None
        assert self._pieces is not None
        codes, decoder = self._codes[0], self._texts.decoder.to(vectors.device)
        [(_, teacher)] = self._frozen
        if teacher.accents:
            count = teacher.accents + vectors.shape[2]
            numbers = torch.randn(len(vectors), count, generator=rng)
            rows = torch.rand(len(vectors), 1, generator=rng) < self.recipe.accented
            accent = drawn_accent.drawn(teacher.directions, (numbers * rows).to(vectors.device))
            silent = torch.cdist(vectors, self.book).argmin(2) == teacher.silence
            moved = drawn_accent.changed(vectors, teacher.centre, accent)
            vectors = torch.where(silent[:, :, None], vectors, moved)
        entries = self.book[torch.cdist(vectors, self.book).argmin(2)]
        states = codes.expanded(vectors + (entries - vectors).detach(), batch.lengths)
        asked = batch.wanted >= 0
        heard = decoder(batch.tokens, with_blank(decoder, codes, states))[asked]
        scores = decoder.scores(heard, self._pieces.to(heard.device)).float()
        return torch.nn.functional.cross_entropy(scores, batch.wanted[asked])

    def validation_step(self, batch: Item, index: int) -> None:
        samples, wanted = batch
        found = self.network(*self._teachers(samples), samples).own[0].float()
        codes, right = (torch.cdist(x, self.book).argmin(1) for x in (found, wanted[0]))
        spoken = right != self._frozen[0][1].silence
        count = int(spoken.sum())
        if not count:
            return
        error = (found - wanted[0])[spoken].square().sum() / wanted[0][spoken].square().sum()
        same = 100.0 * (codes == right)[spoken].float().mean()
        self.log(MONITORED, error, batch_size=count, sync_dist=True)
        self.log(AGREEMENT, same, batch_size=count, sync_dist=True)

    def _teachers(self, samples: torch.Tensor) -> tuple[Encoder, WordCodeEncoder]:
        [(encoder, teacher)] = self._frozen
        return encoder.to(samples.device), teacher.to(samples.device)


def _entries(content: WordCodeContent) -> torch.Tensor:
    """Vectors of the codebook, ``[entry, element]``."""
    numbers = torch.arange(content.codes.sizes.entries)
    found: torch.Tensor = content.codes.quantizer.looked_up(numbers[None, None])[0].T.detach()
    return found.clone()


def train(
    network: LiveWordCodes,
    content: WordCodeContent,
    teacher: WordCodeEncoder,
    speech: Sequence[Taught],
    held_out: Sequence[Taught],
    config: LiveCodesConfig,
    folder: Path,
    *,
    texts: Texts | None = None,
    seconds: float | None = None,
    machine: Machine | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Outcome:
    """Train a live encoder; afterwards it has the weights of its best validation.

    Args:
        network: new, or with weights to continue from.
        content, teacher: of whole recordings; they do not change.
        speech: training utterances with the teacher's vectors.
        held_out: the same of held-out speakers.
        config: of the training.
        folder: of checkpoints and logs; an interrupted run there continues.
        texts: of the training utterances, where the configuration gives words a weight.
        seconds: time limit.
        machine: what to train on.
        say: receives the figures of every validation.

    Raises:
        CorpusError: no training or no validation utterances, or none with a text.
        VoicenymError: as :func:`voicenym.training.run.fit.fit`.
    """
    machine = machine or Machine()
    every, chunk = network.every, network.sizes.chunk
    whole = math.lcm(chunk, *(one for one, _ in config.delays))
    states = max(1, round(config.seconds * 50 / whole)) * whole
    count = machine.crops(config.every, config.batch)
    windows: SpeakerWindows | TextWindows
    join: Callable[[list[Any]], Any] | None = None
    if texts is None and config.words:
        raise CorpusError("words have a weight, and no texts are given; give them, or 'words: 0'")
    if texts is None:
        windows = SpeakerWindows(speech, states, every, count, config.gains, config.seed)
    else:
        texts.decoder.requires_grad_(False).eval()
        given = (speech, texts.tokens, texts.begin, texts.end, states)
        windows = TextWindows(*given, every, count, config.gains, config.seed, config.wordless)
        places = places_of(texts.pieces(), len(texts.decoder.tokens.weight))
        join = partial(text_batch, every=every, chunk=whole, places=places)
    content.requires_grad_(False)
    teacher.requires_grad_(False)
    outcome = fit_configured(
        Distillation(network, content, teacher, config, texts),
        torch.utils.data.DataLoader(
            windows, config.batch, drop_last=True, collate_fn=join, **machine.loading
        ),
        torch.utils.data.DataLoader(WholeSpeech(held_out, chunk, every), 1),
        folder,
        config,
        seconds,
        monitor=MONITORED,
        machine=machine,
        clip=1.0,
        say=say,
    )
    network.eval()
    return outcome
