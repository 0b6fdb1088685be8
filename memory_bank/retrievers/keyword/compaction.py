"""Which segments of a word index are better written anew by us than merged by tantivy.

Each commit makes a segment, and tantivy merges as soon as eight of a layer are there. Its lowest
layer reaches to 16,800 documents and can't be set from Python: every seventh save would write the
words of 10,000 documents again while a question waits. A segment whose documents are all put again
elsewhere goes by itself, so a few small ones are made one in time; what remains for tantivy comes
once in hundreds of saves.
"""

from __future__ import annotations

from collections.abc import Sequence

import tantivy
from tantivy import Order, Query

_MERGED = 8
_LAYER = 16_800
_DEAR = 3000
"""Documents that take tantivy longer to merge than it takes us to read a few documents again."""
_SMALL = (8, 64)
"""Documents up to which a segment is written anew, the smallest ones first."""
_SPARE = 64
"""Documents looked at beside those of small segments: a document in them may have an older row."""
_WORTH = 3
"""Segments that must become one for it to be worth its while."""


def crowded(sizes: Sequence[int]) -> bool:
    """Tell whether tantivy is about to merge so many documents that one should prevent it.

    `sizes` are the documents in each segment.
    """
    layer = [size for size in sizes if size <= _LAYER]
    return len(layer) >= _MERGED - 1 and sum(layer) >= _DEAR


def scattered(searcher: tantivy.Searcher, sizes: Sequence[int]) -> list[tantivy.DocAddress]:
    """Return the documents of a crowded index that are better put again with the next commit.

    `sizes` are as for `crowded`, in the order of the searcher's segments. What was put last has the
    highest rows: no others are looked at, since an index may have a million.
    """
    for most in _SMALL:
        small = {segment for segment, size in enumerate(sizes) if size <= most}
        if len(small) >= _WORTH:
            last = _SPARE + 2 * sum(sizes[segment] for segment in small)
            hits = searcher.search(
                Query.all_query(), last, count=False, order_by_field="row", order=Order.Desc
            ).hits
            return [place for _, place in hits if place.segment_ord in small]
    return []
