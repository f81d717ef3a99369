"""Presidio with rules, and with a spaCy model that is made here."""

import socket

import pytest

pytest.importorskip("presidio_analyzer")

from voicenym.errors import RedactionError
from voicenym.redaction.finding.categories import CATEGORIES, categories_of
from voicenym.redaction.finding.entity_analyzer import EntityAnalyzer
from voicenym.redaction.redaction_settings import settings_of

TEXT = "Katherine Miller lives at 23 Baker Street in Springfield since March 5th, 1987. "
TEXT += "Write to kate@mail.example.com or call 212-555-0199."


@pytest.fixture(scope="module")
def rules():
    return EntityAnalyzer("rules")


def test_rules_find_each_category(rules):
    found = rules.entities(TEXT, CATEGORIES)
    best = {}
    for one in found:
        best.setdefault(one.category, set()).add(TEXT[one.start : one.end])
    assert "Katherine Miller" in best["names"]
    assert "Springfield" in best["places"]
    assert "March 5th, 1987" in best["dates"]
    assert {"23 Baker Street", "kate@mail.example.com"} <= best["addresses"]
    assert any("212-555-0199" in text for text in best["numbers"])
    assert {one.category for one in rules.entities(TEXT, ("dates",))} == {"dates"}
    assert rules.entities("", CATEGORIES) == []


def test_no_lookup_and_no_connection(monkeypatch, rules):
    """tldextract would fetch the list of public suffixes for an address of mail."""

    def refuse(*arguments, **options):
        raise AssertionError("a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert rules.entities(TEXT, ("addresses",))


def test_a_spacy_model_from_a_folder(tmp_path):
    spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "PERSON", "pattern": "zenobia"}])
    nlp.to_disk(tmp_path / "model")
    model = EntityAnalyzer(f"{tmp_path}/model")
    text = "then zenobia met Anna at twenty three"
    found = {text[e.start : e.end]: e.category for e in model.entities(text, CATEGORIES)}
    assert found["zenobia"] == "names"
    assert found["twenty three"] == "numbers"
    assert "Anna" not in found


def test_what_is_not_here_is_not_fetched(tmp_path):
    with pytest.raises(RedactionError, match="no such spaCy model is installed"):
        EntityAnalyzer("en_core_web_none")
    with pytest.raises(RedactionError, match="no folder of a spaCy model"):
        EntityAnalyzer(f"{tmp_path}/")
    with pytest.raises(RedactionError, match="the rules know English, not 'de'"):
        EntityAnalyzer("rules", "de")


def test_categories_by_their_names():
    assert categories_of(["all"]) == CATEGORIES
    with pytest.raises(RedactionError, match=r"no category 'colours' of words; there are: names"):
        categories_of(["names,colours"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"way": "tone"}, "--by is silence, beep or word, not 'tone'"),
        ({"on_miss": "guess"}, "--on-miss is stop or sentence"),
        ({"unheard": "beep"}, "--unheard is keep or silence"),
        ({"least": 2.0}, "--least-confidence is a number from 0 to 1"),
    ],
)
def test_settings_are_checked_before_anything_is_loaded(options, message):
    with pytest.raises(RedactionError, match=message):
        settings_of(["names"], None, "./none", None, **options)


def test_speech_of_another_language_is_not_searched_by_rules_of_english(rules):
    from voicenym.redaction.finding.own_list import OwnList
    from voicenym.redaction.finding.word_finder import WordFinder
    from voicenym.transcription.timed_words import Transcript, Word

    words = (Word("Anna", 0.5, 1.0, 1.0, (0.0, 2.0)),)
    german = Transcript(words, 2.0, "de")
    with pytest.raises(RedactionError, match="the speech is of the language 'de'"):
        WordFinder(("names",), rules).find(german)
    assert len(WordFinder(own=OwnList(["Anna"])).find(german)) == 1
