"""The tables of a shared index in PostgreSQL, their versions, and who may read which rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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

READ = ("meta", "repositories", "teams", "heads", "notes", "passages", "frequencies")
"""Tables that a role with a grant may read; row-level security says which rows."""

WRITTEN = ("heads", "notes", "passages", "frequencies")
"""Tables that a publishing role may change; row-level security says which rows."""

_TABLES = """
CREATE TABLE memory_bank.meta (key text PRIMARY KEY, value text NOT NULL);

CREATE TABLE memory_bank.repositories (
    repo bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE
);

CREATE TABLE memory_bank.teams (
    repo bigint NOT NULL REFERENCES memory_bank.repositories ON DELETE CASCADE,
    team text NOT NULL,
    PRIMARY KEY (repo, team)
);

CREATE TABLE memory_bank.publishers (
    role name NOT NULL,
    repo bigint NOT NULL REFERENCES memory_bank.repositories ON DELETE CASCADE,
    PRIMARY KEY (repo, role)
);

CREATE TABLE memory_bank.grants (
    role name NOT NULL,
    repo bigint REFERENCES memory_bank.repositories ON DELETE CASCADE,
    team text,
    UNIQUE NULLS NOT DISTINCT (role, repo, team),
    CHECK ((repo IS NULL) <> (team IS NULL))
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

# Row-level security asks these functions once a query. They run as the owner of the tables, since
# nobody else reads publishers and grants; each tells a role about that role only. The owner, and
# its members, may do all.
_ACCESS = """
CREATE FUNCTION memory_bank.owns() RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT pg_has_role(session_user, nspowner, 'member') FROM pg_namespace
    WHERE nspname = 'memory_bank'
$$;

CREATE FUNCTION memory_bank.writable() RETURNS SETOF bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT p.repo FROM memory_bank.publishers AS p JOIN pg_roles AS r ON r.rolname = p.role
    WHERE pg_has_role(session_user, r.oid, 'member')
    UNION SELECT repo FROM memory_bank.repositories WHERE memory_bank.owns()
$$;

CREATE FUNCTION memory_bank.readable() RETURNS SETOF bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    WITH mine AS MATERIALIZED (
        SELECT g.repo, g.team FROM memory_bank.grants AS g JOIN pg_roles AS r ON r.rolname = g.role
        WHERE pg_has_role(session_user, r.oid, 'member')
    )
    SELECT repo FROM mine WHERE repo IS NOT NULL
    UNION SELECT t.repo FROM memory_bank.teams AS t JOIN mine ON mine.team = t.team
    UNION SELECT memory_bank.writable()
$$;
"""

# An index on words can't serve a query under row-level security, as comparing arrays might tell
# about rows that are then left out. This function filters the rows itself, as the policies do. The
# repositories are found first: joined with the passages, each would read the index of words.
_BY_WORDS = """
CREATE FUNCTION memory_bank.by_words(
    rare integer[], asked {vector}.sparsevec, most integer, repos bigint[], types text[],
    tagged text[], since float8, before float8, archived boolean
) RETURNS TABLE (number bigint, of_note bigint, score float8, words integer)
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
    allowed bigint[] := ARRAY(
        SELECT r FROM memory_bank.readable() AS r WHERE repos IS NULL OR r = ANY(repos)
    );
BEGIN
    RETURN QUERY WITH found AS MATERIALIZED (
        SELECT (p.repo << {bits}) + p."row", (p.repo << {bits}) + p.note,
            -(p.terms OPERATOR({vector}.<#>) asked), p.length
        FROM memory_bank.passages AS p
        WHERE p.words && rare
        AND p.repo = ANY(allowed)
        AND (types IS NULL OR p.type = ANY(types))
        AND p.tags @> tagged
        AND (since IS NULL OR greatest(p.created, p.updated) >= since)
        AND (before IS NULL OR p.created < before)
        AND (archived OR NOT p.hidden)
        LIMIT {compared}
    )
    TABLE found ORDER BY 3 DESC, 1 LIMIT most;
END
$$;
"""

_POLICIES = "".join(
    f"""
ALTER TABLE memory_bank.{table} ENABLE ROW LEVEL SECURITY;
CREATE POLICY reading ON memory_bank.{table} FOR SELECT
    USING (repo IN (SELECT memory_bank.readable()));
"""
    for table in READ
    if table != "meta"
) + "".join(
    f"""
CREATE POLICY adding ON memory_bank.{table} FOR INSERT
    WITH CHECK (repo IN (SELECT memory_bank.writable()));
CREATE POLICY changing ON memory_bank.{table} FOR UPDATE
    USING (repo IN (SELECT memory_bank.writable()))
    WITH CHECK (repo IN (SELECT memory_bank.writable()));
CREATE POLICY removing ON memory_bank.{table} FOR DELETE
    USING (repo IN (SELECT memory_bank.writable()));
"""
    for table in WRITTEN
)

_CLOSED = """
ALTER TABLE memory_bank.publishers ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_bank.grants ENABLE ROW LEVEL SECURITY;
REVOKE ALL ON SCHEMA memory_bank FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA memory_bank FROM PUBLIC;
"""

_MIGRATIONS: Mapping[int, Sequence[str]] = {1: (_TABLES, _ACCESS, _BY_WORDS, _POLICIES, _CLOSED)}
"""The statements that make the tables of each version from those of the one before."""


def statements(since: int, *, vector: str, dimension: int) -> list[str]:
    """Return the statements that bring tables of a version up to date; 0 for none.

    `vector` is the schema of the extension, quoted.
    """
    nearest = _NEAREST.format(vector=vector) if dimension else ""
    size = f"({dimension})" if dimension else ""
    return [
        text.format(
            vector=vector,
            terms=DIMENSIONS,
            dimension=size,
            nearest=nearest,
            bits=BITS,
            compared=MOST_COMPARED,
            most=2**BITS - 1,
            repos=2 ** (62 - BITS),
        )
        for version in sorted(_MIGRATIONS)
        if version > since
        for text in _MIGRATIONS[version]
    ]
