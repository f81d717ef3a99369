"""Pipeline folders: separately trained modules, assembled and checked for compatibility.

::

    FOLDER/config.json    which parts, by their SHA-256; tracker of pitch; scale of speaker vectors
           content/       of train content, train bottleneck, or models convert
           speaker/       of train verifier, or models convert
           synthesizer/
           pool/ roh/ loh/ mixture/    whom identity methods choose: what the system in use needs
           roh-2/      of ssl-roh from revision 2 on, in bundled folders
           synthesizer-7/      of word-codes from revision 7 on, in bundled folders
           nsf/      vocoder in place of the synthesizer's, of b1a with vocoder=nsf, in bundled ones
           hifigan/      the same, of ssl-* and b1b with vocoder=hifigan
           hifigan-speaker/    of ssl-* with it in their last revision, in bundled folders
           register/      which pitch goes with a speaker vector; where pitch is moved
           f0/            predictor of F0 from content; where pitch is predicted
           durations/     predictor of durations from content; where timing is drawn
           native/        encoder of codes of a native reading; where the accent is native
           drawn/         one with directions of accents; where the accent is drawn
           live/          changes of content and drawn for live streams; where they are live
           live-8/     of word-codes from revision 8 on, in bundled folders
           language/      scores of other languages; where recordings of these are refused

Each part is a folder of its own, ``config.json`` and ``model.safetensors``, whose bytes are checked
against their digest when they are read. A part that several pipelines use may lie in the folder of
one of them; the others name its place, relative to their own, in ``shared`` of ``config.json``.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Collection, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from voicenym.errors import VoicenymError, WeightsError
from voicenym.nets.checkpoint import CONFIG, DIGEST, configuration, copy, stamp
from voicenym.nets.content import content_encoders as contents
from voicenym.nets.content import language_scores, word_code_encoder
from voicenym.nets.matrix_precision import SINGLE
from voicenym.nets.names_and_paths import is_path
from voicenym.nets.speakers import speaker_encoders as encoders
from voicenym.nets.synthesis import duration_predictor, f0_predictor, synthesizers
from voicenym.nets.words.word_codes import live_word_codes
from voicenym.private import is_closed, private_folder, write_inside
from voicenym.resynthesis.pipeline.assembly_check import VOCODERS, check_folders
from voicenym.resynthesis.pipeline.pipeline_modules import Assembly
from voicenym.resynthesis.pipeline.prosody_settings import NATIVE
from voicenym.resynthesis.pipeline.synthesis_settings import Settings, TrainingRecord

KIND = "pipeline"
BUNDLED = Path(__file__).parent / "bundled"
"""Pipelines that come along, by the names of their folders."""
NEEDED = ("content", "speaker", "synthesizer")
CHOICES = (
    "pool",
    "roh",
    "roh-2",
    "loh",
    "mixture",
    "register",
    "f0",
    "language",
    "durations",
    "native",
    "drawn",
    "live",
    "live-8",
    "synthesizer-7",
    *VOCODERS,
)
"""Optional modules, which some systems need."""
OPTIONAL_NETWORKS = ("f0", "language", "durations", *NATIVE, "live")
"""Those that are loaded with the needed ones, where they are there."""
OF_REVISIONS = {
    "roh-2": "roh",
    "synthesizer-7": "synthesizer",
    "live-8": "live",
    **dict.fromkeys(VOCODERS, "synthesizer"),
}
"""Modules that stand for others from a revision of a system on, ``-2`` from revision 2 on, or with
a setting of it. They go when those are replaced.
"""
ASSEMBLE = (
    "voicenym models assemble --content DIR --speaker DIR --synthesizer DIR ... -o FOLDER; what "
    "can be fetched: voicenym models list"
)


def assemble(
    folder: Path,
    parts: Mapping[str, Path],
    settings: Settings | None = None,
    card: Mapping[str, Any] | None = None,
    shared: Collection[str] = (),
) -> None:
    """Copies modules into a folder and writes their settings, after a compatibility check.

    Modules already in the folder stay unless they are given again.

    Args:
        folder: made where there is none.
        parts: folders by the parts' names; :data:`NEEDED`, and of :data:`CHOICES` what the systems
            that will use the folder need.
        settings: as of :func:`adjusted` unless given.
        card: where the parts come from.
        shared: those of ``parts`` that are not copied: the folder names their place.

    Raises:
        DependencyError, VoicenymError: an unknown part, one that is missing, damaged, of another
            kind, or does not fit the others; or a folder that cannot be written.
    """
    unknown = sorted(set(parts) - {*NEEDED, *CHOICES})
    if unknown:
        raise VoicenymError(f"no part {unknown[0]!r}; there are: {', '.join((*NEEDED, *CHOICES))}")
    before: dict[str, Any] = {}
    if (folder / CONFIG).exists():
        before = _pipeline_config(folder)
    before_parts = before.get("parts", {})
    elsewhere = {n: p for n, p in before.get("shared", {}).items() if n not in parts}
    # a network that is given in place of another stands for all revisions
    gone = {n for n, former in OF_REVISIONS.items() if former in parts or n not in before_parts}
    there = [name for name in there_are(folder) if name not in gone]
    places = {**{name: located(folder, name) for name in there}, **parts}
    for name in NEEDED:
        if name not in places:
            raise VoicenymError(f"a pipeline needs {name}: give --{name} DIR")
    if settings is None:
        settings = adjusted(folder, {}, parts.get("synthesizer"))
    check_folders(places, _networks(places, settings))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, source in parts.items():
            if name in shared:
                relative = os.path.relpath(source.resolve(), folder.resolve())
                elsewhere[name] = Path(relative).as_posix()
            elif (folder / name).resolve() != source.resolve():
                _copy(source, folder / name)
        recorded = {
            "kind": KIND,
            **asdict(settings),
            "parts": {name: _digest(place) for name, place in places.items()},
            **({"shared": elsewhere} if elsewhere else {}),
            "card": {**before.get("card", {}), **dict(card or {})},
        }
        write_inside(folder / CONFIG, json.dumps(recorded, indent=2, ensure_ascii=False) + "\n")
    except OSError as error:
        raise VoicenymError(
            f"{folder}: cannot be written ({error.strerror}); choose another folder"
        ) from error


def adjusted(folder: Path, given: Mapping[str, Any], synthesizer: Path | None = None) -> Settings:
    """Given settings, completed by those that the synthesizer was trained with.

    Args:
        folder: of a pipeline, whose settings stay where a synthesizer says nothing; or none yet.
        given: settings by name.
        synthesizer: folder of one that is put in.

    Raises:
        VoicenymError: as of :class:`~voicenym.resynthesis.pipeline.synthesis_settings.Settings`.
    """
    record = None if synthesizer is None else TrainingRecord.of(synthesizer)
    if record is not None:
        return replace(record.settings, **given)
    there = (folder / CONFIG).exists()
    return replace(_settings(folder) if there else Settings(), **given)


def opened(
    folder: Path, device: str = "cpu", precision: str = SINGLE, natives: Collection[str] = ()
) -> Assembly:
    """The modules in a folder, cached while its configuration does not change.

    Args:
        folder: of the pipeline.
        device: where they compute.
        precision: of the products of a content encoder that knows several.
        natives: accents of codes of a native reading; those are loaded whose encoder the folder
            has.

    Raises:
        WeightsError: there is no such folder, or a part of it is not there.
        DependencyError, VoicenymError: what is there is damaged, of another kind, or does not fit.
    """
    try:
        stamp = os.stat(folder / CONFIG).st_mtime_ns
    except OSError:
        if folder.is_dir() and any(folder.iterdir()):
            raise VoicenymError(
                f"{folder}: is not the folder of a pipeline (no {CONFIG}); make one: {ASSEMBLE}"
            ) from None
        raise WeightsError(f"no weights in {folder}; put them together: {ASSEMBLE}") from None
    return _opened(folder, device, precision, frozenset(natives), stamp)


@functools.lru_cache(maxsize=2)
def _opened(
    folder: Path, device: str, precision: str, natives: frozenset[str], stamp: int
) -> Assembly:
    settings = _settings(folder)
    there = there_are(folder)
    used = [*NEEDED, *(name for name in OPTIONAL_NETWORKS if name in there)]
    unused = {name for name in NATIVE if name not in natives}
    if "drawn" in unused:
        unused.add("live")  # whose accents are drawn
    used = [name for name in used if name not in unused]
    made = _networks({name: part(folder, name) for name in used}, settings).to(device)
    if precision != SINGLE:
        made.content.precision = precision
    return made


def there_are(folder: Path) -> list[str]:
    """Names of the modules of a folder, those that lie elsewhere included."""
    return [name for name in (*NEEDED, *CHOICES) if located(folder, name).is_dir()]


def located(folder: Path, name: str) -> Path:
    """Where a module lies or would lie: in the folder, or where its configuration says."""
    own = folder / name
    if own.is_dir() or not (folder / CONFIG).is_file():
        return own
    elsewhere = _pipeline_config(folder).get("shared", {})
    return folder / str(elsewhere[name]) if name in elsewhere else own


def choice(folder: Path, name: str) -> Path:
    """Where what an identity method chooses from lies: ``pool``, ``mixture`` or a rotation of the
    folder, else the bundled one, which is of vectors of ``ecapa-small``.
    """
    own = located(folder, name)
    return own if own.is_dir() else BUNDLED / "ssl" / name


def folder_of(place: str) -> Path:
    """Folder of a pipeline: the bundled one of a name, or a path.

    Raises:
        VoicenymError: there is no pipeline.
    """
    bundled = BUNDLED / place
    folder = Path(place) if is_path(place) or not bundled.is_dir() else bundled
    if not (folder / CONFIG).is_file():
        names = ", ".join(sorted(one.name for one in BUNDLED.iterdir() if one.is_dir()))
        raise VoicenymError(f"{place}: no pipeline; give its folder as ./FOLDER, or one of {names}")
    return folder


def parts_of(folder: Path, without: Collection[str] = ()) -> dict[str, Path]:
    """Folders of the modules of a pipeline by name, but for some, for those that stand for one of
    these in later revisions, and for a live encoder without the modules that it was trained for.
    """
    gone = {*without, *(["live"] if {"content", "drawn"} & {*without} else [])}
    gone |= {name for name, former in OF_REVISIONS.items() if former in gone}
    return {name: located(folder, name) for name in there_are(folder) if name not in gone}


def part(folder: Path, name: str) -> Path:
    """Folder of a module.

    Raises:
        WeightsError: it is not there.
        VoicenymError: its digest differs from the one recorded at assembly.
    """
    place = located(folder, name)
    if not place.is_dir():
        raise WeightsError(
            f"{folder}: has no {name}; add it: voicenym models assemble --{name} DIR -o {folder}"
        )
    wanted = _pipeline_config(folder).get("parts", {}).get(name)
    if wanted is not None and _digest(place) != wanted:
        raise VoicenymError(
            f"{place}: is not what the folder was put together with; add it with voicenym models "
            f"assemble --{name} DIR -o {folder}"
        )
    return place


def of_revision(folder: Path, name: str, revision: int) -> str:
    """Name of the module that a revision of a system uses: that of :data:`OF_REVISIONS` of this or
    the last earlier revision, if the folder was put together with it, else ``name``.
    """
    later = [f"{name}-{number}" for number in range(revision, 1, -1)]
    return next((one for one in later if one in OF_REVISIONS and belongs(folder, one)), name)


def belongs(folder: Path, name: str) -> bool:
    """Whether a folder was put together with a module; one that stood for a module that was
    replaced may still lie there.
    """
    recorded = _pipeline_config(folder).get("parts", {}) if (folder / CONFIG).is_file() else {}
    return name in recorded


def version(folder: Path) -> str:
    """Version of all modules; equal for equal weights and settings, empty without weights.

    Language scores do not count: they change no voice, nor does the encoder of live streams. Nor
    do durations and native codes, which only some settings use:
    :attr:`~voicenym.resynthesis.pipeline.pipeline_system.Pipeline.version`; nor modules of later
    revisions, which are part of the revision.
    """
    if not (folder / CONFIG).is_file():
        return ""
    _pipeline_config(folder)  # of another kind: refused
    return stamp(folder, without=("language", "durations", *NATIVE, "live", *OF_REVISIONS))


def _networks(places: Mapping[str, Path], settings: Settings) -> Assembly:
    return Assembly(
        contents.load(places["content"]),
        encoders.load(places["speaker"]),
        synthesizers.load(places["synthesizer"]),
        settings,
        f0_predictor.load(places["f0"]) if "f0" in places else None,
        language_scores.load(places["language"]) if "language" in places else None,
        duration_predictor.load(places["durations"]) if "durations" in places else None,
        {name: word_code_encoder.load(places[name]) for name in NATIVE if name in places},
        live_word_codes.load(places["live"]) if "live" in places else None,
    )


def _pipeline_config(folder: Path) -> dict[str, Any]:
    recorded = configuration(folder)
    if recorded.get("kind") != KIND:
        raise VoicenymError(
            f"{folder}: is not the folder of a pipeline (it holds "
            f"{recorded.get('kind', 'something else')}); make one: {ASSEMBLE}"
        )
    return recorded


def _settings(folder: Path) -> Settings:
    return Settings.from_config(_pipeline_config(folder), folder / CONFIG)


def _digest(place: Path) -> str:
    return str(configuration(place).get(DIGEST, ""))


def _copy(source: Path, target: Path) -> None:
    """Copies a module; file permissions are kept, such as those of a private pool."""
    if is_closed(source):
        private_folder(target)
    copy(source, target)
