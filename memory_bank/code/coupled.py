"""Find the files that change with a file: by commits, imports and likeness of texts.

Of a file, the others are ranked by

    fused_score = (J + 2 F + 0.2 I + 1.5 L) / (W + 3.7)

with, for a commit of n files that is followed by a newer ones, the weight
w = 2^(-a / 350) / max(1, n - 1):

    J  sum of the weights of the commits that changed both files
    W  sum of the weights of the commits that changed the file
    F  how often the other file changes at all: its share of all commits, each with 2^(-a / 350)
    I  1 if one of the two imports the other, else 0
    L  likeness of their texts, 0 to 1

So J / W, the confidence by weighted commits, is smoothed by 3.7 commits' worth of other evidence:
it decides for a file with few commits, and hardly matters for one with many. The score is between
0 and 1. Without likeness, its 1.5 is left out above and below. The constants are those that
measured best (docs/benchmarks.md).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memory_bank.base.errors import Busy
from memory_bank.code.commits import CodeHistory, CountedCommit, CountedCommits
from memory_bank.code.index import work_tree
from memory_bank.code.index.work_tree import TreeScan
from memory_bank.code.similarity import Similarity, WordTable

HALF_LIFE = 350.0
"""Number of newer commits after which a commit counts half."""

FREQUENCY_WEIGHT, IMPORT_WEIGHT, LIKENESS_WEIGHT = 2.0, 0.2, 1.5

LIKE = 0.2
"""Likeness from which two texts count as alike; about one pair in ten is."""

RISKS = (("Critical", 0.75, 5), ("High", 0.5, 3), ("Medium", 0.25, 2))
"""Words for a coupling, each with the least confidence and the least support; below is Low."""

LOW = "Low"

TOGETHER = 3
"""Commits that changed two files from which on one is said to depend on the other."""

_OF_EVERYTHING = frozenset(["lock file", "changelog"])
"""Kinds of files that change whatever changes."""

TEMPORAL, STATIC, SEMANTIC, MULTI = "temporal", "static", "semantic", "multi"
"""Types of a coupling: by commits, by imports, by likeness, by more than one of these."""

LikenessSource = Callable[[str], Mapping[str, float]]
"""Maps a file to the likeness of other files' texts, 0 to 1; those left out have 0."""


@dataclass(frozen=True, slots=True)
class Coupled:
    """A file that is coupled with another."""

    file: str
    """Its path below the work tree."""
    confidence: float
    """The share of the other file's commits that changed this one too; 0 to 1."""
    support: int
    """The number of commits that changed both."""
    last_changed: int
    """When the last of these was made, in seconds since the epoch; 0 if there is none."""
    fused_score: float
    """What they are ranked by; 0 to 1."""
    coupling_type: str
    """TEMPORAL, STATIC, SEMANTIC or MULTI."""

    @property
    def risk(self) -> str:
        """The word for it: Critical, High, Medium or Low."""
        for word, confidence, support in RISKS:
            if self.confidence >= confidence and self.support >= support:
                return word
        return LOW


class Coupling:
    """The coupling of the files of a repository."""

    def __init__(
        self,
        history: CountedCommits,
        files: Collection[str],
        *,
        imports: Mapping[str, Collection[str]] | None = None,
        likeness: LikenessSource | None = None,
    ) -> None:
        """Join evidence on `files`, which are those that exist.

        `imports` maps files to the files that they import.
        """
        self.history = history
        self._files = files if isinstance(files, (set, frozenset, dict)) else frozenset(files)
        self._likeness = likeness
        self._imports: dict[str, set[str]] = {}
        """In both directions."""
        self._imported = imports or {}
        for one, others in (imports or {}).items():
            for other in others:
                self._imports.setdefault(one, set()).add(other)
                self._imports.setdefault(other, set()).add(one)
        self._frequency = _frequency(history)

    def depended(self, file: str) -> list[tuple[Coupled, str]]:
        """Return of these the files that may have to change with it, each with the reason.

        They import it, or changed with it in three commits. A text like its own, or one or two
        commits, are no reason; changelogs and lock files change with everything.
        """
        found, number = [], len(self.history.of(file))
        for one in self.of(file):
            importer = file in self._imported.get(one.file, ())
            if work_tree.kind(one.file) in _OF_EVERYTHING:
                continue
            commits = f"changed in {one.support} of its {number} commits"
            parts = "imports it" * importer, commits * (one.support >= TOGETHER)
            if reason := ", ".join(filter(None, parts)):
                found.append((one, reason))
        return found

    def of(self, file: str) -> list[Coupled]:
        """Return the files that are coupled with a file, the strongest coupling first.

        These changed with it in a commit that counts, import it or are imported by it, or have a
        text like its own.
        """
        joint = _joint(self.history.of(file))
        imports = self._imports.get(file, frozenset[str]())
        likeness = self._likeness(file) if self._likeness else {}
        alike = {other for other, value in likeness.items() if value >= LIKE}
        prior = FREQUENCY_WEIGHT + IMPORT_WEIGHT + (LIKENESS_WEIGHT if self._likeness else 0.0)
        found = []
        for other in (joint.support.keys() | imports | alike) - {file}:
            if other not in self._files:
                continue
            score = (
                joint.weights.get(other, 0.0)
                + FREQUENCY_WEIGHT * self._frequency.get(other, 0.0)
                + IMPORT_WEIGHT * (other in imports)
                + LIKENESS_WEIGHT * min(1.0, max(0.0, likeness.get(other, 0.0)))
            ) / (joint.total + prior)
            score = min(1.0, score)  # rounding
            support = joint.support.get(other, 0)
            confidence = support / joint.number if joint.number else 0.0
            kind = _type(support > 0, other in imports, other in alike)
            last = joint.last.get(other, 0)
            found.append(Coupled(other, confidence, support, last, score, kind))
        return sorted(found, key=lambda one: (-one.fused_score, one.file))


class _Joint(NamedTuple):
    """What the commits of a file say of the files that changed with it."""

    number: int
    """Number of its commits."""
    total: float
    """Sum of their weights."""
    weights: Mapping[str, float]
    """Sums of the weights of the joint commits."""
    support: Mapping[str, int]
    """Numbers of joint commits."""
    last: Mapping[str, int]
    """Times of the newest joint commits."""


def _joint(commits: Sequence[CountedCommit]) -> _Joint:
    """Count the commits of a file, newest first, by the files in them."""
    weights, support, last = dict[str, float](), dict[str, int](), dict[str, int]()
    total = 0.0
    for commit in commits:
        weight = _recency(commit.age) / max(1, commit.size - 1)
        total += weight
        for other in commit.files:
            weights[other] = weights.get(other, 0.0) + weight
            support[other] = support.get(other, 0) + 1
            last.setdefault(other, commit.when)
    return _Joint(len(commits), total, weights, support, last)


def _recency(age: int) -> float:
    return float(0.5 ** (age / HALF_LIFE))


def _frequency(history: CountedCommits) -> dict[str, float]:
    """Return the share of each file in all commits that count, newer ones counting more."""
    found, total = dict[str, float](), 0.0
    for commit in history.commits:
        weight = _recency(commit.age)
        total += weight
        for file in commit.files:
            found[file] = found.get(file, 0.0) + weight
    return {file: weight / total for file, weight in found.items()}


def _type(temporal: bool, static: bool, semantic: bool) -> str:  # noqa: FBT001
    """Return the type of a coupling with this evidence."""
    named = zip((TEMPORAL, STATIC, SEMANTIC), (temporal, static, semantic), strict=True)
    found = [word for word, there in named if there]
    return found[0] if len(found) == 1 else MULTI


class CouplingState(NamedTuple):
    """The coupling as of one moment."""

    coupling: Coupling
    files: Collection[str]
    """The files of the work tree."""
    notices: tuple[str, ...]
    """What is left out, and why."""


class CoupledFiles:
    """The coupling of the files of one work tree; computed again when any evidence changed."""

    def __init__(self, commits: CodeHistory, words: WordTable) -> None:
        self._commits = commits
        self._words = words
        self._of: tuple[object, ...] = ()
        """What the state was computed from."""
        self._state: CouplingState | None = None

    def state(self, scan: TreeScan, imports: Mapping[str, Collection[str]]) -> CouplingState:
        """Return the coupling of the files of a scan; `imports` maps files to those they import.

        Raises StorageFailed if a database can't be used.
        """
        likeness: Similarity | None = None
        notices: list[str] = []
        try:
            likeness = self._words.refresh(scan)
            notices += self._words.notes
        except Busy:
            notices.append("another process reads the texts: their likeness is not used")
        history = self.history()
        notices += history.notes
        of = (history, likeness, imports, self._words.files)
        same = len(of) == len(self._of) and all(map(_same, of, self._of))
        if not same or self._state is None:
            files = self._words.files
            coupling = Coupling(history, files, imports=imports, likeness=likeness)
            self._state = CouplingState(coupling, files, tuple(notices))
            self._of = of
        return self._state._replace(notices=tuple(notices))

    def history(self) -> CountedCommits:
        """Return the history as of now; raise StorageFailed if its database can't be used."""
        try:
            return self._commits.counted()
        except Busy:
            return CountedCommits(notes=("another process reads the commits: they are not used",))

    def close(self) -> None:
        """Close the databases."""
        self._of, self._state = (), None
        self._commits.close()
        self._words.close()


def _same(one: object, other: object) -> bool:
    """Tell whether evidence is unchanged: files are compared, all else is the same object."""
    return one == other if isinstance(one, frozenset) else one is other
