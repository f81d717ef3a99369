"""Methods in a line of text."""

import pytest

from voicenym.errors import UnknownSystemError
from voicenym.identity.copy import Copy, Half
from voicenym.identity.distinct import Distinct
from voicenym.identity.formant_pitch import FormantPitch
from voicenym.identity.lookup import Lookup
from voicenym.identity.mixture import Mixture
from voicenym.identity.selection import Selection
from voicenym.identity.spec import parsed


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("selection:pool=a/b", Selection("a/b")),
        (
            "selection:pool=p,choice=near,world=20, region=5",
            Selection("p", "near", "cosine", 20, 5),
        ),
        ("mixture:model=m,theta=none", Mixture("m")),
        ("mixture:model=m,theta=0.9", Mixture("m", 0.9)),
        ("formant-pitch:pitch=(1.1,1.2)", FormantPitch((1.1, 1.2))),
        (
            "distinct:angle=5.0,of=(selection:pool=p,world=7,region=7),pool=p",
            Distinct(Selection("p", world=7, region=7), "p", 5.0),
        ),
        ("half:of=(copy)", Half(Copy())),
        ("half:part=vocoder,of=( copy )", Half(Copy(), "vocoder")),
        ("lookup:pool=2026,nobody=(1,2.5)", Lookup("2026", nobody=(1, 2.5))),
    ],
)
def test_text_is_the_method_that_it_says(text, expected):
    assert parsed(text) == expected


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("nobody", "there are"),
        ("selection:pool", "not FIELD=VALUE"),
        ("selection:pool=p,", "not FIELD=VALUE"),
        ("blank:power=1", "it has: strength"),
        ("distinct:of=(copy", "parentheses"),
        ("distinct:of=copy)", "parentheses"),
        ("half:of=copy", "of is a method in parentheses"),
        ("blank:strength=much", "strength is a number, which 'much' is not"),
        ("formant-pitch:pitch=1.2", "pitch is numbers in parentheses"),
        ("formant-pitch:pitch=(1.1,1.2,1.3)", "pitch is numbers in parentheses"),
        ("selection:pool=p,world=2.5", "world is a whole number"),
        ("indistinguishable:pool=p,published=1", "published is true or false"),
        ("mixture:model=m,theta=true", "theta is a number"),
    ],
)
def test_what_cannot_be_read_is_named(text, told):
    with pytest.raises(UnknownSystemError, match=told):
        parsed(text)
