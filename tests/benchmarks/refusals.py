"""Count the notes about real commits that are refused as if they had a secret, and planted secrets.

    python -m tests.benchmarks.refusals REPOSITORY…

Half of the commits are those whose messages speak of access, newest first, the others are drawn. A note has the
message of its commit, and the ids, links, symbols and addresses that notes cite. Each is repeated with a sentence
about access before each of its links, as notes about signing in have them. Secrets of every kind are planted into
these notes. Examples of secrets in the messages count as refusals, too.
"""

import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from memory_bank.base.errors import SecretFound
from memory_bank.code.index.database import hash_parts
from memory_bank.code.parse.parsed_file import SYMBOL, TEST
from memory_bank.notes.secrets import secrets
from tests.benchmarks import planted
from tests.git.history_builder import run as git

COMMITS, PLANTED, SEED = 200, 600, 26
WEB = "https://git.example.org/team/shop"
_ACCESS = re.compile(
    r"cookie|token|passw|passphrase|secret|auth|login|log in|session|2fa|otp|recovery|key\b|user|account|credential|ssh",
    re.IGNORECASE,
)
_SYMBOL = re.compile(
    r"^@@ .* @@.*?(?:def|func|fn|class|function|struct|impl)\s+(?:\([^)]*\)\s*)?(\w+)", re.MULTILINE
)
_MOST_FILES, _MOST_SYMBOLS = 4, 3
SENTENCES = (
    "The session cookie is set in {}.",
    "cookie: {}",
    "Cookies are signed now, see {}, and {}.",
    "The token is checked by {}",
    "fix(auth): {} reads the token",
    "Log in as admin with the form of {}.",
    "Sign in needs {}",
    "2FA: the TOTP is compared in {}.",
    "Recovery codes are made in {} and {}",
    "The user is found by {}",
    "Passwords are hashed since {}.",
    "The API key is read in {}.",
    "ssh keys: see {}",
)  # fmt: skip
"""Sentences about access; each takes what notes cite."""


class Commit(NamedTuple):
    """What a note is written from."""

    id: str
    parent: str
    message: str
    files: list[str]
    symbols: list[str]


def commits(repository: Path) -> Iterator[Commit]:
    """Yield the commits that notes are written from."""
    log = git(repository, "log", "--no-merges", "--format=%H%x01%P%x01%B%x00").split("\0")
    rows = [row.strip().split("\x01") for row in log if row.strip()]
    access = [row for row in rows if _ACCESS.search(row[2])][: COMMITS // 2]
    rest = [row for row in rows if row not in access]
    drawn = random.Random(SEED).sample(rest, min(len(rest), COMMITS - len(access)))
    for commit, parents, message in [*access, *drawn]:
        names = git(repository, "show", "--format=", "--name-only", commit).splitlines()
        change = git(repository, "show", "--format=", "--unified=0", commit)
        symbols = list(dict.fromkeys(_SYMBOL.findall(change)))
        yield Commit(
            commit, parents[:40], message, names[:_MOST_FILES], symbols[:_MOST_SYMBOLS] or ["main"]
        )


def citations(commit: Commit, web: str) -> list[str]:
    """Return what a note about a commit cites, in the forms that people and tools write."""
    short, file = commit.id[:9], (commit.files or ["README.md"])[0]
    symbol, name = commit.symbols[0], _slug(commit)
    return [
        commit.id, f"`{commit.id}`", short, f"`{short}`", f"commit {commit.id}", f"{commit.id[:12]}..{commit.parent[:12]}",
        f"{web}/commit/{commit.id}", f"[{short}]({web}/commit/{commit.id})",
        f"[{file}]({web}/blob/{commit.id}/{file}?plain=1#L12)", f"{web}/-/blob/{commit.id}/{file}?plain=1#L12",
        f"{web}/compare/{commit.parent[:12]}...{commit.id[:12]}", f"[[{file}]]", f"[[{file}#{symbol}]]", f"`{file}`",
        f"`{file}:12`", f"[{symbol}]({file}#L12)", f"`{symbol}`", f"{symbol}()",
        SYMBOL + hash_parts(["python", symbol]), f"`{SYMBOL}{hash_parts(['go', symbol])}`", f"[[{TEST}{hash_parts(['go', file])}]]",
        f"[[decisions/{name}]]", f"[[{name}|the note]]", f"[the note](../decisions/{name}.md)", hash_parts([commit.message]),
    ]  # fmt: skip


def _slug(commit: Commit) -> str:
    words = re.findall(r"[a-z0-9]+", commit.message.lower())[:6]
    return "-".join([*words, hash_parts([commit.message])[:4]])


def notes(commit: Commit, web: str) -> Iterator[tuple[str, str]]:
    """Yield names and texts of notes about a commit: one about it, one of sentences about access."""
    files = "".join(f"- [[{file}]]\n" for file in commit.files)
    cited = citations(commit, web)
    head = (
        f"---\nid: {hash_parts([commit.id])}\ntype: change\nverified_commit: {commit.id}\n"
        f"file_refs: {[*commit.files]}\nsymbol_refs: [{SYMBOL}{hash_parts(['go', commit.symbols[0]])}]\n---\n"
    )
    name = f"changes/{_slug(commit)}"
    yield name, f"{head}{commit.message}\n\n{files}\n" + "\n".join(f"- {one}" for one in cited)
    said = [
        sentence.format(*random.Random(f"{commit.id}{sentence}").sample(cited, 2))
        for sentence in SENTENCES
    ]
    yield name, f"{head}# {commit.message.partition(chr(10))[0]}\n\n" + "\n\n".join(said)


def refused(name: str, text: str) -> str:
    """Return why a note is refused; empty if it is not."""
    try:
        secrets.check(text, [], path=name)
    except SecretFound as error:
        return error.message
    return ""


def measure(repository: Path) -> tuple[list[int], list[str], list[str]]:
    """Return the refusals of both notes of each commit, why, and the texts that are not refused."""
    counts, why, pages = [0, 0], list[str](), list[str]()
    for commit in commits(repository):
        for kind, (name, text) in enumerate(notes(commit, WEB)):
            error = refused(name, text)
            counts[kind] += bool(error)
            if not error:
                pages.append(text)
                continue
            why.append(f"  {name}: {error}")
            why += [f"    {text[max(0, one.start - 60) : one.end]!r}" for one in secrets.find(text)]
    return counts, why, pages


def main(repositories: list[Path]) -> None:
    """Print the refusals and the planted secrets found, of each repository."""
    for repository in repositories:
        counts, why, pages = measure(repository)
        hidden = list(planted.plant(random.Random(SEED), pages, PLANTED))
        missed = [one for one in hidden if not planted.found(one)]
        print(
            f"{repository}: of {COMMITS} notes each, refused {counts[0]} about commits and {counts[1]} with sentences"
            f" about access; found {len(hidden) - len(missed)} of {len(hidden)} planted secrets"
        )
        for line in [*why, *(f"  missed: {one.kind}, {one.where}" for one in missed)]:
            print(line)


if __name__ == "__main__":
    main([Path(one) for one in sys.argv[1:]])
