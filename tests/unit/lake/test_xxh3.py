"""Keys of many texts at once are the keys of each."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scholarlake.lake.hashing import stable_key
from scholarlake.lake.xxh3 import keys_of


def keys(texts: list[bytes]) -> list[int]:
    bounds = np.cumsum([0, *map(len, texts)])
    return keys_of(np.frombuffer(b"".join(texts), dtype=np.uint8), bounds).view(np.int64).tolist()


@given(st.lists(st.one_of(st.text(max_size=40), st.text("0123456789abcdef", min_size=1, max_size=34))))
def test_keys_of_many_texts_are_those_of_each(texts: list[str]) -> None:
    assert keys([text.encode() for text in texts]) == [stable_key(text) for text in texts]


def test_a_text_of_every_length_has_its_own_key() -> None:
    texts = ["x" * length for length in range(300)]
    found = keys([text.encode() for text in texts])
    assert found == [stable_key(text) for text in texts]
    assert len(set(found)) == 300
