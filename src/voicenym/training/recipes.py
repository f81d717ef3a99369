"""Registry of recipes, and :func:`train`, which runs one by name.

>>> from voicenym.training.recipes import RECIPES
>>> RECIPES.names()[:3]
['autoencoder', 'bottleneck', 'content']
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args, get_origin

from voicenym.corpus.skipped import STRICT, LeftOut
from voicenym.errors import VoicenymError
from voicenym.nets.names_and_paths import as_path
from voicenym.private import closed, private_folder
from voicenym.registry import Registry
from voicenym.training.recipe import Recipe, Trained
from voicenym.training.run.process_state import kept_process_state
from voicenym.training.run.progress_report import Report
from voicenym.training.run.teacher_check import Teacher, same_teachers

_HERE = "voicenym.training"
_LIST = {
    "autoencoder": ("identity.autoencoder_recipe:AutoencoderRecipe",
                    "Hide sex, accent and speaker in speaker vectors."),
    "bottleneck": ("content.bottleneck.bottleneck_recipe:BottleneckRecipe",
                   "Content encoder: the bottleneck of a TDNN-F recogniser."),
    "content": ("content.units.soft_content_recipe:ContentRecipe",
                "Content encoder that predicts units (HuBERT-soft)."),
    "durations": ("synthesis.duration_recipe:DurationRecipe",
                  "Predictor of durations from a pipeline's content."),
    "f0-predictor": ("synthesis.f0_predictor_recipe:F0PredictorRecipe",
                     "Predictor of F0 from a pipeline's content."),
    "frequency-voices": ("identity.frequency_voices_recipe:FrequencyVoicesRecipe",
                         "Speaker vectors of formants and pitch, by regression."),
    "householder": ("identity.householder_recipe:HouseholderRecipe",
                    "Householder network that rotates speaker vectors."),
    "hybrid": ("words.hybrid_recipe:HybridRecipe",
               "Recogniser of English words by phones."),
    "ivector": ("speakers.ivector_recipe:IvectorRecipe",
                "Verifier: i-vectors, LDA and PLDA."),
    "language": ("content.language.language_recipe:LanguageRecipe",
                 "Language scores: whether speech is of the weights' language."),
    "live-codes": ("content.live_codes.live_codes_recipe:LiveCodesRecipe",
                   "Encoder with which word codes are computed in live streams."),
    "mixture": ("identity.mixture_recipe:MixtureRecipe",
                "Gaussian mixture of a pool's speaker vectors."),
    "musa": ("codec.musa_recipe:MusaRecipe",
             "Codec that separates speaker, content and prosody."),
    "native-codes": ("content.native_codes.native_codes_recipe:NativeCodesRecipe",
                     "Encoder of word codes that gives accented speech native codes."),
    "phone-bottleneck": ("content.bottleneck.phone_bottleneck_recipe:PhoneBottleneckRecipe",
                         "Content encoder: the bottleneck of a TDNN-F of phones and word codes."),
    "recogniser": ("words.recogniser_recipe:RecogniserRecipe",
                   "Recogniser of words, from transcribed speech."),
    "register": ("identity.f0_regression_recipe:F0RegressionRecipe",
                 "Regression of pitch on speaker vectors."),
    "resynthesis": ("resynthesis.resynthesis_recipe:ResynthesisRecipe",
                    "Content encoder and synthesizer of a resynthesis system."),
    "synthesizer": ("synthesis.synthesizer_recipe:SynthesizerRecipe",
                    "Synthesizer of a pipeline, under frozen encoders."),
    "tokenizer": ("content.units.tokenizer_recipe:TokenizerRecipe",
                  "One codebook over the frames of a network."),
    "two-branch": ("speakers.two_branch_recipe:TwoBranchRecipe",
                   "Verifier of attackers: filterbanks and a frozen network."),
    "ubm": ("speakers.ubm_recipe:UbmRecipe",
            "Verifier: background model for GMM-UBM."),
    "units": ("content.units.units_recipe:UnitsRecipe",
              "Units of speech without texts: clusters of frames."),
    "vcloak": ("cloak.vcloak_recipe:VCloakRecipe",
               "Cloak that hides voices from verifiers."),
    "verifier": ("speakers.verifier_recipe:VerifierRecipe",
                 "Verifier: a speaker encoder."),
    "whisper": ("words.whisper_recipe:WhisperRecipe",
                "Whisper, fine-tuned on original or anonymized speech."),
    "word-codes": ("content.word_codes.word_codes_recipe:WordCodesRecipe",
                   "Codes of words before Whisper's decoder."),
}  # fmt: skip

RECIPES: Registry[Recipe] = Registry(
    "recipe", {name: f"{_HERE}.{place}" for name, (place, _) in _LIST.items()}, base=Recipe
)
SUMMARIES: Mapping[str, str] = {name: summary for name, (_, summary) in _LIST.items()}
"""One line on each recipe; reading it imports no recipe."""


def train(
    recipe: str,
    *,
    say: Callable[[str], None] = lambda text: None,
    skipped: LeftOut = STRICT,
    **options: Any,
) -> Trained:
    """Runs a training recipe, like ``voicenym train RECIPE``.

    Random generators, threads of torch and variables of the program are afterwards as before.

    Args:
        recipe: name, one of :data:`RECIPES`.
        say: receives lines of progress.
        skipped: collects recordings that cannot be used; the default raises at the first one.
        options: of the recipe, by their names; ``out`` is short for ``output``. Paths may be text,
            and options that may be repeated may be single values.

    Returns:
        The folder of the result, the number of steps, and figures on held-out speakers.

    Raises:
        VoicenymError: no such recipe or option, or data that cannot be used; it names the cure.

    Example:
        >>> import voicenym
        >>> voicenym.train("ubm", data="corpus", out="ubm", say=print)  # doctest: +SKIP
    """
    if "out" in options:
        options.setdefault("output", options.pop("out"))
    made = RECIPES.make(recipe, **_converted(recipe, options))
    _check_output(made)
    with kept_process_state(), closed(), same_teachers(made.output, _teachers(made)):
        return made.run(Report(say, skipped))


SPEECH = ("data", "test", "readings", "other", "music")
"""Options of recipes that name recordings."""
VECTORS = ("source", "vectors")
"""Options of recipes that name speaker vectors, beside which a result may lie."""


def _check_output(recipe: Recipe) -> None:
    """Refuses an output folder that is an input, or that others can enter.

    Checkpoints and states of speech would lie in a corpus, be passed on with it, or replace files
    of it.

    Raises:
        VoicenymError: with the cure.
    """
    output = recipe.output.resolve()
    for folder in _folders(recipe, SPEECH):
        place = folder.resolve()
        if place == output:
            raise VoicenymError(
                f"{recipe.output}: is the folder of the recordings; choose another folder with -o"
            )
        if place.is_relative_to(output) or output.is_relative_to(place):
            holds = "holds" if place.is_relative_to(output) else "lies in"
            raise VoicenymError(
                f"{recipe.output}: {holds} the folder of the recordings {folder}; choose another "
                "folder with -o"
            )
    for folder in _folders(recipe, VECTORS):
        if folder.resolve() == output:
            raise VoicenymError(
                f"{recipe.output}: holds the vectors to train on; choose another folder with -o"
            )
    if os.path.lexists(recipe.output):  # what is made later is private from the start
        private_folder(recipe.output)


def _teachers(recipe: Recipe) -> dict[str, Teacher]:
    """What a recipe's options name that are of frozen networks, by their flags."""
    found = {}
    for item in fields(recipe):
        if teacher := item.metadata.get("teacher"):
            flags = item.metadata.get("flags") or (f"--{item.name.replace('_', '-')}",)
            parts = teacher if isinstance(teacher, tuple) else ()
            found[flags[0]] = Teacher(getattr(recipe, item.name), parts)
    return found


def _folders(recipe: Recipe, options: tuple[str, ...]) -> Iterator[Path]:
    """Folders that exist, of some of a recipe's options."""
    for name in options:
        value = getattr(recipe, name, None)
        for place in value if isinstance(value, tuple) else (value,):
            if isinstance(place, Path) and place.is_dir():
                yield place


def _text(value: Any) -> Any:
    """A path as text that a name cannot be; other values as they are."""
    return as_path(value) if isinstance(value, Path) else value


def _converted(recipe: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Options with text as paths and single values as tuples, by the types of the recipe.

    Raises:
        VoicenymError: no such recipe, or a value outside of its limits.
    """
    parameters = {item.name: item for item in RECIPES.parameters(recipe)}
    about = {item.name: item.metadata for item in fields(RECIPES.get(recipe))}  # type: ignore[arg-type]
    found = dict(options)
    for name, value in options.items():
        if name not in parameters or value is None:
            continue
        kind = parameters[name]
        if get_origin(kind.annotation) is tuple:
            values = tuple(value) if isinstance(value, list | tuple) else (value,)
            of_paths = get_args(kind.annotation)[0] is Path
            value = tuple(Path(one) if of_paths else _text(one) for one in values)
        elif kind.takes(Path):
            value = Path(value)
        elif kind.takes(str):
            value = _text(value)
        limited = isinstance(value, int | float)
        low, high = about[name].get("minimum"), about[name].get("maximum")
        if limited and low is not None and value < low:
            raise VoicenymError(f"{name}: {value} is too small; give {low} or more")
        if limited and high is not None and value > high:
            raise VoicenymError(f"{name}: {value} is too large; give {high} or less")
        found[name] = value
    return found
