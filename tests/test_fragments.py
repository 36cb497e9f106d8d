from string import ascii_uppercase

from hypothesis import given
from hypothesis import strategies as st

from portal.fragments import any_of

texts = st.text("ABC .", max_size=12)


@given(st.lists(st.text("ABC .", min_size=1, max_size=4), min_size=1, max_size=9), texts)
def test_pattern_finds_what_has_one_of_the_fragments(fragments: list[str], text: str) -> None:
    assert bool(any_of("|".join(fragments)).search(text)) == any(one in text for one in fragments)


def test_each_of_many_fragments_is_found() -> None:
    pairs = [one + other for one in ascii_uppercase for other in ascii_uppercase[:13]]
    pattern = any_of("|".join(pairs))
    assert all(pattern.search(f"- {pair}!") for pair in pairs)
    assert not pattern.search("AZ NZ")
