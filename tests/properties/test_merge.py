"""After a merge nothing that either side wrote is missing, and nothing is there twice."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from memory_bank.notes.merging.body import merge, merge_lines
from memory_bank.notes.merging.conflicts import ConflictingChange, Part
from memory_bank.notes.merging.note_merge import merge as merge_notes

KINDS = ("text {}.", "- item {}", "| cell {} |", "    code {}", "> quote {}")
LINES = st.sampled_from(["", "## A", "## B", "### C", "one", "two", "- x", "- y", "```", "| r |"])
TEXTS = st.lists(LINES, max_size=14)


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[str], list[str], list[str]]:
    """Make a note whose lines are all different, and two changes of it."""
    number = iter(range(10_000))

    def block() -> list[str]:
        kind = draw(st.sampled_from(KINDS))
        lines = [kind.format(next(number)) for _ in range(draw(st.integers(1, 3)))]
        return [*lines, ""] if draw(st.booleans()) else lines

    def section() -> list[str]:
        blocks = [line for _ in range(draw(st.integers(0, 3))) for line in block()]
        return [f"{'#' * draw(st.integers(1, 3))} head {next(number)}", "", *blocks, ""]

    base = [line for _ in range(draw(st.integers(1, 4))) for line in section()]

    def changed() -> list[str]:
        lines = list(base)
        for _ in range(draw(st.integers(0, 4))):
            at = draw(st.integers(0, len(lines)))
            match draw(st.sampled_from(["insert", "append", "replace", "remove", "section"])):
                case "insert":
                    lines[at:at] = block()
                case "append":
                    lines += ["", *block()]
                case "replace" if at < len(lines) and lines[at]:
                    lines[at] = f"{lines[at]} changed {next(number)}"
                case "remove":
                    del lines[at : at + draw(st.integers(1, 3))]
                case "section":
                    lines[at:at] = section()
        return lines

    return base, changed(), changed()


def words(lines: list[str]) -> Counter[str]:
    return Counter(line for line in lines if any(map(str.isalnum, line)))


def outside(parts: list[Part]) -> list[str]:
    return [part for part in parts if isinstance(part, str)]


def everything(parts: list[Part]) -> set[str]:
    inside = [part for part in parts if isinstance(part, ConflictingChange)]
    return {*outside(parts), *(line for one in inside for side in one for line in side)}


@given(histories())
def test_what_was_added_is_there_what_was_removed_is_not_and_nothing_twice(
    history: tuple[list[str], list[str], list[str]],
) -> None:
    base, ours, theirs = history
    parts = merge(base, ours, theirs)
    old, mine, its = words(base), words(ours), words(theirs)
    assert {*mine - old, *its - old} <= everything(parts)
    merged = words(outside(parts))
    assert max(merged.values(), default=0) <= 1, "every line was there once"
    assert set(merged) <= {*mine, *its}
    gone = {line for line in old if line not in mine or line not in its}
    assert gone.isdisjoint(merged)
    assert {*old} - gone <= everything(parts)


@given(histories())
def test_the_order_of_the_sides_changes_only_the_order_of_lines(
    history: tuple[list[str], list[str], list[str]],
) -> None:
    base, ours, theirs = history
    one, other = merge(base, ours, theirs), merge(base, theirs, ours)
    assert words(outside(one)) == words(outside(other))
    assert words([*everything(one)]) == words([*everything(other)])


@given(TEXTS, TEXTS, TEXTS)
def test_texts_with_repeated_lines_lose_nothing_either(
    base: list[str], ours: list[str], theirs: list[str]
) -> None:
    parts = merge(base, ours, theirs)
    old, mine, its = words(base), words(ours), words(theirs)
    assert {*mine - old, *its - old} <= everything(parts)
    both = mine + its
    both.subtract(old)
    merged = words(outside(parts))
    assert all(many <= max(both[line], min(mine[line], its[line])) for line, many in merged.items())


@given(TEXTS, TEXTS)
def test_a_change_of_one_side_is_taken_as_it_is(base: list[str], changed: list[str]) -> None:
    assert merge(base, changed, base) == merge(base, base, changed) == changed
    assert merge(base, changed, changed) == changed
    assert merge_lines(base, changed, base) == merge_lines(base, base, changed) == changed


TAGS = st.lists(st.sampled_from("abcdef"), unique=True)


@given(TAGS, TAGS, TAGS)
def test_tags_are_sets(base: list[str], ours: list[str], theirs: list[str]) -> None:
    notes = [
        f"---\nid: x\ntags: [{', '.join(tags)}]\n---\nt\n".encode() for tags in (base, ours, theirs)
    ]
    made = merge_notes(*notes)
    assert made.conflicts == 0
    listed = made.data.decode().split("[")[1].split("]")[0]
    wanted = {*base} & {*ours} & {*theirs} | ({*ours} | {*theirs}) - {*base}
    assert sorted(filter(None, listed.split(", "))) == sorted(wanted)
