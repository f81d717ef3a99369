"""Tests that listeners take: clips, questions, scales and wording, with their sources."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from voicenym.errors import VoicenymError

SCALE, CHOICE, SLIDERS, TEXT, LINE_UP = "scale", "choice", "sliders", "text", "line-up"
"""Kinds of questions: one number; one label; a number for each clip; words; one of the clips."""
VPC = "Tomashenko et al., The VoicePrivacy 2020 Challenge: Results and findings (2022), section 4"
P808 = "ITU-T P.808 (2021)"


@dataclass(frozen=True)
class Question:
    """One question of a page.

    Args:
        name: in the answers.
        kind: :data:`SCALE`, :data:`CHOICE`, :data:`SLIDERS`, :data:`TEXT` or :data:`LINE_UP`.
        text: as listeners read it.
        low, high: limits of a scale, whole numbers.
        labels: of a scale, lowest first (all of its values or its two ends); or the choices.
    """

    name: str
    kind: str
    text: str
    low: int = 0
    high: int = 0
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Kind:
    """A test.

    Args:
        name: on the command line and in files.
        title: for readers.
        instruction: shown before its first page; the source's wording where that is published.
        labels: of the clips of a page; a line-up and a multi-stimulus page have further ones.
        questions: of a page.
        source: where the method is described.
        chance: share of right answers of a listener who guesses; None for ratings.
        beeps: what one, two, ... beeps in a trapping item ask for, in words; empty without such.
    """

    name: str
    title: str
    instruction: str
    labels: tuple[str, ...]
    questions: tuple[Question, ...]
    source: str
    chance: float | None = None
    beeps: str = ""


def _ten(name: str, text: str, low: str, high: str) -> Question:
    return Question(name, SCALE, text, 1, 10, (low, high))


_RATE = "choose the number of beeps instead of your rating"
_NATURAL = _ten(
    "naturalness",
    "How much degradation do you hear in audio A? Judge how it sounds, not what is said.",
    "severe degradation",
    "no degradation",
)
_SIMILAR = _ten(
    "similarity",
    "Were audio A and audio B uttered by the same speaker? Judge the voice, not what is said.",
    "different speakers for sure",
    "same speaker for sure",
)
_CLEAR = _ten(
    "intelligibility",
    "How understandable is audio A?",
    "not understandable at all",
    "perfectly understandable",
)
_ROLE = (
    "Imagine that you work for a radio station. You want to broadcast an interview, and the person "
    "does not want to be recognised. Tools change the voice: some hide it well and sound bad, "
    "others sound well and hide little. You judge such tools. Some recordings are not processed at "
    "all. "
)

KINDS = {
    kind.name: kind
    for kind in (
        Kind("naturalness", "Naturalness, 1 to 10", _ROLE + "Rate the degradation of each "
             "recording: 10 is none.", ("A",), (_NATURAL,), VPC, beeps=_RATE),
        Kind("intelligibility", "Intelligibility, 1 to 10", _ROLE + "Rate how well you understand "
             "each recording: 10 is perfectly.", ("A",), (_CLEAR,), VPC, beeps=_RATE),
        Kind("verifiability", "Verifiability by pairs, 1 to 10", _ROLE + "You hear two recordings "
             "with different sentences. Rate how sure you are that one person speaks in both.",
             ("A", "B"), (_SIMILAR,), VPC, beeps=_RATE),
        Kind("voiceprivacy", "Naturalness, similarity and intelligibility on one page, 1 to 10",
             _ROLE + "You answer three questions on each page.", ("A", "B"),
             (_NATURAL, _SIMILAR, _CLEAR), VPC, beeps="answer every question with the number of "
             "beeps"),
        Kind("acr", "Quality (MOS, P.808 ACR)", "You hear one recording after the other. Rate the "
             "overall quality of the speech that you hear.", ("A",),
             (Question("quality", SCALE, "How is the quality of the speech?", 1, 5,
                       ("bad", "poor", "fair", "good", "excellent")),), P808, beeps=_RATE),
        Kind("dcr", "Degradation (DMOS, P.808 DCR)", "You hear the reference and then a second "
             "recording. Rate the degradation of the second one compared with the reference.",
             ("reference", "A"),
             (Question("degradation", SCALE, "How is the degradation of A compared with the "
                       "reference?", 1, 5, ("very annoying", "annoying", "slightly annoying",
                                            "audible but not annoying", "inaudible")),),
             P808, beeps=_RATE),
        Kind("abx", "ABX", "X is the same recording as A or as B. Listen to all three and say "
             "which.", ("A", "B", "X"),
             (Question("match", CHOICE, "Which one is X?", labels=("A", "B")),),
             "Munson and Gardner, Standardizing auditory tests, JASA 22 (1950)", 0.5,
             beeps="choose A after one beep and B after two"),
        Kind("mushra", "MUSHRA, 0 to 100", "Compare all recordings with the reference and rate the "
             "quality of each: 0 to 20 bad, 20 to 40 poor, 40 to 60 fair, 60 to 80 good, 80 to 100 "
             "excellent. One of them is the reference itself: rate at least one with 100.",
             ("reference",),
             (Question("quality", SLIDERS, "Rate each recording against the reference.", 0, 100,
                       ("bad", "poor", "fair", "good", "excellent")),), "ITU-R BS.1534-3 (2015)"),
        Kind("same", "Same speaker, with confidence", "You hear two recordings with different "
             "sentences. Decide whether one person speaks in both, and say how sure you are.",
             ("A", "B"),
             (Question("same", CHOICE, "Is it the same speaker?", labels=("same", "different")),
              Question("confidence", SCALE, "How sure are you?", 1, 3,
                       ("guessed", "fairly sure", "certain"))),
             "two-alternative decision with a confidence rating; Macmillan and Creelman, "
             "Detection Theory (2005), chapter 3", 0.5,
             beeps="choose same after one beep and different after two"),
        Kind("words", "Type what you hear", "Type the words that you hear. Type what you can; "
             "guess where you are not sure, and leave out what you cannot guess.", ("A",),
             (Question("words", TEXT, "What is said?"),), "transcription test; word error rate",
             beeps="type the number of beeps"),
        Kind("linkage", "Line-up of five", "You hear a recording, then five people. One of them is "
             "the person you heard. Choose that one; guess where you are not sure.", ("heard",),
             (Question("person", LINE_UP, "Which of these five is the person you heard?"),),
             "closed-set voice line-up of five", 0.2,
             beeps="choose the person with the number of beeps"),
    )
}  # fmt: skip


def kind(name: str) -> Kind:
    """Test of a name.

    Raises:
        VoicenymError: no such test.
    """
    if name not in KINDS:
        raise VoicenymError(f"no test {name!r}; there are: {', '.join(KINDS)}")
    return KINDS[name]


def problem(question: Question, value: Any, clips: tuple[str, ...] = ()) -> str:
    """What is wrong with a value as an answer; empty if nothing is.

    Args:
        question: that was asked.
        value: of the answer: whole number, choice, words, or one of the clips.
        clips: that a line-up lets choose from.
    """
    if question.kind in (SCALE, SLIDERS):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return f"{question.name} is a number from {question.low} to {question.high}"
        if not question.low <= value <= question.high or value != int(value):
            return (
                f"{question.name} {value:g} is outside the scale {question.low} to {question.high}"
            )
    elif question.kind == CHOICE and value not in question.labels:
        return f"{question.name} is one of: {', '.join(question.labels)}"
    elif question.kind == LINE_UP and value not in clips:
        return f"{question.name} is one of the clips of the page"
    elif question.kind == TEXT and (not isinstance(value, str) or len(value) > 2000):
        return f"{question.name} is a text of at most 2000 characters"
    return ""
