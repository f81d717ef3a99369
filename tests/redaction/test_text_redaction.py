"""Words are removed from texts that are going to be spoken."""

import pytest
from scripted_retelling import ScriptedSynthesiser

from voicenym.pseudonym import Key
from voicenym.redaction.finding.own_list import OwnList
from voicenym.redaction.finding.word_finder import WordFinder
from voicenym.redaction.leftovers import secrets_of
from voicenym.redaction.replacements.replacement_words import ReplacementWords
from voicenym.redaction.text_redaction import TextRedaction

PHRASES = ["We met Anna", "Miller, in room twelve.", "Nobody else came."]


def edit(*entries, removed=(), instead=None, said=()):
    own = OwnList(entries) if entries else None
    secrets = secrets_of([("names", words) for words in removed], own)
    return TextRedaction(WordFinder(own=own), 0.4, secrets, instead, said)


def test_words_of_a_list_are_left_out_also_over_phrases():
    one = edit("Anna Miller", "12")
    assert one(PHRASES) == ["We met", "in room", "Nobody else came."]
    assert one.count == 2


def test_words_that_were_removed_from_the_sound_are_left_out():
    one = edit(removed=["Anna Miller"])
    assert one(PHRASES)[:2] == ["We met", "in room twelve."]
    assert one(["Millers of Annapolis", "anna"])[1] == ""


def test_or_words_of_the_class_stand_instead_with_their_marks():
    words = ReplacementWords(Key(bytes(32)).pseudonym("x"), ["Anna Miller", "twelve"])
    one = edit("Anna Miller", "twelve", instead=words)
    first, second, _ = one(PHRASES)
    assert first == f"We met {words.instead('names', 'Anna Miller')},"
    assert second == f"in room {words.instead('numbers', 'twelve')}."


def test_replacements_in_the_sound_are_not_replaced_again():
    one = edit("Anna", "Clara", said=["Clara Hughes"])
    assert one(["Clara saw Anna"]) == ["Clara saw"]
    assert one.count == 1


def test_nothing_of_a_phrase_may_be_left():
    assert edit("Anna")(["Anna.", "Anna!"]) == ["", ""]


@pytest.mark.parametrize("timing", ["free", "keep"])
def test_asr_tts_speaks_the_edited_texts_alone(monkeypatch, timing):
    import torch
    from scripted_retelling import ScriptedListener

    from voicenym import Audio, load
    from voicenym.systems.asr_tts import AsrTts

    synthesiser = ScriptedSynthesiser()
    listener = ScriptedListener("we met Anna today", "Anna")
    monkeypatch.setattr(AsrTts, "opened_listener", lambda system: listener)
    monkeypatch.setattr(AsrTts, "opened_synthesiser", lambda system: synthesiser)
    samples = torch.zeros(96_000)
    for start in (16_000, 56_000):
        samples[start : start + 16_000] = 0.1 * torch.randn(
            16_000, generator=torch.Generator().manual_seed(1)
        )
    plain = load("asr-tts", timing=timing)
    made = plain.with_text_edit(edit("Anna"))
    assert made == plain  # no parameter: logs and revisions are the same
    found = made(Audio(samples, 16_000), Key(bytes(32)).pseudonym("x"))
    assert found.samples.abs().max() > 0
    said = " ".join(synthesiser.spoken)
    assert "we met today" in said
    assert "Anna" not in said
    plain(Audio(samples, 16_000), Key(bytes(32)).pseudonym("x"))
    assert "Anna" in " ".join(synthesiser.spoken)


def test_systems_without_texts_are_themselves():
    from voicenym import load

    system = load("mcadams")
    assert system.with_text_edit(edit("Anna")) is system


def test_words_of_grammar_that_were_taken_for_names_are_no_secrets_of_the_whole_recording():
    secrets = secrets_of([("names", "Which"), ("places", "There Miller"), ("names", "Will")], None)
    heard = ["which", "one", "was", "there", "when", "will", "met", "miller"]
    assert [heard[match.first] for match in secrets.matches(heard)] == ["will"]
    assert [heard[match.first] for match in secrets.parts.matches(heard)] == ["will", "miller"]
    listed = secrets_of([("list", "Which")], None)
    assert [match.first for match in listed.matches(heard)] == [0]
