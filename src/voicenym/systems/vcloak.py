"""V-Cloak: a little sound is added that verifiers trip over and people hardly hear."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import torch

from voicenym.anonymizer import VERIFIERS as BY_VERIFIERS
from voicenym.anonymizer import Anonymizer, Card, Core
from voicenym.dsp.resampling import RateChanger
from voicenym.errors import AudioError, UnknownSystemError, VoicenymError
from voicenym.nets.checkpoint import together, version
from voicenym.nets.cloak.cloak import (
    DIRECTIONS,
    MOST_EPSILON,
    RATE,
    Cloak,
    CloakStream,
)
from voicenym.nets.hub import sha256
from voicenym.pseudonym import Pseudonym

BUNDLED = Path(__file__).parents[1] / "nets" / "cloak" / "bundled" / "vcloak-small"
VERIFIERS = Path(__file__).parents[1] / "nets" / "speakers" / "bundled"
"""Of the verifiers that come with the package, by name: target voices are heard by one."""
PRECISIONS = ("single", "bf16")
LEAST_EPSILON = 0.005
SHORTEST_TARGET = 2.0
"""Seconds of a target's voice."""
QUIETEST_TARGET = 1e-4
"""Root mean square below which a target's recording is silence."""


@dataclass(frozen=True)
class VCloak(Anonymizer):
    """Adds to speech what a network makes of it, within a ball around every sample.

    1. A Wave-U-Net hears the speech at one level and gives, in one pass, what is to be added.
    2. A target voiceprint rescales its channels (VP-Modulation): drawn from the pseudonym unless a
       recording is named, or none.
    3. Epsilon weighs its shortcuts (Throttle), and no sample is moved farther than epsilon; below
       the nominal level of speech, the ball shrinks with the level.

    The speaker sounds like himself: this hides from verifiers, not from ears.

    Args:
        epsilon: greatest change of a sample, of full scale; 0.02 to 0.10 in the paper.
        target: recording of a voice that verifiers shall hear instead, 2 s or more; the
            pseudonym then decides nothing.
        untargeted: away from the speaker, toward nobody; the pseudonym then decides nothing.
        weights: folder of ``voicenym train vcloak``; the bundled ones unless given.
        verifier: folder of the verifier that the weights' targets are voiceprints of; found by
            itself where it is one that comes with the package.
        precision: ``single``, or ``bf16``: half of the time on a processor or an accelerator that
            computes in it; what is added then differs by about a thousandth, between blocks
            and the whole as well.
    """

    epsilon: float = 0.05
    target: str = ""
    untargeted: bool = False
    weights: str = ""
    verifier: str = ""
    precision: str = "single"

    judge: ClassVar[str] = BY_VERIFIERS
    card: ClassVar[Card] = Card(
        name="vcloak",
        title="A sound that verifiers trip over is added; the speaker sounds like himself",
        paper="Deng et al., 'V-Cloak: intelligibility-, naturalness- & timbre-preserving real-time "
        "voice anonymization', USENIX Security 2023",
        year=2023,
        equations=(
            "x~ = clip(x + delta, -1, 1), |delta| <= epsilon (1)",
            "Wave-U-Net with VP-Modulation and Throttle (section 4.1)",
            "L_ASV + alpha L_ASR + beta L_PSY + gamma |delta|, weights in steps (2), (3)",
        ),
        needs="bundled weights (0.3 MB) or trained ones, and safetensors; computes at 16 kHz; CPU "
        "or GPU",
        protects="verifiers that do not know of it, in part; nobody who tries keys or trains on "
        "cloaked speech; no ears",
        promises=(
            "no sample at the working rate moves by more than epsilon, unless it is bent at full "
            "scale as in every system",
            "speech stays as it is, with its rhythm, pitch and voice, under what is added",
            "the level is kept within 32 ms, and silence is left as it is",
            "one pass that is 53 ms late, the same in blocks as in whole",
            "meant to sound as its input, it is judged by ecapa-small, the bundled verifier that "
            "its weights were made against, and not by the signal: a file in which that still "
            "takes the output for the same recording (cosine of 0.72 or more) is refused",
        ),
        fails=(
            "an attacker who tries some keys, or has the key, finds nearly all voices, and one who "
            "trains i-vectors or a verifier on cloaked speech most; people recognise the speaker, "
            "that is its purpose",
            "recognisers lose words: pocketsphinx, which chooses among the test's sentences, 60 % "
            "at epsilon 0.05, and 37 % on originals",
            "the bundled weights come from an hour of one core: Resemblyzer, which the training "
            "did not see, errs on them little more than on noise of the same spectrum and loudness",
            "what they add is heard as noise, and a target's voice is hardly approached",
            "with a target or untargeted, all speakers get the same change",
        ),
        approximations=(
            "resampling within the network as in Wave-U-Net (decimation, straight lines); batch "
            "normalisation in place of the circulating code's norm over windows: both so that an "
            "output depends on what is around it alone",
            "the ball shrinks below -26 dB of full scale; the network hears speech at one level, "
            "and the sum is brought back to the level of the speech",
            "delta within the ball by a hyperbolic tangent, not by clipping",
            "stepwise weights follow the cosine to the original with targets too",
            "small weights: stride 2 in place of 4, excess over masking in dB, levels of a "
            "filterbank in place of DeepSpeech2's posteriorgram",
        ),
    )

    def __post_init__(self) -> None:
        if not LEAST_EPSILON <= self.epsilon <= MOST_EPSILON:
            raise UnknownSystemError(
                f"vcloak: epsilon must be from {LEAST_EPSILON} to {MOST_EPSILON} of full scale, "
                f"not {self.epsilon}; the paper's figures are for 0.02 to 0.10"
            )
        if self.precision not in PRECISIONS:
            raise UnknownSystemError(
                f"vcloak: precision must be one of {', '.join(PRECISIONS)}, not {self.precision!r}"
            )
        if self.target and self.untargeted:
            raise UnknownSystemError("vcloak: a target and untargeted=true exclude each other")

    @property
    def version(self) -> str:
        target = Path(self.target)
        heard = sha256(target)[:16] if self.target and target.is_file() else ""
        return together(version(Path(self.weights or BUNDLED)), heard)

    def core(self, pseudonyms: Sequence[Pseudonym], rate: int, profile: Any) -> Core:
        cloak, told = _loaded(self.weights or str(BUNDLED), self.device)
        if self.untargeted:
            voices = torch.zeros(len(pseudonyms), cloak.config.voiceprint)
        elif self.target:
            heard = _voiceprint(self.target, self.verifier, str(told.get("verifiers", [""])[0]))
            if len(heard) != cloak.config.voiceprint:
                raise VoicenymError(
                    f"vcloak: this verifier's voiceprints have {len(heard)} elements, the weights' "
                    f"{cloak.config.voiceprint}; give the verifier they were trained with"
                )
            voices = heard.expand(len(pseudonyms), -1)
        else:
            draws = [p.normals("vcloak.target", DIRECTIONS) for p in pseudonyms]
            voices = cloak.drawn(torch.tensor(draws, device=self.device))
        brief = self.precision == "bf16"
        return _Core(cloak, voices.to(self.device), self.epsilon, rate, brief)


class _Core:
    """The cloak's stream at 16 kHz, around it the working rate, and the sum with the speech."""

    def __init__(
        self, cloak: Cloak, voices: torch.Tensor, epsilon: float, rate: int, brief: bool
    ) -> None:
        rows = len(voices)
        epsilons = torch.full((rows,), epsilon, device=voices.device)
        with torch.no_grad():
            factors = cloak.net.factors(voices, epsilons)
            self._cloak = CloakStream(cloak, factors, epsilons, brief=brief)
        self._up = RateChanger(rate, RATE, rows)
        self._down = RateChanger(RATE, rate, rows)
        self._epsilon = epsilon
        self._speech = voices.new_zeros(rows, 0)
        inner = -(-(cloak.latency + self._down.latency) * rate // RATE)
        # conversions of rate round
        self.latency = self._up.latency + inner + (0 if rate == RATE else 2)

    @torch.no_grad()
    def push(self, block: torch.Tensor) -> torch.Tensor:
        self._speech = torch.cat([self._speech, block], dim=1)
        return self._added(self._through(self._up.push(block.cpu())))

    @torch.no_grad()
    def flush(self) -> torch.Tensor:
        last = self._through(self._up.flush())
        tail = self._down.push(self._cloak.flush().cpu())
        parts = [last, tail.to(last), self._down.flush().to(last)]
        cloak = torch.cat(parts, dim=1)
        missing = max(0, self._speech.shape[1] - cloak.shape[1])
        return self._added(torch.nn.functional.pad(cloak, (0, missing)))

    def _through(self, block: torch.Tensor) -> torch.Tensor:
        cloak = self._cloak.push(block.to(self._speech.device))
        return self._down.push(cloak.cpu()).to(self._speech.device)

    def _added(self, cloak: torch.Tensor) -> torch.Tensor:
        """The sum with as much of the speech, within the ball and within [-1, 1]."""
        ready = min(cloak.shape[1], self._speech.shape[1])
        speech, self._speech = self._speech[:, :ready], self._speech[:, ready:]
        moved = cloak[:, :ready].clamp(-self._epsilon, self._epsilon)
        return (speech + moved).clamp(-1.0, 1.0)


@functools.lru_cache(maxsize=4)
def _loaded(folder: str, device: str) -> tuple[Cloak, dict[str, Any]]:
    if folder == str(BUNDLED) and not BUNDLED.is_dir():
        raise VoicenymError(
            "vcloak: no weights come with this installation; train some with voicenym train "
            "vcloak, and give their folder: weights=FOLDER"
        )
    cloak, told = Cloak.load(Path(folder))
    return cloak.to(device).requires_grad_(False), told


@functools.lru_cache(maxsize=16)
def _voiceprint(target: str, verifier: str, name: str) -> torch.Tensor:
    """Of a recording, by the verifier that the weights know voiceprints of: ``[voiceprint]``."""
    import soxr

    from voicenym.audio import read
    from voicenym.nets.speakers.speaker_encoders import load

    folder = Path(verifier) if verifier else VERIFIERS / name
    if (not name and not verifier) or not folder.is_dir():
        raise VoicenymError(
            f"vcloak: no verifier {verifier or name!r} to hear the target with; give the folder of "
            "the one that the weights were trained with: verifier=FOLDER"
        )
    audio = read(target)
    samples = audio.samples.reshape(-1, audio.samples.shape[-1]).mean(0)
    if samples.shape[0] < SHORTEST_TARGET * audio.rate:
        raise AudioError(
            f"{target}: {samples.shape[0] / audio.rate:.1f} s are too short for a target voice; "
            f"give {SHORTEST_TARGET:g} s or more"
        )
    if samples.square().mean().sqrt() < QUIETEST_TARGET:
        raise AudioError(f"{target}: is silent; give a recording in which the target speaks")
    heard = soxr.resample(samples.numpy(), audio.rate, RATE)
    return load(folder).embed([torch.from_numpy(heard)])[0].clone()
