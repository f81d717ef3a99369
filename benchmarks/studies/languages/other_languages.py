r"""Makes a corpus of sentences of many languages, read by espeak-ng, for `voicenym train language`.

Found: ``docs/howto/pipelines.md``, Languages.

    pip download --no-deps django && unzip -q django-*.whl -d django
    python benchmarks/studies/languages/other_languages.py --translations django -o languages/

Sentences are the translations of programs, files LANGUAGE/LC_MESSAGES/*.po: the same texts in all
languages, English (msgid) included, so that neither topic nor voice tells the language. Sentences
that espeak-ng would read partly in English, such as Japanese ones with kanji, are left out. The
folder gets FLAC files at 16 kHz and two manifests: english.tsv, and others.tsv with the language in
the column corpus. How a sentence is read (variant of the voice, speed, pitch) depends on --seed
alone.

For measurements by language (``docs/reproduction.md``), ``--distinct`` gives every speaker of a
language a variant and a pitch of their own and writes languages.tsv, with the sex of the variant;
``--languages`` chooses, and ``--real SPEECH=CORPUS`` adds real speech of a corpus to it:

    python benchmarks/studies/languages/other_languages.py --translations django --distinct \
        --speakers 12 \
        --sentences 6 --languages de es fr it nl pl pt zh_Hans --real SPEECH=arabic_cmds -o spoken/
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import tempfile
from pathlib import Path

import numpy as np
import soundfile
import soxr

from voicenym.corpus.recordings import recordings
from voicenym.processes import program

RATE = 16_000
COLUMNS = ("utterance", "path", "speaker", "corpus", "text")
ENTRY = re.compile(r'^msgid ((?:".*"\n?)+)msgstr ((?:".*"\n?)+)', re.MULTILINE)
QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
LEFT_OUT = re.compile(r"%\(\w+\)s|%s|%d|\{[^}]*\}|<[^>]*>|[“”«»\"`*_/()]")
VOICES = {"zh_Hans": "cmn-latn-pinyin", "pt_BR": "pt-br", "fr": "fr-fr"}
"""Voices by language, where the names differ. The voice ``cmn`` of espeak-ng 1.51 reads Chinese
characters as their pinyin in English: letters' names and numbers."""
SWITCHED = re.compile(r"\([a-z-]+\)")
"""A change of the voice in espeak-ng's phones, such as ``(en)``."""
ENGLISH = ("en-us", "en-gb", "en-gb-scotland", "en-gb-x-rp", "en-029", "en-us-nyc")
VARIANTS = ("m1", "m2", "m3", "m4", "m5", "m6", "m7", "f1", "f2", "f3", "f4", "f5")
LONG = 40
"""Characters of the English sentence from which a reading is long enough to verify a speaker."""
ALTERNATING = ("f1", "m1", "f2", "m2", "f3", "m3", "f4", "m4", "f5", "m5", "m6", "m7")
"""The same voices, women and men in turn, for a voice of its own for each speaker."""


def sentences(file: Path) -> list[tuple[str, str]]:
    """Originals and translations of a catalogue, without the fields of its messages."""
    found = []
    for block in file.read_text("utf-8").split("\n\n"):
        entry = ENTRY.search(block)
        if entry is None or "#, fuzzy" in block or "msgid_plural" in block:
            continue
        both = ("".join(map(json.loads, QUOTED.findall(part))) for part in entry.groups())
        original, translation = (" ".join(LEFT_OUT.sub(" ", text).split()) for text in both)
        if len(original) >= 12 and translation and translation != original:
            found.append((original, translation))
    return found


def corpus(voice: str) -> str:
    """Name of the corpus of a voice, such as ``espeak-cmn``."""
    return f"espeak-{voice.removesuffix('-latn-pinyin')}"


def native(text: str, voice: str) -> bool:
    """Whether espeak-ng reads a text in the language of the voice throughout.

    It reads characters that a language's rules lack, such as Japanese kanji, as English names.
    """
    done = program(["espeak-ng", "-q", "-v", voice, "--ipa", "--", text])
    return done.returncode == 0 and SWITCHED.search(done.stdout) is None


def read(
    text: str, voice: str, rng: np.random.Generator, pitch: int | None = None
) -> np.ndarray | None:
    """Speech ``[time]`` at 16 kHz; None where espeak-ng has no such voice."""
    speed, drawn = rng.integers(130, 190), rng.integers(30, 70)
    settings = ["-s", str(speed), "-p", str(drawn if pitch is None else pitch)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "speech.wav"
        done = program(["espeak-ng", "-v", voice, *settings, "-w", str(path), "--", text])
        if done.returncode or not path.is_file():
            return None
        samples, rate = soundfile.read(path, dtype="float32")
    return np.asarray(soxr.resample(samples, rate, RATE) * rng.uniform(0.3, 1.0))


def real(source: str, speakers: int, count: int, output: Path) -> list[tuple[str, ...]]:
    """Rows of recordings of some speakers of a corpus, ``SPEECH=CORPUS``, written as FLAC."""
    place, _, corpus = source.rpartition("=")
    found = [r for r in recordings(Path(place), None, corpus) if len(r.samples()) >= RATE // 2]
    people = sorted({r.speaker for r in found})[:speakers]
    rows = []
    for speaker in people:
        for recording in [r for r in found if r.speaker == speaker][:count]:
            path = output / speaker / f"{recording.name}.flac"
            path.parent.mkdir(parents=True, exist_ok=True)
            soundfile.write(path, recording.samples(), RATE)
            where = str(path.relative_to(output))
            rows.append((recording.name, where, speaker, corpus, recording.text, recording.sex))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--translations", type=Path, required=True)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--speakers", type=int, default=2, help="of each language")
    parser.add_argument("--english", type=int, default=12, help="speakers of each English")
    parser.add_argument("--sentences", type=int, default=12, help="of each speaker")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--languages", nargs="*", default=[], help="of catalogues; default: all")
    parser.add_argument("--distinct", action="store_true", help="a voice for each speaker")
    parser.add_argument("--real", action="append", default=[], metavar="SPEECH=CORPUS")
    given = parser.parse_args()
    texts: dict[str, list[tuple[str, str]]] = {}
    for file in sorted(given.translations.rglob("LC_MESSAGES/*.po")):
        if not given.languages or file.parents[1].name in given.languages:
            least = LONG if given.distinct else 0
            some = [pair for pair in sentences(file) if len(pair[0]) >= least]
            texts.setdefault(file.parents[1].name, []).extend(some)
    texts = {language: some for language, some in texts.items() if len(some) >= 30}
    originals = sorted({original for some in texts.values() for original, _ in some})
    if given.distinct:
        if given.speakers > len(VARIANTS):
            parser.error(f"--distinct has {len(VARIANTS)} voices of a language at most")
        plan = [("en-us", "languages", originals, given.speakers)]
    else:
        plan = [(voice, "english", originals, given.english) for voice in ENGLISH]
    for language, some in texts.items():
        if not language.startswith("en"):
            voice = VOICES.get(language, language)
            side = "languages" if given.distinct else "others"
            plan.append((voice, side, [text for _, text in some], given.speakers))
    rows: dict[str, list[tuple[str, ...]]] = {side: [] for _, side, *_ in plan}
    for voice, side, lines, speakers in plan:
        for number in range(speakers):
            rng = np.random.default_rng([given.seed, number, *voice.encode()])
            variant, pitch = VARIANTS[rng.integers(len(VARIANTS))], None
            if given.distinct:
                variant, pitch = ALTERNATING[number], 30 + 40 * number // given.speakers
            speaker = f"{corpus(voice).removeprefix('espeak-')}-{number}"
            order = rng.permutation(len(lines))
            own = (place for place in order if native(lines[place], voice))
            for place in itertools.islice(own, given.sentences):
                samples = read(lines[place], f"{voice}+{variant}", rng, pitch)
                if samples is None:
                    break  # no such voice
                name = f"{speaker}-{place}"
                path = given.output / speaker / f"{name}.flac"
                path.parent.mkdir(parents=True, exist_ok=True)
                soundfile.write(path, samples, RATE)
                where = str(path.relative_to(given.output))
                row = (name, where, speaker, corpus(voice), lines[place])
                rows[side].append((*row, variant[0]) if given.distinct else row)
    for source in given.real:
        rows["languages"] += real(source, given.speakers, given.sentences, given.output)
    for side, some in rows.items():
        columns = (*COLUMNS, "gender") if given.distinct else COLUMNS
        text = "\n".join("\t".join(row) for row in [columns, *some])
        (given.output / f"{side}.tsv").write_text(text + "\n", "utf-8")
        print(f"{side}: {len(some)} sentences, {len({row[3] for row in some})} voices of espeak-ng")


if __name__ == "__main__":
    main()
