"""The name of a bank in the shared index: its repository, and its folder there."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from memory_bank.bank import Bank
from memory_bank.errors import BadInput
from memory_bank.repo import git
from memory_bank.repo.remotes import remote_url
from memory_bank.shared.web_addresses import problem_of, remote_of


class Identity(NamedTuple):
    """Where a bank belongs."""

    repo: str
    """`host/owner/name`, or a name that was given."""
    bank: str
    """The bank's folder in the repository; empty for the repository itself."""
    project: str
    """The project's folder in the repository, with a slash; empty for the repository itself."""
    web: str
    """Template of the web address of a line; empty if there is none."""
    tree: Path


def identity_of(bank: Bank, repo: str = "") -> Identity | None:
    """Return a bank's identity; None if it has none, as without a remote.

    `repo` is a name that was given; else the setting `shared.repository` counts, then the remote.
    Raises BadInput for what can't be a name.
    """
    place = bank.layout.origin
    tree = git.worktree(place.root)
    if tree is None:
        return None
    remote = remote_of(remote_url(tree))
    name = repo or bank.settings.shared.repository
    if not name and remote is None:
        return None
    if name and (problem := problem_of(name)):
        raise BadInput(f"{name!r} can't name a repository: it {problem}", "write host/owner/name")
    return Identity(
        repo=name or (remote.name if remote else ""),
        bank=git.below_tree(tree, place.root).rstrip("/"),
        project=git.below_tree(tree, place.project) if place.project.is_relative_to(tree) else "",
        web=remote.web if remote else "",
        tree=tree,
    )
