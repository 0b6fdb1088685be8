import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_bank.code.commits import CountedCommit, CountedCommits
from memory_bank.code.coupled import (
    FREQUENCY_WEIGHT,
    HALF_LIFE,
    IMPORT_WEIGHT,
    LIKENESS_WEIGHT,
    CoupledFile,
    Coupling,
    Similarity,
)

FILES = ("a", "b", "c", "d")


def history(*commits: str) -> CountedCommits:
    """Return a history, newest first, of commits whose files are letters."""
    found = [
        CountedCommit(age, 1000 - age, len(files), tuple(files))
        for age, files in enumerate(commits)
    ]
    return CountedCommits(found)


def coupled(found: list[CoupledFile], file: str) -> CoupledFile:
    return next(one for one in found if one.file == file)


def test_confidence_is_the_share_of_the_files_commits() -> None:
    found = Coupling(history("ab", "a", "abc", "ab", "b", "c"), FILES).of("a")
    assert [one.file for one in found] == ["b", "c"]
    b = coupled(found, "b")
    assert (b.confidence, b.support, b.last_changed, b.coupling_type) == (
        *(0.75, 3, "1970-01-01T00:16:40Z", "temporal"),
    )
    assert coupled(found, "c").last_changed == "1970-01-01T00:16:38Z"


def test_the_score_is_that_of_the_formula() -> None:
    coupling = Coupling(
        history("abc", "ab", "b"), FILES, imports={"a": {"b"}}, likeness=lambda *_: {"b": 0.5}
    )
    half = 0.5 ** (1 / HALF_LIFE)
    joint = 0.5 + half
    frequency = 1.0
    score = joint + FREQUENCY_WEIGHT * frequency + IMPORT_WEIGHT + LIKENESS_WEIGHT * 0.5
    prior = FREQUENCY_WEIGHT + IMPORT_WEIGHT + LIKENESS_WEIGHT
    assert coupled(coupling.of("a"), "b").fused_score == pytest.approx(
        score / (joint + prior), abs=1e-4
    )


def test_newer_and_smaller_commits_count_more() -> None:
    long = ["d"] * 2000
    newer = Coupling(history("ab", *long, "ac"), FILES).of("a")
    assert [one.file for one in newer] == ["b", "c"]
    smaller = Coupling(history("abd", "ac", "d", "d"), FILES).of("a")
    assert coupled(smaller, "c").fused_score > coupled(smaller, "b").fused_score


@pytest.mark.parametrize(
    ("commits", "imports", "like", "kind"),
    [
        (("ab",), {}, 0.0, "temporal"),
        ((), {"a": {"b"}}, 0.0, "static"),
        ((), {"b": {"a"}}, 0.0, "static"),
        ((), {}, 0.4, "semantic"),
        (("ab",), {"b": {"a"}}, 0.0, "multi"),
        (("ab",), {}, 0.4, "multi"),
        ((), {"a": {"b"}}, 0.4, "multi"),
        ((), {"a": {"b"}}, 0.1, "static"),
    ],
)
def test_the_type_says_what_speaks_for_it(
    commits: tuple[str, ...], imports: dict[str, set[str]], like: float, kind: str
) -> None:
    coupling = Coupling(history(*commits), FILES, imports=imports, likeness=lambda *_: {"b": like})
    assert [(one.file, one.coupling_type) for one in coupling.of("a")] == [("b", kind)]


def test_files_that_are_gone_are_left_out() -> None:
    coupling = Coupling(
        history("axb"), FILES, imports={"a": {"y"}}, likeness=lambda *_: {"z": 1.0, "a": 1.0}
    )
    assert [one.file for one in coupling.of("a")] == ["b"]


@pytest.mark.parametrize(
    ("joint", "alone", "word"),
    [
        (6, 2, "Critical"), (5, 2, "High"), (4, 0, "High"), (3, 3, "High"), (2, 0, "Medium"),
        (2, 6, "Medium"), (2, 7, "Low"), (1, 0, "Low"),
    ],
)  # fmt: skip
def test_the_risk_needs_confidence_and_support(joint: int, alone: int, word: str) -> None:
    (found,) = Coupling(history(*["ab"] * joint, *["a"] * alone), FILES).of("a")
    assert found.risk == word


@given(
    st.lists(st.sets(st.sampled_from(FILES), min_size=1), max_size=12),
    st.dictionaries(st.sampled_from(FILES), st.sets(st.sampled_from(FILES))),
    st.dictionaries(st.sampled_from(FILES), st.floats(0, 1)),
)
def test_scores_are_shares_in_falling_order(
    commits: list[set[str]], imports: dict[str, set[str]], like: dict[str, float]
) -> None:
    told = history(*("".join(sorted(one)) for one in commits))
    for likeness in (None, lambda *_: like):
        coupling = Coupling(told, FILES, imports=imports, likeness=likeness)
        for file in FILES:
            scores = [one.fused_score for one in coupling.of(file)]
            assert scores == sorted(scores, reverse=True)
            assert all(0 <= score <= 1 for score in scores)
            assert file not in {one.file for one in coupling.of(file)}


@pytest.mark.parametrize(
    "file",
    ["pyproject.toml", "web/package.json", "go.mod", "CHANGELOG.md", "docs/changes.rst", "uv.lock"],
)
def test_what_changes_with_everything_is_left_out(file: str) -> None:
    commits = [CountedCommit(age, 1000 - age, 3, ("a.py", "b.py", file)) for age in range(4)]
    found = Coupling(CountedCommits(commits), ["a.py", "b.py", file]).of("a.py")
    assert [one.file for one in found] == ["b.py"]


def test_related_files_are_those_of_all_that_changed_together_often_or_are_imported() -> None:
    words = {path: {"ledger": 2, f"only_{path}": 1} for path in FILES}
    coupling = Coupling(
        history("ab", "ab", "ab", "ax", "ax"), FILES, imports={"a": {"c"}},
        likeness=Similarity(words),
    )  # fmt: skip
    related = coupling.of("a", related=True)
    assert {one.file for one in related} == {"b", "c"}
    assert related == [one for one in coupling.of("a") if one.file in {"b", "c"}]
