"""One score for each passage, and what it is made of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_bank.search.ranking import ADJACENT, EXPECTED, NOTES, Evidence, rank
from memory_bank.search.retrievers.base import Match, Matches, Scale

MATCHES = st.lists(
    st.tuples(st.integers(1, 30), st.floats(0.01, 50), st.integers(1, 200)),
    unique_by=lambda match: match[0],
    max_size=20,
).map(
    lambda found: Matches.of(
        Match(row, row // 3 + 1, score, words)
        for row, score, words in sorted(found, key=lambda match: -match[1])
    )
)


def prose(rows: object) -> float:
    return 0.0


def code(rows: object) -> float:
    return 0.5


def words(*scores: tuple[int, int, float]) -> Matches:
    return Matches.of(Match(row, note, score, 10) for row, note, score in scores)


def test_words_are_shares_of_a_perfect_match_of_passage_and_note() -> None:
    found = Matches.of(words((1, 1, 8.0), (2, 2, 4.0)), Scale(0.0, 10.0))
    ranking = rank(Evidence(lexical=found, mean_words=10.0), prose)
    assert ranking.scores == pytest.approx({1: 0.8 / (1 + NOTES.whole), 2: 0.4 / (1 + NOTES.whole)})


def test_meaning_is_spread_between_an_unrelated_and_a_perfect_passage() -> None:
    meaning = Matches.of(words((1, 1, 0.5), (2, 2, 0.3), (3, 3, 0.1)), Scale(0.1, 0.5))
    ranking = rank(Evidence(semantic=meaning, weight=1.0, by_words=False), prose)
    assert ranking.scores == pytest.approx({1: 1.0, 2: 0.5})


def test_meaning_alone_scores_low_where_words_found_nothing() -> None:
    meaning = Matches.of(words((1, 1, 0.5)), Scale(0.1, 0.5))
    ranking = rank(Evidence(semantic=meaning, weight=0.5), prose)
    assert ranking.scores == pytest.approx({1: 0.5 / (1.5 + NOTES.whole)})


def test_another_match_changes_no_score() -> None:
    scale = Scale(0.0, 10.0)
    few = rank(Evidence(lexical=Matches.of(words((5, 2, 4.0)), scale)), prose)
    more = rank(Evidence(lexical=Matches.of(words((1, 1, 8.0), (5, 2, 4.0)), scale)), prose)
    assert more.scores[5] == few.scores[5]


def test_a_note_found_as_a_whole_only_is_shown_with_its_first_passage() -> None:
    evidence = Evidence(
        lexical=words((1, 1, 2.0)), notes=words((1, 1, 3.0), (7, 5, 6.0)), mean_words=10.0
    )
    ranking = rank(evidence, prose)
    assert ranking.owner[7] == 5
    assert ranking.scores == pytest.approx(
        {1: (1 + NOTES.whole / 2) / (1 + NOTES.whole), 7: NOTES.whole / (1 + NOTES.whole)}
    )


def test_meaning_weighs_more_where_the_best_are_code() -> None:
    evidence = Evidence(
        lexical=words((1, 1, 1.0), (2, 2, 0.1)),
        semantic=words((2, 2, 0.9), (3, 3, 0.1)),
        weight=0.2,
        code_weight=5.0,
    )
    first = {
        kind: max((s := rank(evidence, kind).scores), key=s.__getitem__) for kind in (prose, code)
    }
    assert first == {prose: 1, code: 2}


def test_a_passage_is_lifted_by_one_beside_it_in_its_note_that_matches_as_well() -> None:
    found = words((1, 1, 5.0), (2, 1, 5.0), (4, 2, 5.0), (7, 3, 5.0), (8, 3, 0.1))
    scores = rank(Evidence(lexical=found, mean_words=10.0), prose).scores
    assert scores[1] == scores[2] > scores[4] > scores[7]


@given(found=MATCHES, whole=MATCHES, meaning=MATCHES, weight=st.floats(0.1, 6))
def test_the_reasons_add_up_to_the_score(
    found: Matches, whole: Matches, meaning: Matches, weight: float
) -> None:
    notes = Matches.of({match.document: match for match in whole}.values())
    evidence = Evidence(found, notes, meaning, weight, weight)
    ranking = rank(evidence, prose)
    assert set(ranking.scores) <= {*found.rows, *notes.rows, *meaning.rows}
    for row, score in ranking.scores.items():
        assert sum(reason.score for reason in ranking.reasons(row)) == pytest.approx(score)
        assert 0 < score <= 1 + 2 * ADJACENT * (1 - EXPECTED) + 1e-9


@given(found=MATCHES, factor=st.floats(0.1, 10))
def test_a_scale_of_a_retriever_changes_nothing(found: Matches, factor: float) -> None:
    scaled = Matches(
        found.rows, found.documents, [score * factor for score in found.scores], found.words
    )
    one, other = (rank(Evidence(lexical=each), prose).scores for each in (found, scaled))
    assert one == pytest.approx(other)
