"""The sections of settings: their keys, defaults, help, limits and tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Annotated, Any

from memory_bank.base import NamedTuple, shorten
from memory_bank.base.filenames import why_outside

_MOST = 200
"""Maximum number of entries of a table, and of items of a list in one."""

SEVERITIES = ("error", "warning", "info")
"""Severities of findings, the most severe first."""

OFF = "off"
"""In place of a severity: the rule is not run."""


RETURNED = "returned"


class BadTable(ValueError):
    """A value in a table is wrong: the keys to it, the problem, and what to write."""

    def __init__(self, keys: tuple[str, ...], problem: str, hint: str) -> None:
        """Keep them."""
        super().__init__(problem)
        self.keys = keys
        self.problem = problem
        self.hint = hint


class TypeSchema(NamedTuple):
    """What the front matter of notes of a type must and may have: `[schema.TYPE]`."""

    required: tuple[str, ...] = ()
    """Keys that must have a value."""
    optional: tuple[str, ...] = ()
    """Keys that are known beside the required and our own ones."""
    strict: bool = False
    """Whether other keys are findings."""


def read_severities(table: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the severities of rules by their names; raise BadTable."""
    _check_size(table)
    for rule, severity in table.items():
        if severity not in (*SEVERITIES, OFF):
            hint = f"choose one of: {', '.join((*SEVERITIES, OFF))}"
            raise BadTable((rule,), f"{shorten_value(severity)} is no severity", hint)
    return MappingProxyType(dict(table))


def type_schemas(table: Mapping[str, Any]) -> Mapping[str, TypeSchema]:
    """Return the schemas by type; raise BadTable."""
    _check_size(table)
    return MappingProxyType({kind: _read_schema(kind, keys) for kind, keys in table.items()})


def _read_schema(kind: str, keys: object) -> TypeSchema:
    if not isinstance(keys, Mapping):
        text = f"{shorten_value(keys)} is neither a setting of [schema] nor a table of a type"
        raise BadTable((kind,), text, f"write a table [schema.{kind}] with required = [...]")
    fields: dict[str, Any] = {}
    for key, value in keys.items():
        if key not in TypeSchema._fields:
            field_names = ", ".join(TypeSchema._fields)
            raise BadTable((kind, key), f"unknown setting {key!r}", f"known: {field_names}")
        if key == "strict":
            if not isinstance(value, bool):
                raise BadTable(
                    (kind, key), f"{shorten_value(value)} is not true or false", "as in TOML"
                )
            fields[key] = value
        else:
            fields[key] = _read_names(kind, key, value)
    return TypeSchema(**fields)


def _read_names(kind: str, key: str, value: object) -> tuple[str, ...]:
    """Return a list of keys of front matter."""
    hint = f'for example {key} = ["status", "tags"]'
    if not isinstance(value, list | tuple) or not all(isinstance(name, str) for name in value):
        raise BadTable((kind, key), f"{shorten_value(value)} is not a list of texts", hint)
    if len(value) > _MOST:
        raise BadTable((kind, key), f"{len(value):,} items", f"at most {_MOST}")
    if any(not name.strip() for name in value):
        raise BadTable((kind, key), "the name of a key is empty", hint)
    return tuple(dict.fromkeys(value))


def _check_size(table: Mapping[str, Any]) -> None:
    if len(table) > _MOST:
        raise BadTable((), f"{len(table):,} entries", f"at most {_MOST}")


def shorten_value(value: object) -> str:
    """Return a value of a setting for an error, cut if it is long."""
    try:
        return shorten(repr(value), _MOST)
    except ValueError:  # an integer of thousands of digits
        return "a number of so many digits"


# A larger note is listed by `doctor`, not indexed, since parsing time grows with size.
MAX_NOTE_BYTES = 10_000_000

_CENTURY = 36_500
"""Days."""

MODES = _, SEMANTIC, HYBRID = ("lexical", "semantic", "hybrid")
"""Modes of search."""

SCOPES = BANK, SHARED, BOTH = ("bank", "shared", "both")
"""What is searched: the bank, other repositories by the shared index, or both."""

OBSERVATION_TYPES = ("decision", "bugfix", "feature", "refactor", "discovery", "change")
"""What an observation may be."""


class Key(NamedTuple):
    """The help and the limits of one setting."""

    help: str
    choices: tuple[str, ...] = ()
    low: float = 0
    high: float = 0
    """Inclusive limits of a number; every number has them."""
    private: bool = False
    """Refused in a project's file; errors don't show its value."""
    lowered: bool = False
    """A project's file may only lower what the user has, else the default, or choose an earlier one
    of the choices."""
    sends: tuple[str, ...] = ()
    """Values that send texts elsewhere: a project's file has one only where the user has it."""
    secret: bool = False
    """Never shown."""
    problem: Callable[[str], str] | None = None
    """Says what is wrong with an item of a list; empty if it may be in it."""
    table: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None
    """Returns the values of a table; raises BadTable. No variable of the environment sets one."""
    rest: bool = False
    """Whether the table consists of the section's own tables, whose names are free."""

    @property
    def range(self) -> str:
        """The limits of a number as text; empty for other types."""
        return f"{self.low:,} to {self.high:,}" if self.high else ""

    @property
    def told(self) -> str:
        """The help, with the range of a number."""
        return f"{self.help}; {self.range}" if self.high else self.help


class Memory(NamedTuple):
    """Section `[memory]`: the bank."""

    enabled: Annotated[
        bool, Key("false turns recall and remember off for this project", lowered=True)
    ] = True
    storage_strategy: Annotated[
        str,
        Key(
            "where the bank is: .memories/ in the project, or the user's data folder",
            choices=("project", "user"),
        ),
    ] = "project"
    recency_boost_days: Annotated[
        float, Key("a note younger than this many days is boosted", high=_CENTURY)
    ] = 7.0
    recency_boost_factor: Annotated[
        float, Key("what its score is multiplied with", low=1, high=100)
    ] = 1.2
    boost_by: Annotated[
        str,
        Key(
            "which accesses boost: those that opened a note, or all that returned it",
            choices=("opened", RETURNED),
        ),
    ] = "opened"
    include: Annotated[
        tuple[str, ...],
        Key("folders and files of the project that are notes, too", problem=why_outside),
    ] = ()
    max_note_bytes: Annotated[
        int, Key("a larger file is listed, not indexed", low=1, high=100_000_000, lowered=True)
    ] = MAX_NOTE_BYTES
    embedder: Annotated[
        str, Key("what turns text into vectors: `memory-bank embedder list`", sends=("http",))
    ] = "minilm"
    format: Annotated[
        str,
        Key("Open Knowledge Format: always, or if its index.md says so", choices=("auto", "okf")),
    ] = "auto"


class Search(NamedTuple):
    """Section `[search]`: search and ranking."""

    scope: Annotated[
        str,
        Key(
            "what recall searches: the bank, other repositories, or both",
            choices=SCOPES,
            private=True,
        ),
    ] = BANK
    fusion: Annotated[str, Key("how lists become one", choices=("scores", "rrf"))] = "scores"
    limit: Annotated[
        int, Key("default number of notes in an answer", low=1, high=100, lowered=True)
    ] = 10


class Secrets(NamedTuple):
    """Section `[secrets]`: values that notes may contain although they look like secrets."""

    allow: Annotated[
        tuple[str, ...], Key("hashes of values that are no secrets, as errors name them")
    ] = ()


def _observation_type(name: str) -> str:
    return "" if name in OBSERVATION_TYPES else f"is none of: {', '.join(OBSERVATION_TYPES)}"


class SessionSettings(NamedTuple):
    """Section `[sessions]`: what agents' sessions leave."""

    capture: Annotated[bool, Key("false stores nothing of agents' sessions", lowered=True)] = True
    keep: Annotated[
        str,
        Key(
            "where notes of sessions are: in this machine's private state, or in sessions/",
            choices=("private", "project"),
            lowered=True,
        ),
    ] = "private"
    ask_at_stop: Annotated[
        bool,
        Key("ask an agent once to save why it changed files, before it stops", lowered=True),
    ] = True
    prompt_tokens: Annotated[
        int,
        Key(
            "most tokens of notes that are added to a prompt; 0 adds none",
            high=100_000,
            lowered=True,
        ),
    ] = 500


class CompressionSettings(NamedTuple):
    """Section `[compression]`: how the events of a session become observations."""

    mode: Annotated[
        str,
        Key(
            "not at all, by rules, the client's model, or a program",
            choices=("none", "local", "client", "command"),
            lowered=True,
        ),
    ] = "local"
    command: Annotated[str, Key("program: JSON on stdin, JSON on stdout", private=True)] = ""
    model: Annotated[str, Key("name of the model, passed on", private=True)] = ""
    max_batch_tokens: Annotated[
        int,
        Key(
            "most tokens of events that are compressed at once",
            low=100,
            high=1_000_000,
            lowered=True,
        ),
    ] = 8000


def _pattern(text: str) -> str:
    """Return why a text can't be a pattern of ignored files; empty if it can."""
    if not text.strip():
        return "is empty"
    return "has a control character" if any(char < " " or char == "\x7f" for char in text) else ""


class Code(NamedTuple):
    """Section `[code]`: the source code and the other documents of the project's repository."""

    enabled: Annotated[bool, Key("false indexes no code of this project", lowered=True)] = True
    exclude: Annotated[
        tuple[str, ...],
        Key("files that are not indexed, by patterns as in .gitignore", problem=_pattern),
    ] = ()


class Lint(NamedTuple):
    """Section `[lint]`: rules for notes."""

    severity: Annotated[
        Mapping[str, str],
        Key("severities of rules, or off, in [lint.severity]", table=read_severities),
    ] = MappingProxyType({})


class Schema(NamedTuple):
    """Section `[schema]`: what front matter of a type must and may have."""

    types: Annotated[
        Mapping[str, TypeSchema],
        Key("required and optional keys, in [schema.TYPE]", table=type_schemas, rest=True),
    ] = MappingProxyType({})


class ContextSettings(NamedTuple):
    """Section `[context]`: what an agent is told when its session starts."""

    observation_types: Annotated[
        tuple[str, ...], Key("types of observations", problem=_observation_type)
    ] = ("decision", "bugfix", "feature")
    concepts: Annotated[tuple[str, ...], Key("only observations with one of these concepts")] = ()
    observation_limit: Annotated[int, Key("most observations", high=1000, lowered=True)] = 20
    session_limit: Annotated[
        int, Key("most sessions; of earlier ones the decisions", high=1000, lowered=True)
    ] = 5
    date_range_days: Annotated[float, Key("days back", high=_CENTURY, lowered=True)] = 30.0
    max_tokens: Annotated[
        int, Key("most tokens of the context", low=100, high=100_000, lowered=True)
    ] = 2000


class Shared(NamedTuple):
    """Section `[shared]`: the index that many repositories share."""

    url: Annotated[
        str, Key("postgresql://host/database, or embedded:FOLDER", private=True, secret=True)
    ] = ""
    repository: Annotated[
        str, Key("this repository's name there; by default host/owner/name of its remote")
    ] = ""
