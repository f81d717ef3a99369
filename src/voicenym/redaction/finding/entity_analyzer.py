"""Entities in transcripts by Presidio: with a spaCy model, or by rules that need none.

Presidio's own recognisers of patterns (telephone and card numbers, addresses of mail and the web)
run either way, and so do ours of spoken numbers, dates and addresses. Names and places come from a
spaCy model, or from :mod:`voicenym.redaction.finding.proper_names`. Nothing reaches the network: a
model is never fetched, and addresses of mail are checked without the list of public suffixes, which
tldextract would download.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from voicenym.errors import DependencyError, RedactionError
from voicenym.libraries import library, without_local_settings
from voicenym.nets.names_and_paths import is_path
from voicenym.redaction.finding.categories import ENTITIES
from voicenym.redaction.finding.proper_names import names, places
from voicenym.redaction.finding.spoken_addresses import addresses
from voicenym.redaction.finding.spoken_dates import dates
from voicenym.redaction.finding.spoken_numbers import Span, numbers

RULES = "rules"
LANGUAGE = "en"
"""Of the rules."""


@dataclass(frozen=True)
class Entity:
    """Words of a text that belong to a category: start and end in characters, and confidence."""

    start: int
    end: int
    category: str
    confidence: float


class EntityAnalyzer:
    """Finds entities in texts.

    Args:
        model: name of an installed spaCy model, or its folder as ``./FOLDER``; ``rules`` for none;
            None for the largest that is installed for the language, or the rules.
        language: of the texts.

    Raises:
        DependencyError: presidio-analyzer is not installed.
        RedactionError: no such model, or rules for another language than English.
    """

    def __init__(self, model: str | None = None, language: str = LANGUAGE) -> None:
        logging.getLogger("presidio-analyzer").setLevel(logging.ERROR)  # it names what it finds
        try:
            presidio: Any = library("presidio_analyzer")
        except ImportError as error:
            raise DependencyError(
                "presidio-analyzer is not installed: pip install 'voicenym[speech]'"
            ) from error
        self._language = self.language = language
        self.model = _model(model, language)
        with without_local_settings():
            engine, recognizers = _parts(self.model, language)
            registry = presidio.RecognizerRegistry(
                recognizers=recognizers, supported_languages=[language]
            )
            self._analyzer = presidio.AnalyzerEngine(
                registry=registry,
                nlp_engine=engine,
                supported_languages=[language],
                log_decision_process=False,
            )

    def entities(self, text: str, categories: Sequence[str]) -> list[Entity]:
        """Entities of a text, in order.

        Args:
            text: of at most some thousand words.
            categories: of :data:`voicenym.redaction.finding.categories.CATEGORIES`.
        """
        wanted = [name for name, category in ENTITIES.items() if category in categories]
        known = set(self._analyzer.get_supported_entities(self._language))
        found = self._analyzer.analyze(
            text, self._language, entities=[name for name in wanted if name in known]
        )
        return sorted(
            (Entity(r.start, r.end, ENTITIES[r.entity_type], float(r.score)) for r in found),
            key=lambda entity: (entity.start, entity.end),
        )


def _model(model: str | None, language: str) -> str:
    """Name or folder of a spaCy model; ``rules`` for none."""
    if model is None:
        installed = [
            name
            for name in library("spacy.util").get_installed_models()
            if name.startswith(f"{language}_")
        ]
        order = ("_trf", "_lg", "_md", "_sm")
        known = [name for end in order for name in installed if name.endswith(end)]
        model = known[0] if known else RULES
    if model == RULES:
        if language != LANGUAGE:
            raise RedactionError(
                f"the rules know English, not {language!r}; give a spaCy model of it with "
                "--entities, or words of your own alone (--list FILE)"
            )
        return RULES
    if is_path(model):
        if not (Path(model) / "config.cfg").is_file():
            raise RedactionError(f"{model}: no folder of a spaCy model; give one with config.cfg")
        return str(Path(model).resolve())
    if not library("spacy.util").is_package(model):
        raise RedactionError(
            f"{model}: no such spaCy model is installed; install it (python -m spacy download "
            f"{model}), give its folder as ./FOLDER, or --entities rules"
        )
    return model


def _parts(model: str, language: str) -> tuple[Any, list[Any]]:
    """Presidio's engine and its recognisers."""
    from presidio_analyzer import predefined_recognizers as own
    from presidio_analyzer.nlp_engine import NoOpNlpEngine, SpacyNlpEngine

    class Mail(own.EmailRecognizer):
        """Addresses of mail, without a look at the list of public suffixes."""

        def validate_result(self, pattern_text: str) -> bool | None:
            return None

    patterns = [own.PhoneRecognizer, own.CreditCardRecognizer, own.IbanRecognizer,
                own.IpRecognizer, own.UrlRecognizer, own.UsSsnRecognizer, own.DateRecognizer,
                Mail]  # fmt: skip
    found = [kind(supported_language=language) for kind in patterns]
    rules: dict[str, Callable[[str], Iterator[Span]]] = {}
    if language == LANGUAGE:
        rules = {"NUMBER": numbers, "DATE_TIME": dates, "ADDRESS": addresses}
    else:
        rules = {"NUMBER": _digits}
    if model == RULES:
        rules |= {"PERSON": names, "LOCATION": places}
        engine: Any = NoOpNlpEngine([{"lang_code": language, "model_name": ""}])
    else:
        engine = SpacyNlpEngine([{"lang_code": language, "model_name": model}])
        found.append(own.SpacyRecognizer(supported_language=language))
    try:
        engine.load()
    except Exception as error:  # of spaCy, of the libraries of a model
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise RedactionError(f"{model}: no spaCy model that can be run ({first})") from None
    return engine, [*found, *(_recognizer(*rule, language) for rule in rules.items())]


def _digits(text: str) -> Iterator[Span]:
    """Numbers in digits, in any language."""
    for start, end, score in numbers(text):
        if any(c.isdigit() for c in text[start:end]):
            yield start, end, score


def _recognizer(entity: str, find: Callable[[str], Iterator[Span]], language: str) -> Any:
    """A recogniser of Presidio for one of our functions."""
    from presidio_analyzer import LocalRecognizer, RecognizerResult

    class Rule(LocalRecognizer):
        def load(self) -> None:
            pass

        def analyze(self, text: str, entities: list[str], nlp_artifacts: Any) -> list[Any]:
            if entity not in entities:
                return []
            return [RecognizerResult(entity, a, b, score) for a, b, score in find(text) if b > a]

    return Rule(supported_entities=[entity], supported_language=language, name=f"voicenym {entity}")
