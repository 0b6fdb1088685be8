"""The tables of a shared index in PostgreSQL."""

from __future__ import annotations

from memory_bank.shared.word_weights import DIMENSIONS

SCHEMA = "memory_bank"

VERSION = 1
"""Version of the tables that this program reads and writes."""

BITS = 40
"""A passage has, for readers, the number `repo * 2^BITS + row`, a note likewise: a row that a
publisher numbers itself is never taken for one of another repository."""

MOST_COMPARED = 20_000
"""Number of passages up to which all of a scope are compared. Beyond it, the index of vectors is
asked, and of words only the rarer ones choose passages, of which no more than this are compared: a
question of words that most passages have would read them all."""

MOST_DIMENSIONS = 4000
"""Maximum number of components of a vector that an index of pgvector can have."""

_TABLES = """
CREATE TABLE memory_bank.meta (key text PRIMARY KEY, value text NOT NULL);

CREATE TABLE memory_bank.repositories (
    repo bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE
);

CREATE TABLE memory_bank.heads (
    repo bigint NOT NULL REFERENCES memory_bank.repositories ON DELETE CASCADE,
    bank text NOT NULL,
    commit text NOT NULL,
    committed float8 NOT NULL,
    published float8 NOT NULL,
    web text NOT NULL,
    notes integer NOT NULL,
    passages integer NOT NULL,
    PRIMARY KEY (repo, bank)
);

CREATE TABLE memory_bank.notes (
    repo bigint NOT NULL,
    note bigint GENERATED ALWAYS AS IDENTITY,
    bank text NOT NULL,
    path text NOT NULL,
    file text NOT NULL,
    hash text NOT NULL,
    id text NOT NULL,
    title text NOT NULL,
    type text NOT NULL,
    status text NOT NULL,
    tags text[] NOT NULL,
    created float8 NOT NULL,
    updated float8 NOT NULL,
    hidden boolean NOT NULL,
    rest jsonb NOT NULL,
    PRIMARY KEY (repo, note),
    UNIQUE (repo, bank, path),
    CHECK (note BETWEEN 1 AND {most} AND repo BETWEEN 1 AND {repos}),
    CHECK (abs(created) < 1e12 AND abs(updated) < 1e12 AND jsonb_typeof(rest) = 'object'),
    CHECK (coalesce(array_ndims(tags), 1) = 1 AND array_position(tags, NULL) IS NULL)
);

CREATE TABLE memory_bank.passages (
    repo bigint NOT NULL,
    "row" bigint GENERATED ALWAYS AS IDENTITY,
    note bigint NOT NULL,
    bank text NOT NULL,
    key bytea NOT NULL,
    ordinal integer NOT NULL,
    line integer NOT NULL,
    end_line integer NOT NULL,
    headings text[] NOT NULL,
    text text NOT NULL,
    length integer NOT NULL,
    type text NOT NULL,
    tags text[] NOT NULL,
    created float8 NOT NULL,
    updated float8 NOT NULL,
    hidden boolean NOT NULL,
    words integer[] NOT NULL,
    terms {vector}.sparsevec({terms}) NOT NULL,
    vector {vector}.halfvec{dimension},
    PRIMARY KEY (repo, "row"),
    UNIQUE (repo, bank, key),
    CHECK ("row" BETWEEN 1 AND {most} AND note BETWEEN 1 AND {most} AND repo BETWEEN 1 AND {repos}),
    CHECK (abs(created) < 1e12 AND abs(updated) < 1e12 AND length >= 0),
    CHECK (coalesce(array_ndims(tags), 1) = 1 AND array_position(tags, NULL) IS NULL),
    CHECK (coalesce(array_ndims(headings), 1) = 1 AND array_position(headings, NULL) IS NULL),
    CHECK (coalesce(array_ndims(words), 1) = 1 AND array_position(words, NULL) IS NULL)
) WITH (fillfactor = 80);
ALTER TABLE memory_bank.passages ALTER words SET STORAGE MAIN, ALTER terms SET STORAGE MAIN,
    ALTER vector SET STORAGE MAIN, ALTER text SET STORAGE EXTENDED;
CREATE INDEX passages_note ON memory_bank.passages (repo, note);
CREATE INDEX passages_words ON memory_bank.passages USING gin (words);
{nearest}

CREATE TABLE memory_bank.frequencies (
    repo bigint NOT NULL,
    word integer NOT NULL,
    passages integer NOT NULL,
    PRIMARY KEY (repo, word)
);
CREATE INDEX frequencies_word ON memory_bank.frequencies (word) INCLUDE (repo, passages);
"""

_NEAREST = """
CREATE INDEX passages_nearest ON memory_bank.passages
    USING hnsw (vector {vector}.halfvec_cosine_ops);
"""


def table_statements(*, vector: str, dimension: int) -> str:
    """Return the statements that make the tables.

    `vector` is the schema of the extension, quoted.
    """
    return _TABLES.format(
        vector=vector,
        terms=DIMENSIONS,
        dimension=f"({dimension})" if dimension else "",
        nearest=_NEAREST.format(vector=vector) if dimension else "",
        most=2**BITS - 1,
        repos=2 ** (62 - BITS),
    )
