"""Find the files that change with a file: by commits, imports and likeness of texts.

Rank the other files by

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

import json
import math
import posixpath
import re
import time
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from sqlite3 import Connection

from memory_bank.base import NamedTuple, in_json, lazy_pattern, sqlite
from memory_bank.base.dates import seconds_to_iso
from memory_bank.base.errors import Busy, IndexDamaged
from memory_bank.base.filenames import StatSignature, is_trusted, signature_text
from memory_bank.code.commits import CodeHistory, CountedCommit, CountedCommits
from memory_bank.code.index import work_tree
from memory_bank.code.index.symbol_table import SymbolTable
from memory_bank.code.index.work_tree import TreeScan

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
"""Kinds of files that change whatever changes, as do manifests."""

_MANIFEST = lazy_pattern(
    r"(?:^|/)(?:package\.json|deno\.jsonc?|composer\.json|Cargo\.toml|pyproject\.toml|setup\.(?:py|cfg)"
    r"|requirements[^/]*\.txt|Pipfile|go\.(?:mod|sum|work)|Gemfile|[^/]+\.(?:gemspec|csproj|fsproj|nuspec)"
    r"|pom\.xml|build\.gradle(?:\.kts)?|CMakeLists\.txt|version\.(?:py|go|rb|txt)|VERSION)$",
    re.IGNORECASE,
)

TEMPORAL, STATIC, SEMANTIC, MULTI = "temporal", "static", "semantic", "multi"
"""Types of a coupling: by commits, by imports, by likeness, by more than one of these."""

LikenessSource = Callable[[str, Collection[str] | None], Mapping[str, float]]
"""Maps a file to the likeness of other files' texts, 0 to 1; those left out have 0.

The second argument names those that are wanted; all, if it is None.
"""


@in_json(
    "file", "confidence", "support", "last_changed", "risk", "fused_score", "coupling_type",
    "snippet",
)  # fmt: skip
class CoupledFile(NamedTuple):
    """A file that is coupled with another."""

    file: str
    """Its path below the work tree."""
    confidence: float
    """The share of the other file's commits that changed this one too; 0 to 1."""
    support: int
    """The number of commits that changed both."""
    last_changed: str
    """When the newest of these was made; empty if there is none."""
    fused_score: float
    """What they are ranked by; 0 to 1."""
    coupling_type: str
    """TEMPORAL, STATIC, SEMANTIC or MULTI."""
    reason: str = ""
    """Why it may have to change with the other file, if that is what was asked."""

    @property
    def snippet(self) -> str:
        """The reason, or all this in one sentence."""
        return self.reason or self.sentence_with(self.file)

    def sentence_with(self, file: str) -> str:
        """Return one sentence about the coupling that names one of the two files."""
        name = posixpath.basename(file)
        if not self.support:
            how = {STATIC: "Is connected by imports with", SEMANTIC: "Is worded like"}
            start = how.get(self.coupling_type, "Is connected by imports with, and worded like,")
            return f"{start} {name} (no joint commits, type: {self.coupling_type})"
        share = f"{self.confidence:.0%} of commits"
        kind = f"{self.risk} coupling, type: {self.coupling_type}"
        return f"Co-changes with {name} in {share} ({kind})"

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
        self.files = files if isinstance(files, (set, frozenset, dict)) else frozenset(files)
        self._likeness = likeness
        self._imports: dict[str, set[str]] = {}
        """In both directions."""
        self._imported = imports or {}
        for importer, imported_files in self._imported.items():
            for imported_file in imported_files:
                self._imports.setdefault(importer, set()).add(imported_file)
                self._imports.setdefault(imported_file, set()).add(importer)
        self._frequency = _count_frequencies(history)

    def list_depended(self, file: str) -> list[CoupledFile]:
        """Return the files among these that may have to change with it, each with the reason.

        They import it, or changed with it in three commits. A text like its own, or one or two
        commits, are no reason.
        """
        depended, commit_count = [], len(self.history.of(file))
        for coupled in self.of(file, related=True):
            is_importer = file in self._imported.get(coupled.file, ())
            commits = f"changed in {coupled.support} of its {commit_count} commits"
            parts = "imports it" * is_importer, commits * (coupled.support >= TOGETHER)
            if reason := ", ".join(filter(None, parts)):
                depended.append(coupled._replace(reason=reason))
        return depended

    def of(self, file: str, *, related: bool = False) -> list[CoupledFile]:
        """Return the files that are coupled with a file, the strongest coupling first.

        These changed with it in a commit that counts, import it or are imported by it, or have a
        text like its own. Manifests, lock files and changelogs are left out: they change with all.
        With `related`, only those are returned that changed with it in TOGETHER commits, or that
        one imports: they need no comparison with all texts.
        """
        commits = self.history.of(file)
        total, weights, times = _weigh_commits(commits)
        imports = self._imports.get(file, frozenset[str]())
        together = {path for path, joint_times in times.items() if len(joint_times) >= TOGETHER}
        candidates = imports | together if related else None
        likeness = self._likeness(file, candidates) if self._likeness else {}
        like_paths = {path for path, value in likeness.items() if value >= LIKE}
        prior = FREQUENCY_WEIGHT + IMPORT_WEIGHT + (LIKENESS_WEIGHT if self._likeness else 0.0)
        scored_files = []
        paths = times.keys() | imports | like_paths if candidates is None else candidates
        for path in paths - {file}:
            if path not in self.files or _is_changed_by_all(path):
                continue
            score = (
                weights.get(path, 0.0)
                + FREQUENCY_WEIGHT * self._frequency.get(path, 0.0)
                + IMPORT_WEIGHT * (path in imports)
                + LIKENESS_WEIGHT * min(1.0, max(0.0, likeness.get(path, 0.0)))
            ) / (total + prior)
            score = min(1.0, score)  # rounding
            joint_times = times.get(path, [])  # the newest first
            confidence = len(joint_times) / len(commits) if commits else 0.0
            kind = _name_type(bool(joint_times), path in imports, path in like_paths)
            last = seconds_to_iso(joint_times[0]) if joint_times else ""
            coupled = CoupledFile(
                path, round(confidence, 4), len(joint_times), last, round(score, 4), kind
            )
            scored_files.append((-score, path, coupled))
        return [coupled for _, _, coupled in sorted(scored_files)]


def _is_changed_by_all(path: str) -> bool:
    return bool(_MANIFEST.search(path)) or work_tree.name_kind(path) in _OF_EVERYTHING


def _weigh_commits(
    commits: Sequence[CountedCommit],
) -> tuple[float, dict[str, float], dict[str, list[int]]]:
    """Return the weight of a file's commits, and by file the weight and times of joint ones."""
    weights, times = dict[str, float](), dict[str, list[int]]()
    total = 0.0
    for commit in commits:
        weight = _weigh_age(commit.age) / max(1, commit.size - 1)
        total += weight
        for file in commit.files:
            weights[file] = weights.get(file, 0.0) + weight
            times.setdefault(file, []).append(commit.when)
    return total, weights, times


def _weigh_age(age: int) -> float:
    return float(0.5 ** (age / HALF_LIFE))


def _count_frequencies(history: CountedCommits) -> dict[str, float]:
    """Return the share of each file in all commits that count, newer ones counting more."""
    weights, total = dict[str, float](), 0.0
    for commit in history.commits:
        weight = _weigh_age(commit.age)
        total += weight
        for file in commit.files:
            weights[file] = weights.get(file, 0.0) + weight
    return {file: weight / total for file, weight in weights.items()}


def _name_type(temporal: bool, static: bool, semantic: bool) -> str:  # noqa: FBT001
    """Return the type of a coupling with this evidence."""
    evidence = {TEMPORAL: temporal, STATIC: static, SEMANTIC: semantic}
    types = [name for name, is_there in evidence.items() if is_there]
    return types[0] if len(types) == 1 else MULTI


class CoupledFiles:
    """The coupling of the files of one work tree; computed again when any evidence changed."""

    def __init__(self, commits: CodeHistory, words: WordTable) -> None:
        self._commits = commits
        self._words = words
        self._evidence: tuple[object, ...] = ()
        """What the coupling was computed from."""
        self._coupling: Coupling | None = None

    def read(
        self, scan: TreeScan, imports: Mapping[str, Collection[str]]
    ) -> tuple[Coupling, tuple[str, ...]]:
        """Return the coupling of the files of a scan, and notices of what is left out, and why.

        `imports` maps files to those they import.

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
        evidence = (history, likeness, imports, self._words.files)
        if self._coupling is None or not all(map(_is_same, evidence, self._evidence)):
            self._coupling = Coupling(
                history, self._words.files, imports=imports, likeness=likeness
            )
            self._evidence = evidence
        return self._coupling, tuple(notices)

    def history(self) -> CountedCommits:
        """Return the history as of now; raise StorageFailed if its database can't be used."""
        try:
            return self._commits.read_counted()
        except Busy:
            return CountedCommits(notes=("another process reads the commits: they are not used",))

    def close(self) -> None:
        """Close the databases."""
        self._evidence, self._coupling = (), None
        self._commits.close()
        self._words.close()


def _is_same(old: object, new: object) -> bool:
    """Tell whether evidence is unchanged: files are compared, all else is the same object."""
    return old == new if isinstance(old, frozenset) else old is new


MOST_WORDS = 100
"""Number of words of a file that are compared: more measured worse."""

MOST_CHARACTERS = 100_000
"""Number of characters of a file that are read."""

_PATH_WEIGHT = 5
"""Number of times that a word of the path counts."""

_LEAST = 0.01
"""Likeness that is left out."""

_WORD = lazy_pattern(r"[A-Z]{2,}(?![a-z])|[A-Z]?(?:(?![A-Z])[^\W\d_]){2,}")

Words = Mapping[str, int]
"""Words with their numbers."""


def file_words(path: str, text: str) -> Words:
    """Return the words of a file that are compared."""
    counts = Counter(word.lower() for word in _WORD.findall(text[:MOST_CHARACTERS]))
    for word in _WORD.findall(path):
        counts[word.lower()] += _PATH_WEIGHT
    return dict(counts.most_common(MOST_WORDS))


class Similarity:
    """The likeness of files by their words."""

    def __init__(self, files: Mapping[str, Words]) -> None:
        """Compare files by what `file_words` returned of them."""
        file_counts = Counter(word for words in files.values() for word in words)
        rarities = {word: math.log(1 + len(files) / count) for word, count in file_counts.items()}
        self._vectors: dict[str, dict[str, float]] = {}
        self._files_with: dict[str, list[tuple[str, float]]] = {word: [] for word in file_counts}
        for path, words in files.items():
            vector = {word: (1 + math.log(n)) * rarities[word] for word, n in words.items()}
            length = math.hypot(*vector.values())
            self._vectors[path] = {word: value / length for word, value in vector.items()}
            for word, value in self._vectors[path].items():
                self._files_with[word].append((path, value))

    def __call__(self, path: str, paths: Collection[str] | None = None) -> Mapping[str, float]:
        """Return the likeness of other files to a file, 0 to 1; nothing for an unknown one."""
        likeness: dict[str, float] = {}
        if paths is not None:
            likeness |= {other_path: self._compare_two(path, other_path) for other_path in paths}
        else:
            for word, value in self._vectors.get(path, {}).items():
                for other_path, other_value in self._files_with[word]:
                    likeness[other_path] = likeness.get(other_path, 0.0) + value * other_value
            likeness.pop(path, None)
        return {other: min(1.0, value) for other, value in likeness.items() if value >= _LEAST}

    def _compare_two(self, path: str, other_path: str) -> float:
        vector, other_vector = self._vectors.get(path, {}), self._vectors.get(other_path, {})
        return min(1.0, sum(value * other_vector.get(word, 0.0) for word, value in vector.items()))


MOST_FILES = 20_000
"""Number of files that are compared, the first by path."""

_SECONDS = 10.0
"""Time after which the rest is left to the next refresh."""

# Files in one transaction, as of the table of symbols.
_BATCH = 200


class WordTable:
    """The words of the files of one work tree, beside its symbols."""

    def __init__(self, table: SymbolTable) -> None:
        self._table = table
        self._likeness: Similarity | None = None
        self._scan: TreeScan | None = None
        """The scan whose files were all read last."""
        self.files: frozenset[str] = frozenset()
        """All files, as of the last refresh, also those that are not compared."""
        self.notes: tuple[str, ...] = ()
        """What is left out, and why."""

    def refresh(self, scan: TreeScan) -> Similarity:
        """Read the files of a scan that changed; return the likeness of all.

        The same object is returned as long as no file changes; nothing is read for the scan of the
        last call. Raises StorageFailed if the database
        can't be used; Busy.
        """
        if scan is self._scan and self._likeness is not None:
            return self._likeness
        self.files = frozenset(scan.files.keys() | scan.refused.keys())
        files = {path: scan.files[path] for path in sorted(scan.files)[:MOST_FILES]}
        try:
            return self._refresh_words(scan, files)
        except IndexDamaged:
            self._table.discard()
            return self._refresh_words(scan, files)

    def close(self) -> None:
        """Forget the words that were read."""
        self._likeness = None

    def _refresh_words(
        self, scan: TreeScan, stat_signatures: Mapping[str, StatSignature]
    ) -> Similarity:
        with sqlite.convert_errors(self._table.file):
            base = self._table.opened()
            rows = dict(base.execute("SELECT path, signature FROM words"))
            changed = [
                path
                for path, stat_signature in stat_signatures.items()
                if rows.get(path) != signature_text(stat_signature)
            ]
            gone = [(path,) for path in rows if path not in stat_signatures]
            if gone:
                with sqlite.transaction(base):
                    base.executemany("DELETE FROM words WHERE path = ?", gone)
            number = self._read_files(base, changed)
            self.notes = _write_notes(len(self.files), len(stat_signatures), number)
            if changed or gone or self._likeness is None:
                self._likeness = Similarity(_read_words(base))
            self._scan = None if number else scan
            return self._likeness

    def _read_files(self, base: Connection, paths: list[str]) -> int:
        """Read files, until the time is up; return the number of those that are left."""
        end = time.monotonic() + _SECONDS
        for start in range(0, len(paths), _BATCH):
            rows = [self._make_row(path) for path in paths[start : start + _BATCH]]
            with sqlite.transaction(base):
                base.executemany("INSERT OR REPLACE INTO words VALUES (?, ?, ?)", rows)
            if time.monotonic() > end:
                return max(0, len(paths) - start - _BATCH)
        return 0

    def _make_row(self, path: str) -> tuple[str, str, bytes]:
        """Return the row of a file; one that can't be read, or is no text, has no words."""
        file = self._table.tree.read(path)
        if file is None or file.signature is None:
            return path, "", zlib.compress(b"{}")
        text = "" if file.reason else file.data[:MOST_CHARACTERS].decode("utf-8", "replace")
        words = file_words(path, text) if not file.reason else {}
        # a file that has just changed may change again without another signature
        signature = signature_text(file.signature) if is_trusted(file.signature) else ""
        return path, signature, zlib.compress(json.dumps(words, ensure_ascii=False).encode())


def _read_words(base: Connection) -> dict[str, Mapping[str, int]]:
    """Return the words of all files; raise IndexDamaged."""
    words_by_path: dict[str, Mapping[str, int]] = {}
    for path, data in base.execute("SELECT path, words FROM words ORDER BY path"):
        try:
            words = json.loads(zlib.decompress(data))
            words_by_path[path] = {str(word): int(number) for word, number in words.items()}
        except (AttributeError, TypeError, ValueError, zlib.error) as error:
            raise IndexDamaged("the words of a file are damaged", "it is rebuilt") from error
    return words_by_path


def _write_notes(files: int, number: int, unread: int) -> tuple[str, ...]:
    notices = {
        f"only {MOST_FILES:,} of {files:,} files are compared": files > number == MOST_FILES,
        f"{unread:,} of {number:,} files are not compared yet: the next call goes on": unread > 0,
    }
    return tuple(note for note, applies in notices.items() if applies)
