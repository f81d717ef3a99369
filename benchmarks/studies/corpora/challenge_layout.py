r"""Lays a corpus out as the data of a VoicePrivacy Challenge, for `voicenym challenge`.

Found: ``docs/howto/evaluate.md``, VoicePrivacy Challenges.

    python benchmarks/studies/corpora/challenge_layout.py --speech DIR --split dev \
        --part speechocean762 --pool-split train --women 3 --men 3 -o small/
    voicenym challenge small/data -s vtln --year 2022 --attacker-budget 1m -o results/

The folder gets ``data/libri_dev_enrolls``, ``data/libri_dev_trials_f`` and so on, for LibriSpeech
and VCTK, development and test, and ``train-clean-360`` beside ``data``. No speaker is in two of the
four test sets, nor in the pool. The names are the challenge's; the speech is that of the corpus
given, and its "common" sentences of VCTK are other sentences of the speakers, not those that all
read.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import soundfile

from voicenym.corpus.readers.recording_subsets import halved, pool_of
from voicenym.corpus.recording import RATE, Recording
from voicenym.corpus.recordings import recordings

SETS = ("libri_dev", "libri_test", "vctk_dev", "vctk_test")
POOL = "train-clean-360"


def folder(place: Path, own: Sequence[Recording]) -> None:
    """Writes a Kaldi data folder with FLAC files at 16 kHz."""
    (place / "wav").mkdir(parents=True)
    tables: dict[str, set[str]] = {n: set() for n in ("wav.scp", "utt2spk", "spk2gender", "text")}
    for recording in own:
        path = (place / "wav" / f"{recording.name}.flac").resolve()
        soundfile.write(path, recording.samples(), RATE)
        tables["wav.scp"].add(f"{recording.name} {path}")
        tables["utt2spk"].add(f"{recording.name} {recording.speaker}")
        tables["spk2gender"].add(f"{recording.speaker} {recording.sex or 'f'}")
        if recording.text:
            tables["text"].add(f"{recording.name} {recording.text}")
    for name, lines in tables.items():
        if lines:
            (place / name).write_text("\n".join(sorted(lines)) + "\n", "utf-8")


def write_set(data: Path, name: str, people: dict[str, list[Recording]], enrolment: int) -> int:
    """Writes one test set, and gives the number of its trials."""
    enrolled = [r for own in people.values() for r in own[:enrolment]]
    folder(data / f"{name}_enrolls", enrolled)
    (data / f"{name}_enrolls" / "enrolls").write_text("".join(f"{r.name}\n" for r in enrolled))
    total = 0
    for sex in "fm":
        mine = {who: own[enrolment:] for who, own in people.items() if own[0].sex == sex}
        tried = [r for own in mine.values() for r in own]
        kinds = {"": tried}
        if name.startswith("vctk"):
            kinds = {"": tried[0::2], "_common": tried[1::2]}
        for kind, some in kinds.items():
            place = data / f"{name}_trials_{sex}{kind}"
            folder(place, some)
            rows = [f"{who} {r.name} {'target' if who == r.speaker else 'nontarget'}\n"
                    for who in mine for r in some]  # fmt: skip
            (place / "trials").write_text("".join(rows))
            total += len(rows)
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--speech", type=Path, required=True, help="folder or manifest")
    parser.add_argument("--split", help="of the evaluated speakers")
    parser.add_argument("--part", help="corpus of a manifest")
    parser.add_argument("--half", default="report", help="of the speakers: tune or report")
    parser.add_argument("--pool-split", help="of the attacker's training speech")
    parser.add_argument("--women", type=int, default=3, help="of each of the four test sets")
    parser.add_argument("--men", type=int, default=3)
    parser.add_argument("--enrolment", type=int, default=3, help="recordings of each speaker")
    parser.add_argument("--trials", type=int, default=4)
    parser.add_argument("--pool", type=int, default=240, help="recordings of other people")
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args()
    found = halved(recordings(given.speech, given.split, given.part), given.half)
    speech: dict[str, list[Recording]] = defaultdict(list)
    for recording in sorted(found):
        speech[recording.speaker].append(recording)
    most = given.enrolment + given.trials
    waiting = {sex: [s for s, own in speech.items() if own[0].sex == sex and len(own) >= most]
               for sex in "fm"}  # fmt: skip
    for sex, count in (("f", given.women), ("m", given.men)):
        if len(waiting[sex]) < count * len(SETS):
            parser.error(
                f"{count * len(SETS)} speakers of sex {sex} with {most} recordings are needed, "
                f"there are {len(waiting[sex])}: give more speech, or fewer --women and --men"
            )
    data = given.output / "data"
    for number, name in enumerate(SETS):
        chosen = [s for sex, count in (("f", given.women), ("m", given.men))
                  for s in waiting[sex][number * count : (number + 1) * count]]  # fmt: skip
        people = {speaker: speech[speaker][:most] for speaker in chosen}
        trials = write_set(data, name, people, given.enrolment)
        print(f"{name}: {len(people)} speakers, {trials} trials")
    others = recordings(given.speech, given.pool_split, given.part)
    pool = pool_of([r for r in others if r.speaker not in speech], given.pool)
    folder(given.output / POOL, pool)
    print(f"{POOL}: {len(pool)} recordings of {len({r.speaker for r in pool})} speakers")


if __name__ == "__main__":
    main()
