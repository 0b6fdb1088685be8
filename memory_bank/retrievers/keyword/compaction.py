"""Choose small segments of a keyword index to rewrite, so that tantivy rarely merges large ones.

Each commit makes a segment, and tantivy merges as soon as a layer has eight. Its lowest layer has
segments of up to 16,800 documents, which can't be set from Python: every seventh save would merge
10,000 documents while a query waits. A segment is dropped once all of its documents were put
again; putting those of a few small segments again makes one segment of them. tantivy then merges
once in hundreds of saves.
"""

from __future__ import annotations

from collections.abc import Sequence

import tantivy
from tantivy import Order, Query

_MERGE_SEGMENTS = 8
_LAYER_SIZE = 16_800
_LARGE_MERGE = 3000
"""Number of documents whose merge takes longer than reading a few documents again."""
_SMALL_SIZES = (8, 64)
"""Maximum sizes of segments that are rewritten, in documents; the smaller size is tried first."""
_EXTRA_ROWS = 64
"""Number of rows that are read in addition: a document in a small segment may have an older row."""
_MIN_SEGMENTS = 3
"""Minimum number of segments that are rewritten as one."""


def large_merge_is_due(sizes: Sequence[int]) -> bool:
    """Tell whether tantivy is about to merge many documents.

    `sizes` are the numbers of documents in each segment.
    """
    layer = [size for size in sizes if size <= _LAYER_SIZE]
    return len(layer) >= _MERGE_SEGMENTS - 1 and sum(layer) >= _LARGE_MERGE


def in_small_segments(searcher: tantivy.Searcher, sizes: Sequence[int]) -> list[tantivy.DocAddress]:
    """Return the documents of small segments, to put them again with the next commit.

    `sizes` are in the order of the searcher's segments. Small segments have the newest rows, which
    are the highest, so that the rest of the index is not read.
    """
    for most in _SMALL_SIZES:
        small = {segment for segment, size in enumerate(sizes) if size <= most}
        if len(small) >= _MIN_SEGMENTS:
            last = _EXTRA_ROWS + 2 * sum(sizes[segment] for segment in small)
            hits = searcher.search(
                Query.all_query(), last, count=False, order_by_field="row", order=Order.Desc
            ).hits
            return [place for _, place in hits if place.segment_ord in small]
    return []
