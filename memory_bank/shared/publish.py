"""Publish the notes of a commit to the shared index, make and drop its tables, and list them."""

from __future__ import annotations

import time
from typing import Annotated

from memory_bank.bank.bank import Bank
from memory_bank.bank.copies import find_work_tree
from memory_bank.bank.revisions import bank_at
from memory_bank.base.errors import BadInput, Conflict, Hint
from memory_bank.base.operation import Param, operation, topic
from memory_bank.base.plugins import load
from memory_bank.base.rendering import count
from memory_bank.base.screen import FOUND, Call
from memory_bank.base.settings import Settings
from memory_bank.git import objects, repository
from memory_bank.search.document_changes import Progress
from memory_bank.search.embedders.base import identity
from memory_bank.shared import views
from memory_bank.shared.engines.base import (
    Head,
    Identity,
    IndexInfo,
    KnownBank,
    Publication,
    SharedEngine,
    bank_identity,
    check_embedder,
    open_engine,
)
from memory_bank.shared.export import NONE, Collected, collect_bank, read_embedder
from memory_bank.shared.views import (
    ABSENT,
    DROPPED,
    PLANNED,
    PUBLISHED,
    UNCHANGED,
    DroppedIndex,
    Published,
)

_TRIES = 10
"""Attempts while other publications of the same bank come first."""

_PAUSE = 0.05
"""Seconds before the second attempt; each next one waits longer."""


def _publish_or_drop(
    bank: Bank,
    rev: str = "HEAD",
    *,
    drop: Annotated[bool, Param("Remove all that is published of this bank")] = False,
    progress: Progress | None = None,
    to: str = "",
    repo: str = "",
    force: bool = False,
    dry_run: bool = False,
) -> Published:
    """Publish a commit, or remove what is published."""
    if drop:
        return unpublish(bank, to=to, repo=repo, dry_run=dry_run)
    return publish(bank, rev, to=to, repo=repo, force=force, dry_run=dry_run, progress=progress)


@operation(
    "shared publish",
    why="""
    Replaces what was published of this bank by the notes of a commit. Only what changed is sent,
    and readers see the old commit or the new one, never half. The commit must follow the one that
    is published, unless you say --force. Notes of sessions and notes that git ignores stay on this
    machine. A note with a secret is not published: it is listed, and the exit code is 1. Run it in
    CI on the main branch. See docs/shared.md.
    """,
    examples=(
        ("memory-bank shared publish", "the notes of HEAD"),
        ("memory-bank shared publish --dry-run", "what would be sent"),
        ("memory-bank shared publish --rev v2.0 --force", "back to an earlier commit"),
        ("memory-bank shared publish --drop", "remove this bank from the shared index"),
    ),
    through=_publish_or_drop,
    view=views.view_published,
)
def publish(
    bank: Bank,
    rev: Annotated[str, Param("The commit, by default HEAD", metavar="REV")] = "HEAD",
    *,
    to: Annotated[str, Param("The shared index [env: MEMORY_BANK_SHARED_URL]", metavar="URL")] = "",
    repo: Annotated[
        str, Param("The repository's name there: host/owner/name", metavar="NAME")
    ] = "",
    force: Annotated[bool, Param("Replace a commit that it does not follow")] = False,
    dry_run: Annotated[bool, Param("Show what would be sent; send nothing")] = False,
    progress: Progress | None = None,
) -> Published:
    """Publish the notes of a commit to the shared index.

    What was published of this bank is replaced.

    `to` is the URL of the index, by default that of the settings; `repo` is the repository's name
    there. The commit must follow the published one, or `force` be given, which also reads and sends
    again what seems unchanged. Notes with a secret, of sessions, and those that are not in the
    commit are not published. Raises BadInput, also for a commit without
    notes, SharedUnavailable, EmbedderUnavailable, Conflict if
    others publish the same bank all the time.
    """
    started = time.monotonic()
    bank.settings.check_enabled()
    identity = _find_identity(bank, repo)
    commit = objects.find_commit(identity.tree, rev)
    with open_engine(to or bank.settings.shared.url) as engine:
        check_embedder(engine.info(), read_embedder(bank)[0])
        published_bank = engine.known(identity.repo, identity.bank)
        _check_follows(identity, published_bank, commit, force=force)
        with bank_at(bank, commit, required=True) as copy:
            for attempt in range(_TRIES):
                collection = collect_bank(
                    copy, {} if force else published_bank.notes, progress, identity.project
                )
                if published_bank.commit == commit and not (force or collection.changed):
                    return _report_unchanged(
                        identity, published_bank, collection, time.monotonic() - started
                    )
                publication = _compare_with_published(
                    engine, identity, published_bank, collection, commit
                )
                try:
                    if not dry_run:
                        engine.publish(publication)
                except Conflict:
                    if attempt == _TRIES - 1:
                        raise
                    time.sleep(_PAUSE * (attempt + 1))
                    published_bank = engine.known(identity.repo, identity.bank)
                    _check_follows(identity, published_bank, commit, force=force)
                    continue
                break
    published = _report_published(publication, collection, PLANNED if dry_run else PUBLISHED)
    return published._replace(seconds=time.monotonic() - started)


def unpublish(bank: Bank, *, to: str = "", repo: str = "", dry_run: bool = False) -> Published:
    """Remove all that is published of this bank; raise as `publish`."""
    started = time.monotonic()
    identity = _find_identity(bank, repo)
    with open_engine(to or bank.settings.shared.url) as engine:
        engine.info()
        published_bank = engine.known(identity.repo, identity.bank)
        is_removed = published_bank.commit and (
            dry_run or engine.remove(identity.repo, identity.bank)
        )
    state = (PLANNED if dry_run else DROPPED) if is_removed else ABSENT
    return Published(
        state,
        identity.repo,
        identity.bank,
        replaced=published_bank.commit,
        removed_notes=tuple(sorted(published_bank.notes)),
        removed_passages=published_bank.passages,
        seconds=time.monotonic() - started,
    )


def _find_identity(bank: Bank, repo: str) -> Identity:
    find_work_tree(bank.layout.origin)  # the error says that there is none
    identity = bank_identity(bank, repo)
    if identity is None:
        raise BadInput(
            f"{bank.layout.root}: its repository has no remote to name it by",
            "name it: --repo NAME, or [shared] repository in the settings",
        )
    return identity


def _check_follows(identity: Identity, published: KnownBank, commit: str, *, force: bool) -> None:
    """Raise BadInput unless a commit comes after the published one."""
    if force or published.commit in {"", commit}:
        return
    if objects.is_ancestor(identity.tree, published.commit, commit):
        return
    if objects.is_ancestor(identity.tree, commit, published.commit):
        raise BadInput(
            f"{identity.repo}: the later commit {published.commit[:12]} is published already",
            Hint.FORCE_PUBLISH,
        )
    shallow = repository.is_shallow(identity.tree)
    hint = "this is a shallow clone: `git fetch --unshallow`" if shallow else Hint.FORCE_PUBLISH
    raise BadInput(
        f"{identity.repo}: {commit[:12]} does not follow the published commit"
        f" {published.commit[:12]}",
        hint,
    )


def _compare_with_published(
    engine: SharedEngine,
    identity: Identity,
    published: KnownBank,
    collection: Collected,
    commit: str,
) -> Publication:
    """Return what differs from the head."""
    gone = [path for path in published.notes if path not in collection.notes]
    paths = [path for path in collection.changed if path in published.notes]
    positions = engine.positions(identity.repo, identity.bank, [*paths, *gone])
    unchanged = {
        passage.key: passage.position for passage in collection.passages if passage.key in positions
    }
    new = [passage for passage in collection.passages if passage.key not in positions]
    removed = [key for key in positions if key not in unchanged]
    head = Head(
        repo=identity.repo,
        bank=identity.bank,
        commit=commit,
        committed=objects.read_commit_time(identity.tree, commit),
        published=time.time(),
        web=identity.web,
        notes=len(collection.notes),
        passages=published.passages - len(removed) + len(new),
    )
    return Publication(
        base=published.commit,
        head=head,
        notes=[collection.notes[path] for path in sorted(collection.changed)],
        gone_notes=sorted(gone),
        passages=new,
        gone_passages=removed,
        moved={key: place for key, place in unchanged.items() if positions[key] != place},
    )


def _report_published(publication: Publication, collection: Collected, state: str) -> Published:
    head = publication.head
    return Published(
        state=state,
        repository=head.repo,
        bank=head.bank,
        commit=head.commit,
        replaced=publication.base,
        notes=head.notes,
        passages=head.passages,
        changed_notes=tuple(note.path for note in publication.notes),
        removed_notes=tuple(publication.gone_notes),
        sent_passages=len(publication.passages),
        removed_passages=len(publication.gone_passages),
        refused=tuple(collection.refused),
        left_out_sessions=collection.sessions,
    )


def _report_unchanged(
    identity: Identity, bank: KnownBank, collection: Collected, seconds: float
) -> Published:
    return Published(
        UNCHANGED,
        identity.repo,
        identity.bank,
        bank.commit,
        bank.commit,
        len(bank.notes),
        bank.passages,
        refused=tuple(collection.refused),
        left_out_sessions=collection.sessions,
        seconds=seconds,
    )


_To = Annotated[str, Param("The shared index [env: MEMORY_BANK_SHARED_URL]", metavar="URL")]


@operation(
    "shared init",
    why="""
    Makes the tables in a PostgreSQL database with the extension vector, and fixes the embedder of
    the index: that of this bank, or outside a bank that of your settings. All that publish must
    have the same. The role that runs it is the operator: it owns the tables. If they are there,
    nothing changes.
    """,
    examples=(("memory-bank shared init --to postgresql://operator@db/notes", "once"),),
    view=views.view_made,
)
def make(settings: Settings, *, to: _To = "") -> IndexInfo:
    """Make the tables of a shared index.

    Raises BadInput, SharedUnavailable, EmbedderUnavailable.
    """
    embedder, dimension = _embedder(settings)
    with open_engine(to or settings.shared.url) as engine:
        created = not engine.is_made()
        index_info = engine.make(embedder, dimension)
        return index_info._replace(place=engine.place, created=created)


@operation(
    "shared status",
    why="""
    Lists the banks that are published, with the commit of each.
    """,
    examples=(("memory-bank shared status", "what is published"),),
    view=views.view_status,
)
def status(settings: Settings, *, to: _To = "") -> IndexInfo:
    """List what is published."""
    with open_engine(to or settings.shared.url) as engine:
        info, heads = engine.info(), engine.heads()
        return info._replace(place=engine.place, banks=tuple(heads))


def _ask_to_drop(
    call: Call,
    settings: Settings,
    *,
    to: str = "",
    yes: Annotated[bool, Param("Drop without asking")] = False,
) -> DroppedIndex | int:
    """Ask before the tables are removed."""
    if not yes:
        status_now = status(settings, to=to)
        text = f"{count(len(status_now.banks or ()), 'bank')} in {status_now.place}"
        if call.json or not call.interactive:
            raise BadInput(
                f"{text} would be removed, but confirmation needs a terminal",
                "add --yes to drop without a question",
            )
        if not call.confirm(f"Remove {text}?"):
            call.remark("nothing was changed")
            return FOUND
    return drop(settings, to=to)


@operation(
    "shared drop",
    why="""
    Removes the tables with all that is published. The notes stay in their
    repositories, and can be published again.
    """,
    examples=(("memory-bank shared drop", "asks first"),),
    through=_ask_to_drop,
    view=views.view_dropped,
)
def drop(settings: Settings, *, to: _To = "") -> DroppedIndex:
    """Remove the tables with all that is published."""
    with open_engine(to or settings.shared.url) as engine:
        return DroppedIndex(engine.place, engine.drop())


def _embedder(settings: Settings) -> tuple[str, int]:
    module = load("search.embedders", settings.memory.embedder)
    embedder = module.load(settings)
    return (NONE, 0) if embedder is None else (identity(embedder), embedder.dimension)


topic(
    "shared",
    "Look after the index that many repositories share.",
    group="Share",
    why="""
    A shared index has the reviewed notes of many repositories, in PostgreSQL with pgvector, so that
    one question finds what was learned in any of them. Its operator makes it, and says by the
    rights of the database who may read and publish. See docs/shared.md.
    """,
    examples=(
        ("memory-bank shared init --to postgresql://operator@db/notes", "make it"),
        ("memory-bank shared status", "what is published"),
    ),
)
