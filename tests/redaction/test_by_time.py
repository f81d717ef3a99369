"""What is found by time is what a search through everything finds."""

from hypothesis import given
from hypothesis import strategies as st

from voicenym.redaction.by_time import ByTime

SPANS = st.lists(st.tuples(st.floats(0, 100), st.floats(0, 40)), max_size=20)


@given(SPANS, st.floats(-1, 120), st.floats(0, 30))
def test_all_that_shares_time_is_found_in_order(spans, start, length):
    things = [(a, a + more, number) for number, (a, more) in enumerate(spans)]
    found = ByTime(things).near(start, start + length)
    assert found == sorted(set(found))
    sharing = [n for a, b, n in things if a <= start + length and start <= b]
    assert set(sharing) <= set(found)
    assert all(a <= start + length + 10.0 and start - 10.0 <= b for a, b, n in things if n in found)
