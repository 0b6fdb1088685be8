"""A question passes few modules on its way from the verb to the index and back."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

import memory_bank
from memory_bank import Bank, recall
from memory_bank.search.retrievers.base import Question

PACKAGE = Path(memory_bank.__file__).parent
QUESTION = "why was tantivy taken"


@contextmanager
def watch_question(way: dict[str, set[type]]) -> Iterator[None]:
    """Note the modules whose functions get the question, and the records that it comes in."""

    def watch(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event != "call" or PACKAGE not in Path(code.co_filename).parents:
            return
        count = code.co_argcount + code.co_kwonlyargcount
        for name in code.co_varnames[:count]:
            value = None if name == "self" else frame.f_locals.get(name)
            texts = value if isinstance(value, list | tuple) else [value]
            texts = [text.text if isinstance(text, Question) else text for text in texts]
            if QUESTION in [text for text in texts if isinstance(text, str)]:
                module = str(Path(code.co_filename).relative_to(PACKAGE))
                way.setdefault(module, set()).add(type(value))

    sys.setprofile(watch)
    try:
        yield
    finally:
        sys.setprofile(None)


@pytest.mark.parametrize(("mode", "most"), [("lexical", 9), ("hybrid", 12)])
def test_a_question_passes_few_modules_in_no_record_but_the_parsed_query(
    opening: Callable[..., Bank], indexed_project: None, project: Path, mode: str, most: int
) -> None:
    bank = opening(project, memory__embedder="static")
    recall(bank, "loads what is loaded once", mode=mode)
    way: dict[str, set[type]] = {}
    with watch_question(way):
        answer = recall(bank, QUESTION, mode=mode)
    assert answer.notes
    assert answer.mode_used == mode
    records = {
        kind.__name__ for kinds in way.values() for kind in kinds if hasattr(kind, "_fields")
    }
    assert records - {"Answer"} == {"Query", "Question"}
    assert len(way) <= most, sorted(way)
