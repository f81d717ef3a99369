"""Files of webMUSHRA and of the P.808 toolkit: studies to them, answers from them and to them.

webMUSHRA (Schoeffler et al., Journal of Open Research Software 6, 2018) has its configuration in
YAML, of which JSON is a part, and answers in CSV. The P.808 toolkit (Naderi and Cutler, Interspeech
2020) has lists of clips in CSV, and answers as Amazon Mechanical Turk gives them.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

from voicenym.errors import VoicenymError
from voicenym.listening.exchange.answer_tables import read_table, unreadable
from voicenym.listening.questions import kind
from voicenym.listening.ratings import Rating
from voicenym.listening.study import GOLD, RATING, STIMULI, TRAINING, TRAP, ItemKey, Key, Study
from voicenym.special_files import special_kind
from voicenym.table_cells import stored

MUSHRA_COLUMNS = (
    "session_test_id", "listener", "trial_id", "rating_stimulus", "rating_score", "rating_time",
    "rating_comment",
)  # fmt: skip
PLACE = f"configs/{STIMULI}"
"""Folder of the clips below webMUSHRA's root."""


def webmushra_config(study: Study, key: Key, address: str = PLACE) -> str:
    """Configuration of webMUSHRA with the study's MUSHRA, ABX and one-number tests.

    Args:
        address: folder of the clips, as webMUSHRA finds it.

    Raises:
        VoicenymError: the study has none of these tests.
    """
    pages: list[object] = ["random"]
    for name, item in key.items.items():
        clips = _clips(study, name)
        if item.role != RATING or not clips:
            continue
        files = [f"{address}/{clip}.wav" for clip in clips]
        question = kind(item.test).questions[0]
        common = {"id": name, "name": study.title, "content": question.text}
        if item.test == "mushra":
            stimuli = {clip: file for clip, file in zip(clips[1:], files[1:], strict=True)
                       if key.clips[clip].system.partition(" ")[0] != "original"}  # fmt: skip
            pages.append({"type": "mushra", **common, "showWaveform": False, "enableLooping": True,
                          "reference": files[0], "createAnchor35": True, "createAnchor70": True,
                          "randomize": True, "stimuli": stimuli})  # fmt: skip
        elif item.test == "abx":
            pages.append({"type": "paired_comparison", **common, "reference": files[2],
                          "stimuli": {"A": files[0], "B": files[1]}})  # fmt: skip
        elif item.test in ("acr", "naturalness", "intelligibility"):
            labels = question.labels
            values = range(question.low, question.high + 1)
            response = [
                {"value": value, "label": labels[value - question.low]
                 if len(labels) == len(values) else str(value)} for value in values
            ]  # fmt: skip
            pages.append({"type": "likert_single_stimulus", **common, "mustRate": True,
                          "stimuli": {clips[0]: files[0]}, "response": response})  # fmt: skip
    if len(pages) == 1:
        raise VoicenymError(
            "webMUSHRA has no form for these tests; it takes mushra, abx, acr, naturalness and "
            "intelligibility"
        )
    config = {
        "testname": study.title, "testId": "voicenym", "bufferSize": 2048, "stopOnErrors": True,
        "showButtonPreviousPage": False, "remoteService": "service/write.php",
        "pages": [{"type": "generic", "id": "consent", "name": "Consent",
                   "content": study.consent.replace("\n\n", "<br><br>")}, pages,
                  {"type": "finish", "name": "Thank you", "content": "Your answers are stored.",
                   "showResults": False, "writeResults": True}],
    }  # fmt: skip
    return json.dumps(config, ensure_ascii=False, indent=1) + "\n"


def webmushra_answers(ratings: Sequence[Rating]) -> str:
    """``mushra.csv`` of MUSHRA ratings, as webMUSHRA's server writes it."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(MUSHRA_COLUMNS)
    for one in ratings:
        if one.test == "mushra":
            name = "reference" if one.system == "original" else one.system
            time = "" if one.seconds != one.seconds else round(1000 * one.seconds)
            row = ("voicenym", one.listener, one.item, name, f"{one.score:g}", time, "")
            writer.writerow(stored(cell) for cell in row)
    return text.getvalue()


def read_webmushra(path: Path) -> list[Rating]:
    """Ratings of webMUSHRA's ``mushra.csv`` or ``lss.csv``.

    Stimuli are taken as systems, trials as utterances; the column after ``session_test_id`` tells
    listeners apart.

    Raises:
        VoicenymError: as of :func:`.read_table`.
    """
    heading = _heading(path)
    who = heading[1] if len(heading) > 1 else "listener"
    common = {"listener": who, "item": "trial_id", "utterance": "trial_id"}
    if "rating_stimulus" in heading:
        columns = {**common, "system": "rating_stimulus", "score": "rating_score",
                   "question": "=MUSHRA quality", "test": "=mushra"}  # fmt: skip
        return read_table(path, columns, (0, 100), "reference")
    if "stimuli_rating" in heading:
        columns = {**common, "system": "stimuli", "score": "stimuli_rating", "question": "=quality"}
        return read_table(path, columns)
    raise VoicenymError(
        f"{path}: is no mushra.csv or lss.csv of webMUSHRA (columns: {', '.join(heading)}); map "
        "its columns with --column"
    )


def p808_lists(study: Study, key: Key, test: str, address: str) -> dict[str, str]:
    """Lists of clips of an ACR or DCR test, by file name, for the P.808 toolkit.

    Args:
        test: ``acr`` or ``dcr``.
        address: of the folder of clips on the web, such as ``https://example.org/stimuli``.

    Raises:
        VoicenymError: another test, or one that the study has not.
    """
    if test not in ("acr", "dcr"):
        raise VoicenymError("the P.808 toolkit takes the tests acr and dcr")
    rows: dict[str, list[tuple[str, ...]]] = {RATING: [], TRAINING: [], GOLD: [], TRAP: []}
    for name, item in key.items.items():
        clips = [f"{address.rstrip('/')}/{clip}.wav" for clip in _clips(study, name)]
        if item.test != test or not clips:
            continue
        row = (clips[-1], clips[0]) if test == "dcr" else (clips[0],)
        rows[item.role].append(row if item.role in (RATING, TRAINING) else (row[0], _middle(item)))
    if not rows[RATING]:
        other = "dcr" if test == "acr" else "acr"
        raise VoicenymError(
            f"the study has no test {test}: give --test {other} if it has that one, or design a "
            f"study with voicenym listen design --test {test}"
        )
    second = test == "dcr"
    heads = {
        RATING: ("rating_clips", "references")[: 1 + second],
        TRAINING: ("training_clips", "training_references")[: 1 + second],
        GOLD: ("gold_clips", "gold_clips_ans"),
        TRAP: ("trapping_clips", "trapping_ans"),
    }
    names = {RATING: "rating_clips.csv", TRAINING: "training_clips.csv", GOLD: "gold_clips.csv",
             TRAP: "trapping_clips.csv"}  # fmt: skip
    found = {}
    for role, lines in rows.items():
        if lines:
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows([heads[role], *lines])
            found[names[role]] = text.getvalue()
    return found


def read_p808(path: Path, key: Key | None = None) -> list[Rating]:
    """Ratings of the P.808 toolkit's answers, a row for each session of a worker.

    Trapping and gold clips are left out. The clip's file name is looked up in the key of the study
    that it was exported from; without one, its folder is the system.

    Args:
        path: CSV with ``WorkerId``, ``Answer.q1``, ``Answer.q1_url`` and so on, in any case.

    Raises:
        VoicenymError: no such columns, or a rating outside 1 to 5.
    """
    heading = [name.lower() for name in _heading(path)]
    questions = [name for name in heading if name.removeprefix("answer.q").isdigit()]
    if "workerid" not in heading or not questions:
        raise VoicenymError(
            f"{path}: is no result of the P.808 toolkit (no WorkerId or Answer.q1); map its "
            "columns with --column"
        )
    found = []
    with path.open(encoding="utf-8-sig", newline="") as file:
        for line, raw in enumerate(csv.DictReader(file), 2):
            row = {name.lower(): (value or "").strip() for name, value in raw.items() if name}
            checks = {row.get("input.tp"), row.get("input.gold_clips"), row.get("input.gold_url")}
            for question in questions:
                url = row.get(f"{question}_url", "")
                if not url or url in checks or not row[question]:
                    continue
                score = float(row[question]) if row[question].isdigit() else 0.0
                if not 1 <= score <= 5:
                    raise VoicenymError(
                        f"{path}, line {line}: the rating {row[question]!r} is outside the scale 1 "
                        "to 5; mend the line"
                    )
                found.append(_of_clip(row["workerid"], url, score, key))
    return [one for one in found if one is not None]


def _of_clip(worker: str, url: str, score: float, key: Key | None) -> Rating | None:
    parts = url.split("/")
    name = parts[-1].rsplit(".", 1)[0]
    if key is None:
        folder = parts[-2] if len(parts) > 1 else ""
        return Rating(worker, url, "acr", "quality", folder, name, "", score)
    clip = key.clips.get(name)
    if clip is None or " " in clip.system:
        return None  # a gold or trapping clip
    return Rating(worker, url, "acr", "quality", clip.system, clip.utterance, clip.speaker, score)


def _clips(study: Study, name: str) -> tuple[str, ...]:
    """Clips of an item as some listener gets them."""
    for pages in study.sessions.values():
        for page in pages:
            if page.name == name:
                return page.clips
    return ()


def _middle(item: ItemKey) -> str:
    """Expected rating as one number: the outer end of a gold item, the number of a trap."""
    low, _, high = next(iter(item.expected.values())).partition("-")
    return high if item.role == GOLD and high == "5" else low


def _heading(path: Path) -> list[str]:
    if special_kind(path) == "a pipe":  # read twice, which one from a shell does not allow either
        raise VoicenymError(f"{path}: is a pipe; give a file")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            return next(csv.reader(file), [])
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise unreadable(path, error) from error
