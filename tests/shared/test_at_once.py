"""While others publish, each answer has the notes of one commit of a repository."""

import threading
import time
from pathlib import Path

import pytest

from memory_bank.bank.bank import open_bank
from memory_bank.base.errors import Conflict
from memory_bank.memory.retrieval.answers import Answer
from memory_bank.memory.retrieval.recall import recall
from tests.shared.conftest import opened, publish

_NOTES = 8


@pytest.mark.slow
def test_askers_see_whole_commits_while_publishers_switch(database: str, tmp_path: Path) -> None:
    run = Run(database, tmp_path, seconds=3)
    run.all(publishers=3, askers=3)
    assert run.wrong == []
    assert len(run.asked) == 3
    assert min(run.asked) > 1
    assert run.published.keys() == {"git.example.org/acme/r0", "git.example.org/acme/r1"}


class Run:
    """Publishers and askers at once, and what was wrong."""

    def __init__(self, url: str, folder: Path, seconds: float) -> None:
        self.wrong: list[str] = []
        self.asked: list[int] = []
        self.published: dict[str, list[str]] = {}
        self._url, self._folder = url, folder
        self._end = time.monotonic() + seconds

    def all(self, publishers: int, askers: int) -> None:
        threads = [threading.Thread(target=self._publish, args=[n]) for n in range(publishers)]
        threads += [threading.Thread(target=self._ask, args=[n]) for n in range(askers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with opened(self._url) as engine:
            heads = {head.repo: head.commit for head in engine.heads()}
        for repo, commits in self.published.items():
            if heads.get(repo) not in commits[-2:]:  # of two publishers, either may be the last
                self.wrong.append(f"{repo}: published {commits[-2:]}, found {heads.get(repo)}")

    def _publish(self, number: int) -> None:
        """Publish a repository again and again; two publishers share it, one of them repeats."""
        repo, turn = f"git.example.org/acme/r{number // 2}", 0
        with opened(self._url) as engine:
            while time.monotonic() < self._end or repo not in self.published:
                turn += 1
                commit = f"c{number}x{turn}"
                texts = {f"{n}.md": f"walrus {commit} number {n}" for n in range(_NOTES)}
                try:
                    publish(engine, repo, commit, texts)
                except Conflict:
                    continue
                self.published.setdefault(repo, []).append(commit)

    def _ask(self, number: int) -> None:
        own = self._folder / f"asker{number}"
        own.mkdir()
        count = 0
        settings = {"shared.url": self._url, "memory.embedder": "none"}
        with open_bank(own, settings=settings) as bank:
            while time.monotonic() < self._end or count < 2:
                self._check(recall(bank, "walrus", 100, "lexical", scope="shared"))
                count += 1
        self.asked.append(count)

    def _check(self, found: Answer) -> None:
        if found.fallback_reason:
            self.wrong.append(f"{found.fallback_reason}: {found.notices}")
        seen: dict[str, list[str]] = {}
        for note in found.notes:
            assert note.origin is not None
            texts = seen.setdefault(note.origin.repository, [])
            texts += [note.content.split()[1], note.origin.commit]
        for repo, commits in seen.items():
            if len(commits) != 2 * _NOTES or len(set(commits)) != 1:
                self.wrong.append(f"{repo}: {commits}")
