r"""Makes a corpus of sentences of many languages, read by espeak-ng, for `voicenym train language`.

Found: ``docs/howto/pipelines.md``, Languages.

    pip download --no-deps django && unzip -q django-*.whl -d django
    python benchmarks/studies/other_languages.py --translations django -o languages/

Sentences are the translations of programs, files LANGUAGE/LC_MESSAGES/*.po: the same texts in all
languages, English (msgid) included, so that neither topic nor voice tells the language. The folder
gets FLAC files at 16 kHz and two manifests: english.tsv, and others.tsv with the language in the
column corpus. How a sentence is read (variant of the voice, speed, pitch) depends on --seed alone.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from pathlib import Path

import numpy as np
import soundfile
import soxr

from voicenym.processes import program

RATE = 16_000
COLUMNS = ("utterance", "path", "speaker", "corpus", "text")
ENTRY = re.compile(r'^msgid ((?:".*"\n?)+)msgstr ((?:".*"\n?)+)', re.MULTILINE)
QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
LEFT_OUT = re.compile(r"%\(\w+\)s|%s|%d|\{[^}]*\}|<[^>]*>|[“”«»\"`*_/()]")
VOICES = {"zh_Hans": "cmn", "pt_BR": "pt-br", "fr": "fr-fr"}
ENGLISH = ("en-us", "en-gb", "en-gb-scotland", "en-gb-x-rp", "en-029", "en-us-nyc")
VARIANTS = ("m1", "m2", "m3", "m4", "m5", "m6", "m7", "f1", "f2", "f3", "f4", "f5")


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


def read(text: str, voice: str, rng: np.random.Generator) -> np.ndarray | None:
    """Speech ``[time]`` at 16 kHz; None where espeak-ng has no such voice."""
    settings = ["-s", str(rng.integers(130, 190)), "-p", str(rng.integers(30, 70))]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "speech.wav"
        done = program(["espeak-ng", "-v", voice, *settings, "-w", str(path), "--", text])
        if done.returncode or not path.is_file():
            return None
        samples, rate = soundfile.read(path, dtype="float32")
    return np.asarray(soxr.resample(samples, rate, RATE) * rng.uniform(0.3, 1.0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--translations", type=Path, required=True)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--speakers", type=int, default=2, help="of each language")
    parser.add_argument("--english", type=int, default=12, help="speakers of each English")
    parser.add_argument("--sentences", type=int, default=12, help="of each speaker")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    texts: dict[str, list[tuple[str, str]]] = {}
    for file in sorted(given.translations.rglob("LC_MESSAGES/*.po")):
        texts.setdefault(file.parents[1].name, []).extend(sentences(file))
    texts = {language: some for language, some in texts.items() if len(some) >= 30}
    originals = sorted({original for some in texts.values() for original, _ in some})
    plan = [(voice, "english", originals, given.english) for voice in ENGLISH]
    for language, some in texts.items():
        if not language.startswith("en"):
            voice = VOICES.get(language, language)
            plan.append((voice, "others", [text for _, text in some], given.speakers))
    rows: dict[str, list[tuple[str, ...]]] = {"english": [], "others": []}
    for voice, side, lines, speakers in plan:
        for number in range(speakers):
            rng = np.random.default_rng([given.seed, number, *voice.encode()])
            variant = VARIANTS[rng.integers(len(VARIANTS))]
            speaker = f"{voice}-{number}"
            for place in rng.permutation(len(lines))[: given.sentences]:
                samples = read(lines[place], f"{voice}+{variant}", rng)
                if samples is None:
                    break  # no such voice
                name = f"{speaker}-{place}"
                path = given.output / speaker / f"{name}.flac"
                path.parent.mkdir(parents=True, exist_ok=True)
                soundfile.write(path, samples, RATE)
                where = str(path.relative_to(given.output))
                rows[side].append((name, where, speaker, f"espeak-{voice}", lines[place]))
    for side, some in rows.items():
        text = "\n".join("\t".join(row) for row in [COLUMNS, *some])
        (given.output / f"{side}.tsv").write_text(text + "\n", "utf-8")
        print(f"{side}: {len(some)} sentences, {len({row[3] for row in some})} voices of espeak-ng")


if __name__ == "__main__":
    main()
