"""A study of five minutes from the bundled sample and systems that come along."""

from __future__ import annotations

from pathlib import Path

from voicenym.audio.types import Audio
from voicenym.errors import VoicenymError
from voicenym.listening.design.material import gather
from voicenym.listening.design.sessions import Plan
from voicenym.listening.design.study_design import Design, design

SYSTEMS = ("formant", "recast", "base")
"""Signal processing that changes little and much, and the bundled network."""
SENTENCES = (
    "They promised me that nobody would know my name.",
    "So I told them what I had seen.",
)
"""Words of the sample, whose two sentences are two recordings."""
LONGEST = 15.0
"""Seconds of each recording of a sample of the user's own."""
TESTS = ("acr", "words")
CONSENT = """This is a listening test for you to try. You hear a synthetic voice and what three \
systems make of it, rate the quality of each recording, and then type what you hear. It takes \
about five minutes; afterwards you see the report.

Your answers stay on this computer, in the folder that the command made."""


def sample_file() -> Path:
    """The bundled sample: in the package, or in the repository that it is installed from.

    Raises:
        VoicenymError: it is in neither.
    """
    for path in (
        Path(__file__).parent / "sample.flac",
        Path(__file__).parents[3] / "samples" / "sample.flac",
    ):
        if path.is_file():
            return path
    raise VoicenymError("the bundled sample is not installed; give a recording with --sample")


def build(folder: Path, listeners: int = 1, sample: Path | None = None, seed: int = 0) -> Design:
    """Anonymizes both halves of a recording by each system, and designs the study.

    Args:
        folder: gets ``recordings`` with the speech; the study is not saved.
        listeners: number of sessions.
        sample: another recording; its words are unknown, so that there is no test of words.
        seed: of the design.

    Raises:
        VoicenymError: a recording that cannot be read or parted.
    """
    import voicenym

    audio = voicenym.read(sample or sample_file())
    texts = SENTENCES if sample is None else ("", "")
    key = voicenym.Key.generate()
    halves = _halves(audio)
    places = {name: folder / "recordings" / name / "speaker" for name in ("original", *SYSTEMS)}
    for place in places.values():
        place.mkdir(parents=True, exist_ok=True)
    for number, (half, text) in enumerate(zip(halves, texts, strict=True), 1):
        name = f"sentence-{number}.wav"
        voicenym.write(places["original"] / name, half, overwrite=True)
        if text:
            (places["original"] / name).with_suffix(".txt").write_text(text, "utf-8")
        for system in SYSTEMS:
            made = voicenym.load(system)(half, key.pseudonym("speaker"))
            voicenym.write(places[system] / name, made, overwrite=True)
    material = gather(
        places["original"].parent, {system: places[system].parent for system in SYSTEMS}
    )
    tests = TESTS if sample is None else TESTS[:1]
    plan = Plan(tests, listeners, 2 * (1 + len(SYSTEMS)), training=1, headphones="")
    title = "voicenym: a listening test to try"
    return design(material, plan, seed=seed, title=title, consent=CONSENT)


def _halves(audio: Audio) -> tuple[Audio, Audio]:
    """A recording parted at the quietest place near its middle.

    Raises:
        VoicenymError: it is shorter than two seconds.
    """
    rate = audio.rate
    mono = audio.samples if audio.samples.ndim == 1 else audio.samples.mean(0)
    mono = mono[: round(2 * LONGEST * rate)]
    if len(mono) < 2 * rate:
        raise VoicenymError("the sample is shorter than two seconds; give a longer one")
    frame = round(0.1 * rate)
    count = len(mono) // frame
    power = (mono[: count * frame].reshape(count, frame) ** 2).mean(1)
    first, last = round(0.35 * count), round(0.75 * count)
    place = (first + int(power[first:last].argmin())) * frame + frame // 2
    return (Audio(mono[:place], rate, audio.format), Audio(mono[place:], rate, audio.format))
