"""Names and places in transcripts without a model: capitals, cues, and lists of names.

A recogniser writes proper nouns with a capital. Within a sentence, a capital word is taken for a
name; a list of given names and countries, that of the telephone library's towns, and words before
it ("my name is", "Doctor", "in") say more. At the beginning of a sentence, where every word has a
capital, only listed words and words after cues count. What is no proper noun of these lists, and
stands first in a sentence, is missed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cache
from importlib.resources import files

from voicenym.redaction.finding.spoken_numbers import Span

_TOKEN = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")
_TITLES = re.compile(r"(?:mr|mrs|ms|dr|st|prof|mt)\.$", re.IGNORECASE)
_STARTS = re.compile(r"(?:^|[.!?…\n][\"'”’)]*\s+|:\s+\")$")
_TITLES_TEXT = (
    "mr mrs ms miss mister missus dr doctor prof professor sir lady lord judge officer nurse "
    "sister father aunt uncle captain president senator king queen prince princess detective"
)
TITLES = frozenset(_TITLES_TEXT.split())
NAME_CUES = re.compile(
    r"(?:name(?:'s|’s|\sis|\swas)|called|named|i'm|i’m|i\sam|this\sis|it's|it’s|dear|hello|hi|hey"
    r"|thanks|thank\syou|meet|met|by|friend|colleague|neighbou?r|husband|wife|son|daughter|brother"
    r"|sister|mother|father|boss|nurse|doctor)\s*,?\s*$",
    re.IGNORECASE,
)
PLACE_CUES = re.compile(
    r"(?:\b(?:in|from|to|near|at|around|outside|across|via|towards?)|city\sof|town\sof)\s+$",
    re.IGNORECASE,
)
_NOT_NAMES_TEXT = (
    "i i'm i'll i'd i've ok okay tv dvd cd usa uk eu un nato english french german spanish "
    "italian chinese japanese russian american british european african asian indian god "
    "internet monday tuesday wednesday thursday friday saturday sunday january february march "
    "april may june july august september october november december christmas easter halloween "
    "christ mr mrs ms dr mister missus doctor professor sir"
)
NOT_NAMES = frozenset(_NOT_NAMES_TEXT.split())
_FUNCTION_TEXT = (
    "a an the this that these those and or but nor so because although though if unless until "
    "while whereas whether than as of at by for with about against between among into through "
    "during before after above below to from up down in out on off over under again then once "
    "here there where when why how what which who whom whose i me my myself we us our ours "
    "ourselves you your yours yourself yourselves he him his himself she her hers herself it "
    "its itself they them their theirs themselves is am are was were be been being has have had "
    "having do does did doing would should could can cannot must shall might not no only very "
    "too also just perhaps however therefore every each any some such many much few both either "
    "neither none nobody nothing everything something anything everyone someone anyone "
    "everybody somebody anybody"
)
FUNCTION_WORDS = frozenset(_FUNCTION_TEXT.split())
"""Words of grammar that are nobody's name, unlike "will", "may" and "mark"."""
LISTED, CUED, TWO, UNKNOWN, WEAK = 0.85, 0.8, 0.65, 0.5, 0.25
"""Confidences of names: of a list, after a cue, of two capitals, of one, and of doubtful ones."""


def names(text: str) -> Iterator[Span]:
    """Names of people in a text, and other proper nouns that no list knows as a place.

    Example:
        >>> text = "My name is Katherine Miller. Then Okonkwo left for Chicago."
        >>> [(text[a:b], score) for a, b, score in names(text) if score > 0.4]
        [('Katherine Miller', 0.85), ('Okonkwo', 0.5)]
    """
    given, towns, lower = _given(), _towns(), _lower(text)
    for start, end, words, opens in _runs(text):
        before = text[max(0, start - 30) : start]
        titled = bool(re.search(rf"\b(?:{'|'.join(TITLES)})\.?\s+$", before, re.IGNORECASE))
        known = any(_bare(word) in given for word in words)
        if known or titled or NAME_CUES.search(before):
            yield start, end, LISTED if known else CUED
        elif _is_town(words, towns) or any(_bare(word) in _countries() for word in words):
            if len(words) == 1 and not PLACE_CUES.search(before) and not opens:
                yield start, end, WEAK
        elif PLACE_CUES.search(before) and len(words) == 1:
            yield start, end, UNKNOWN
        elif len(words) > 1:
            yield start, end, TWO
        else:
            doubtful = opens or _bare(words[0]) in lower
            yield start, end, WEAK if doubtful else UNKNOWN


def places(text: str) -> Iterator[Span]:
    """Places in a text: towns, regions and countries of lists, and capitals after "in" or "from".

    Example:
        >>> text = "He moved from Springfield to Quux, and Germany is far."
        >>> [(text[a:b], score) for a, b, score in places(text)]
        [('Springfield', 0.85), ('Quux', 0.5), ('Germany', 0.8)]
    """
    given, towns, lower = _given(), _towns(), _lower(text)
    for start, end, words, opens in _runs(text):
        cued = bool(PLACE_CUES.search(text[max(0, start - 30) : start]))
        country = any(_bare(word) in _countries() for word in words)
        if country or _is_town(words, towns):
            if cued:
                yield start, end, LISTED
            elif (opens and not country) or _common(words, given | lower):
                yield start, end, WEAK
            else:
                yield start, end, CUED
        elif cued and not any(_bare(word) in given for word in words):
            yield start, end, UNKNOWN


def is_given(word: str) -> bool:
    """Whether a word is a given name of the lists.

    Example:
        >>> is_given("Anna's"), is_given("Okonkwo")
        (True, False)
    """
    return _bare(word) in _given()


def is_function_word(word: str) -> bool:
    """Whether a word is one of grammar, such as "which", and nobody's name.

    Example:
        >>> is_function_word("Which"), is_function_word("Will"), is_function_word("Okonkwo")
        (True, False, False)
    """
    return _bare(word) in FUNCTION_WORDS


def is_place(words: str) -> bool:
    """Whether words are a town, a region or a country of the lists, and no given name.

    Example:
        >>> is_place("New York"), is_place("Henderson Miller")
        (True, False)
    """
    text = words.casefold().strip(" .,;:!?")
    return _bare(text) not in _given() and (_is_town([text], _towns()) or text in _countries())


def _runs(text: str) -> Iterator[tuple[int, int, list[str], bool]]:
    """Runs of capital words: start, end, words, and whether a sentence opens with the run."""
    run: list[re.Match[str]] = []
    opens = False
    for token in _TOKEN.finditer(text):
        gap = text[run[-1].end() : token.start()] if run else ""
        titled = bool(run) and bool(_TITLES.search(text[: run[-1].end() + 1]))
        together = gap.isspace() or (titled and gap.startswith("."))
        if run and not (together and _capital(token[0])):
            yield run[0].start(), run[-1].end(), [m[0] for m in run], opens
            run = []
        if _capital(token[0]):
            if not run:
                opens = bool(_STARTS.search(text[: token.start()]))
                if opens and _bare(token[0]) in _stop_words():
                    continue
            run.append(token)
    if run:
        yield run[0].start(), run[-1].end(), [m[0] for m in run], opens


def _capital(word: str) -> bool:
    return word[0].isupper() and word.casefold().replace("’", "'") not in NOT_NAMES


def _bare(word: str) -> str:
    return re.sub(r"['’]s$|['’]$", "", word.casefold())


def _lower(text: str) -> set[str]:
    """Words that the text also writes without a capital."""
    return {m[0] for m in _TOKEN.finditer(text) if m[0].islower()}


def _common(words: list[str], known: Collection[str]) -> bool:
    return any(_bare(word) in known for word in words)


def _is_town(words: list[str], towns: frozenset[str]) -> bool:
    return _bare(" ".join(words)) in towns


@cache
def _lists() -> list[frozenset[str]]:
    """Given names, names of other peoples, and places."""
    text = files("voicenym.metrics.words").joinpath("proper_nouns.txt").read_text("utf-8")
    return [frozenset(line.split()) for line in text.splitlines() if not line.startswith("#")]


def _given() -> frozenset[str]:
    return _lists()[0] | _lists()[1]


@cache
def _countries() -> frozenset[str]:
    """Countries and the best-known places."""
    from phonenumbers.geodata.locale import LOCALE_DATA

    known = {str(names.get("en", "")).casefold() for names in LOCALE_DATA.values()}
    return _lists()[2] | {name for name in known if name and not name.startswith("*")}


@cache
def _towns() -> frozenset[str]:
    """Towns and regions of the telephone library's area codes, in English."""
    from phonenumbers.geodata import GEOCODE_DATA

    found: set[str] = set()
    for texts in GEOCODE_DATA.values():
        for part in re.split(r"[,/]|\s-\s", str(texts.get("en", ""))):
            name = part.strip().casefold()
            if len(name) > 3 and name[0].isalpha():
                found.add(name)
    return frozenset(found)


@cache
def _stop_words() -> frozenset[str]:
    """Words that open a sentence without being names."""
    from spacy.lang.en.stop_words import STOP_WORDS

    return frozenset(STOP_WORDS) | {"please", "yes", "hello", "hi", "thanks", "sorry", "well", "oh"}
