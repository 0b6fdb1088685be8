"""On recorded sessions of five programs, observations name each changed file and failed command."""

import pytest

from memory_bank.base.setting_sections import CompressionSettings
from memory_bank.base.text import estimate
from memory_bank.sessions.compression.modes import compress

from .transcripts_of import PROJECTS, session

# As the sessions went: written down by hand from the plans of their models.
CHANGED = {
    "claude-code": "tests/test_job.py src/shop/job.py README.md src/shop/backoff.py tests/test_backoff.py"
    " src/shop/report.py src/shop/__main__.py",
    "codex": "test/blocks.test.js lib/inline.js lib/blocks.js lib/legacy.js lib/text/inline.js package.json CHANGELOG.md"
    " docs/usage.md docs/modules.md",
    "gemini": "ring.h ring.c ring_test.c NOTES.md .gitignore .clang-format ring_test core",
    "copilot": "tools/sync.py tools/__main__.py unit/test_sync.py config/sync.json config/sync.yaml tools/settings.py"
    " deploy.sh /tmp/in/a",
    "opencode": "src/words.rs src/lib.rs README.md .github/workflows/ci.yml Cargo.toml",
}  # fmt: skip
FAILED = {
    "claude-code": ["python -m pytest -q 2>&1 | tail -30", "cat setup.cfg", "PYTHONPATH=src python -m shop"],
    "codex": ["npm test", "rg -n legacy . || grep -rn legacy lib test docs", "npm run lint", "node bin/minidown.js README.md"],
    "gemini": ["make test", "make clean && make CFLAGS='-DRING_SIZE=8' test", "clang-format --version"],
    "copilot": ["python3 -m unittest 2>&1 | tail -20", "mkdir -p /tmp/in /tmp/out && touch /tmp/in/a && python3 -m tools /tmp/in /tmp/out --dry-run", "sh -n deploy.sh && ./deploy.sh"],
    "opencode": ["cargo test --offline 2>&1 | tail -25", "cargo test --offline", "cargo run --offline"],
}  # fmt: skip
TYPES = {
    "claude-code": {"bugfix", "decision", "refactor", "feature"},
    "codex": {"feature", "change", "decision"},
    "gemini": {"change", "discovery"},
    "copilot": {"bugfix", "feature", "decision"},
    "opencode": {"bugfix", "feature", "refactor"},
}


@pytest.mark.parametrize("client", PROJECTS)
def test_a_recorded_session_is_told_in_few_words(client: str) -> None:
    events, prompts, root = session(client)
    made = compress(events, prompts=prompts, settings=CompressionSettings(), project_root=root)
    drafts, _ = made
    assert 28 <= len(events) <= 100
    assert {path for one in drafts for path in one.files_modified} == {*CHANGED[client].split()}
    for command in FAILED[client]:
        assert any(f"`{command}` fail" in fact for one in drafts for fact in one.facts), command
    for one in drafts:
        words = one.title.split()
        assert len(one.title) < 100
        assert len(words) > 2 or "/" in one.title
        assert one.title not in {
            f"{event.tool_name} {path}" for event in events for path in one.files_modified
        }
    assert TYPES[client] <= {one.obs_type for one in drafts}
    before = sum(estimate(event.tool_input) + estimate(event.tool_output) for event in events)
    after = sum(
        estimate(" ".join((one.title, one.subtitle, one.narrative, *one.facts))) for one in drafts
    )
    assert sum(one.discovery_tokens for one in drafts) <= before
    assert after < before / 3
    assert (
        compress(events, prompts=prompts, settings=CompressionSettings(), project_root=root) == made
    )
