"""Normalisation of English text, so that spelling variants are no recognition errors.

Radford et al., "Robust speech recognition via large-scale weak supervision", ICML 2023, appendix C:
remarks in brackets and fillers go, contractions are written out, numbers are written in digits,
British spellings in American ones, and marks and accents go. The rules here are our own. They apply
to the reference and to the recogniser's text alike, so that what they merge is no error and what
they leave apart is one. Other languages pass through :func:`voicenym.metrics.normalise` alone.
"""

from __future__ import annotations

import re
import unicodedata

from voicenym.metrics.words.number_words import in_digits

FILLERS = frozenset({"hmm", "hm", "mm", "mhm", "mmm", "uh", "um", "uhm", "er", "erm"})
REMARKS = re.compile(r"\[[^\]\[]*\]|<[^<>]*>|\([^()]*\)")
CONTRACTIONS = (
    (r"\bwon't\b", "will not"),
    (r"\bcan't\b", "can not"),
    (r"\bcannot\b", "can not"),
    (r"\bshan't\b", "shall not"),
    (r"\blet's\b", "let us"),
    (r"\bain't\b", "aint"),
    (r"\by'all\b", "you all"),
    (r"\bwanna\b", "want to"),
    (r"\bgonna\b", "going to"),
    (r"\bgotta\b", "got to"),
    (r"\bi'ma\b", "i am going to"),
    (r"\b(\w+)'s (been|got|gone|done|become)\b", r"\1 has \2"),
    (r"\b(\w+)'d (been|got|gone|done|become)\b", r"\1 had \2"),
    (r"n't\b", " not"),
    (r"'re\b", " are"),
    (r"'d\b", " would"),
    (r"'ll\b", " will"),
    (r"'ve\b", " have"),
    (r"'m\b", " am"),
    (r"\b(he|she|it|that|there|here|what|who|where|when|how|why)'s\b", r"\1 is"),
)
"""Written out, in order; a genitive keeps its s without the apostrophe."""
TITLES = {
    "mr": "mister", "mrs": "missus", "ms": "miss", "dr": "doctor", "prof": "professor",
    "st": "saint", "jr": "junior", "sr": "senior", "capt": "captain", "gov": "governor",
    "gen": "general", "sen": "senator", "rev": "reverend", "hon": "honorable", "esq": "esquire",
    "lt": "lieutenant", "sgt": "sergeant", "ok": "okay",
}  # fmt: skip
OUR = [
    "arbour",
    "ardour",
    "armour",
    "behaviour",
    "candour",
    "clamour",
    "colour",
    "demeanour",
    "endeavour",
    "favour",
    "favourite",
    "fervour",
    "flavour",
    "glamour",
    "harbour",
    "honour",
    "humour",
    "labour",
    "misdemeanour",
    "neighbour",
    "neighbourhood",
    "odour",
    "parlour",
    "rancour",
    "rigour",
    "rumour",
    "saviour",
    "savour",
    "splendour",
    "succour",
    "tumour",
    "valour",
    "vapour",
    "vigour",
]
RE = [
    "calibre",
    "centre",
    "fibre",
    "litre",
    "lustre",
    "meagre",
    "metre",
    "kilometre",
    "centimetre",
    "millimetre",
    "mitre",
    "sabre",
    "sceptre",
    "sombre",
    "spectre",
    "theatre",
]
OTHERS = {
    "grey": "gray", "cheque": "check", "programme": "program", "plough": "plow", "tyre": "tire",
    "defence": "defense", "offence": "offense", "licence": "license", "pretence": "pretense",
    "practise": "practice", "practised": "practiced", "practising": "practicing",
    "catalogue": "catalog", "dialogue": "dialog", "analogue": "analog", "mould": "mold",
    "moustache": "mustache", "pyjamas": "pajamas", "sceptical": "skeptical", "storey": "story",
    "jewellery": "jewelry", "aluminium": "aluminum", "aeroplane": "airplane", "kerb": "curb",
    "mum": "mom", "mummy": "mommy", "manoeuvre": "maneuver", "skilful": "skillful",
    "wilful": "willful", "fulfil": "fulfill", "enrol": "enroll", "instalment": "installment",
    "draught": "draft", "judgement": "judgment", "cosy": "cozy", "sulphur": "sulfur",
    "encyclopaedia": "encyclopedia", "paediatric": "pediatric", "anaemia": "anemia",
    "towards": "toward", "afterwards": "afterward", "backwards": "backward",
    "forwards": "forward", "whilst": "while", "amongst": "among", "all right": "alright",
}  # fmt: skip
AMERICAN = {
    **OTHERS,
    **{word + end: word.replace("our", "or") + end for word in OUR for end in ("", "s", "ed", "ing",
       "able", "er", "ers", "ful", "less", "ite", "ites", "al", "hood")},
    **{word + end: word[:-2] + "er" + end for word in RE for end in ("", "s", "d")},
}  # fmt: skip
ISE = re.compile(r"(\w{3,}[a-z])is(e|ed|es|er|ers|ing|ation|ations)\b")
YSE = re.compile(r"(anal|paral|catal)ys(e|ed|es|er|ing)\b")
DOUBLE = re.compile(r"\b(cancel|counsel|dial|equal|fuel|jewel|label|level|marvel|model|quarrel|"
                    r"signal|travel|tunnel)l(ed|ing|er|ers)\b")  # fmt: skip


def english(text: str) -> str:
    """Text as words with blanks between, for word and character errors.

    Example:
        >>> english("Mr. O'Neil wouldn't (laughs) pay, um, twenty-one pounds for the grey colour!")
        'mister oneil would not pay 21 pounds for the gray color'
        >>> english("It's $1,000.50 or 30%") == english("it is one thousand dollars fifty or 30 %")
        False
        >>> english("He's got 2 dogs") == english("he has got two dogs")
        True
    """
    text = unicodedata.normalize("NFKC", text).lower()
    text = re.sub("[\N{RIGHT SINGLE QUOTATION MARK}\N{MODIFIER LETTER APOSTROPHE}`]", "'", text)
    text = REMARKS.sub(" ", text)
    text = re.sub(r"\s+'(?=(?:s|t|d|m|re|ve|ll)\b)", "'", text)
    for pattern, instead in CONTRACTIONS:
        text = re.sub(pattern, instead, text)
    text = text.replace("'", "")
    text = re.sub(r"\b(?:[a-z]\.){2,}", lambda found: found[0].replace(".", "") + " ", text)
    text = re.sub(r"[;:!?](?!\w)|\N{EM DASH}", ",", text)  # which end a number
    text = in_digits("".join(map(_part, _without_accents(text))))
    words = [TITLES.get(word, word) for word in text.split() if word not in FILLERS]
    return _american(" ".join(words))


def _american(text: str) -> str:
    text = text.replace("all right", "alright")
    text = " ".join(AMERICAN.get(word, word) for word in text.split())
    text = YSE.sub(r"\1yz\2", ISE.sub(r"\1iz\2", text))
    return DOUBLE.sub(r"\1\2", text)


def _without_accents(text: str) -> str:
    """Latin letters without their accents; marks of other scripts, which are vowels, stay."""
    found = []
    for character in unicodedata.normalize("NFC", text):
        parts = unicodedata.normalize("NFD", character)
        found.append(parts[0] if "LATIN" in unicodedata.name(parts[0], "") else character)
    return "".join(found).replace("ß", "ss").replace("æ", "ae").replace("ø", "o").replace("œ", "oe")


def _part(character: str) -> str:
    """A character as part of a word or of a number, or a blank."""
    kind = unicodedata.category(character)
    if kind == "Cf" and character != "\N{ZERO WIDTH SPACE}":
        return ""
    return character if kind[0] in "LMN" or character in ".,%$£€¢" else " "
