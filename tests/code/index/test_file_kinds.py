"""Files that are seldom meant rank lower unless they are asked for."""

import pytest

from memory_bank.code.index.work_tree import likelihood_factor


@pytest.mark.parametrize(
    ("path", "lower", "asks"),
    [
        ("CHANGES.rst", "where is a session signed", "which version changed the changelog"),
        ("docs/history.md", "where is a session signed", "history of releases"),
        ("poetry.lock", "where is a session signed", "what is in the lock file"),
        ("package-lock.json", "what version of the parser", "lock file of npm"),
        (".github/workflows/ci.yml", "where is a session signed", "Bump the actions in CI"),
        ("pyproject.toml", "where is a session signed", "which dependencies are there"),
        ("docs/hooks.md", "where is a hook installed", "how do I install the hooks for Codex?"),
        ("docs/hooks.md", "what installs hooks", "install the hooks for Codex"),
        ("guide/setup.rst", "how does it find the app", "How to find the app"),
        ("README.md", "how could the app be found", "how can we start the app"),
        ("examples/chat.rs", "how are sockets closed", "an example of sockets"),
    ],
)
def test_a_kind_ranks_lower_unless_it_is_asked_for(path: str, lower: str, asks: str) -> None:
    assert likelihood_factor(path, lower) < likelihood_factor(path, asks) == 1


@pytest.mark.parametrize("path", ["src/flask/sessions.py", "tree.go", "src/a.rs"])
def test_code_and_documentation_do_not(path: str) -> None:
    assert likelihood_factor(path, "where is a session signed") == 1
