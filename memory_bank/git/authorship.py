"""Who wrote lines and commits: blame, the log, agents by their names, and pull requests.

A person may be called Claude, so a name that people have says nothing by itself. Neither names nor
addresses are proved, but to be taken for an agent lowers trust.

git does not record pull requests. What counts is a merge commit on the first-parent line of the
default branch with the subject of a forge, or a commit with one parent on that line whose subject
ends with `(#N)`, as a squash has it. Who may write to that branch can write such a subject, too.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from memory_bank.base import lazy_pattern
from memory_bank.git import repository
from memory_bank.git.commits import Commit
from memory_bank.git.process import GitFailed, run

SECONDS = 5.0
"""Time limit of one file."""

_LINE = lazy_pattern(r"^([0-9a-f]{40}(?:[0-9a-f]{24})?) \d+ (\d+)(?: \d+)?$")


def blame_lines(tree: Path, commit: str, path: str, seconds: float = SECONDS) -> list[str] | None:
    """Return the commit of each line of a file as of a commit; None if git can't say in time.

    `path` is below the work tree. No file of the work tree is read, and no filter or converter of
    text is started. Commits that a setting says to ignore are not ignored.
    """
    text = run(
        tree, "-c", "blame.ignoreRevsFile=", "-c", "blame.markUnblamableLines=false",
        "blame", "--no-textconv", "--porcelain", commit, "--", path, seconds=seconds,
    )  # fmt: skip
    if text is None:
        return None
    heads = (_LINE.match(line) for line in text.split("\n") if not line.startswith("\t"))
    return [head[1] for head in heads if head]


def list_line_commits(tree: Path, commit: str, path: str, line: int, most: int) -> list[str]:
    """Return the commits that changed a line of a file, as of a commit, the newest first.

    There are at most `most`; none if git can't say in time. `git log -L` maps the line back through
    each change and rename. No driver of diffs is started.
    """
    text = run(
        tree, "log", "--no-ext-diff", "--no-textconv", "--no-patch", "--format=%H", f"-{most}",
        f"-L{line},{line}:{path}", commit, "--", seconds=SECONDS,
    )  # fmt: skip
    return (text or "").split()


_GITHUB = "users.noreply.github.com"

_AGENTS = (
    ("Claude", "claude", "noreply claude claude-code", "anthropic.com"),
    ("Copilot", "copilot copilot-swe-agent github-copilot", "copilot github-copilot", "github.com"),
    ("Cursor", "cursor cursoragent", "cursoragent agent noreply", "cursor.com cursor.sh"),
    ("Codex", "codex chatgpt-codex-connector", "codex noreply", "openai.com"),
    (
        "Gemini",
        "gemini-cli gemini-code-assist",
        "gemini gemini-cli gemini-code-assist",
        "google.com",
    ),
    ("Jules", "google-labs-jules", "jules", "google.com"),
    ("Devin", "devin devin-ai-integration", "devin", "devin.ai cognition.ai"),
    ("aider", "aider", "noreply aider", "aider.chat"),
    ("OpenHands", "openhands openhands-agent", "openhands", "all-hands.dev"),
    ("Amp", "amp-agent", "amp", "ampcode.com"),
    ("Windsurf", "windsurf", "cascade noreply", "windsurf.com codeium.com"),
    ("Amazon Q", "amazon-q-developer", "amazonq", "amazon.com"),
    ("opencode", "opencode-agent", "noreply", "opencode.ai"),
    ("Goose", "goose-agent", "goose", "block.xyz"),
)
"""Agents, their accounts at GitHub, and their other addresses: names before the @, and hosts."""

_BOT = lazy_pattern(
    r"(?>.*?\[bot\]@users\.noreply\.).+"  # GitHub, of a company too
    r"|(project|group|service_account_(project|group))_\d+_(bot_)?\w+@noreply\..+"  # GitLab
    r"|support@dependabot\.com|.+@renovateapp\.com"
)

_AGENT_NAMES = tuple(
    (agent, lazy_pattern(names))
    for agent, names in (
        ("Claude", r"claude (code|agent)\b.*|claude[ -](opus|sonnet|haiku|v?\d).*"),
        ("Copilot", r"(github |microsoft )?copilot( (agent|coding agent|cli|chat|swe agent))?"),
        ("Cursor", r"cursor( (agent|ai|bot|composer))|cursoragent"),
        ("Codex", r"(openai |chatgpt )?codex( (cli|agent|bot))?"),
        ("Gemini", r"(google )?gemini( (cli|code assist|agent|\d).*)|google gemini"),
        ("Devin", r"devin ai( integration)?"),
        ("aider", r"aider( \(.*\))?|.* \(aider\)"),
    )
)
"""Patterns of names that no person has; `Ann (aider)` is how aider signs for Ann."""


@lru_cache(maxsize=1024)
def name_agent(mail: str, name: str = "") -> str:
    """Return the agent that a mail address, or else a `name`, belongs to; empty if none.

    A bot of a forge (`…[bot]@users.noreply.github.com`) is an agent with its own name.
    """
    address = mail.strip().casefold()
    user, _, host = address.partition("@")
    number, plus, account = user.partition("+")
    account = (account if plus and number.isdecimal() else user).removesuffix("[bot]")
    for agent, accounts, users, hosts in _AGENTS:
        if host == _GITHUB and account in accounts.split():
            return agent
        if host in hosts.split() and user in users.split():
            return agent
    if _BOT.fullmatch(address):
        return name or "a bot"
    folded_name = " ".join(name.casefold().removesuffix("[bot]").split())
    return next(
        (
            agent
            for agent, name_pattern in _AGENT_NAMES
            if agent.casefold() in folded_name and name_pattern.fullmatch(folded_name)
        ),
        "",
    )


_REMOTE, _LOCAL = "refs/remotes/origin/", "refs/heads/"

_DEFAULT_BRANCHES = ("main", "master", "trunk", "develop")
"""Names of a default branch, if neither the remote nor `init.defaultBranch` says which it is."""

# Of a pull request's number, so that it fits SQLite.
_MOST_DIGITS = 9

_MERGES = (
    lazy_pattern(r"Merge pull request #?(\d+) (?:from|in) "),  # GitHub, Bitbucket Server, Azure
    lazy_pattern(r"Merge pull request '.*' \([#!](\d+)\) from "),  # Gitea, Forgejo
    lazy_pattern(r"Pull request #(\d+): "),  # Bitbucket Server
    lazy_pattern(r"Merged in .* \(pull request #(\d+)\)$"),  # Bitbucket
    lazy_pattern(r"Merged PR (\d+): "),  # Azure DevOps
    lazy_pattern(r"Auto merge of #(\d+) - "),  # homu, bors
)

_SQUASHES = (
    lazy_pattern(r"\(#(\d+)\)$"),  # GitHub, Gitea
    lazy_pattern(r"\(pull request #(\d+)\)$"),
    lazy_pattern(r"\(!(\d+)\)$"),  # GitLab, by a template
    lazy_pattern(r"^Merged PR (\d+): "),
)
"""Subjects of squashes, and of merges whose subject is the title of the pull request."""

_IN_BODY = lazy_pattern(
    r"^See merge request (?:\S*!|https://\S+/merge_requests/)(\d+)\s*$", re.MULTILINE
)
"""Line in the message of GitLab's merges."""


def find_default_branch(tree: Path) -> str:
    """Return the commit at the tip of the default branch; empty if there is none."""
    return find_default_ref(tree)[1]


def find_default_ref(tree: Path) -> tuple[str, str]:
    """Return the full name of the default branch and the commit at its tip; both empty if none is.

    The branch is that of the remote `origin`, since only what was pushed or fetched is there; in a
    repository without one, a local branch: `init.defaultBranch`, one of a usual name, or the only
    one.
    """
    output = run(
        tree, "for-each-ref", "--format=%(refname) %(objectname) %(symref)", _REMOTE, _LOCAL
    )
    refs: dict[str, str] = {}
    head = ""
    for line in (output or "").splitlines():
        ref, commit, *symref = line.split(" ")
        refs[ref] = commit
        head = symref[0] if ref == f"{_REMOTE}HEAD" and symref and symref[0] else head
    default = _choose_default(tree, refs, head)
    return default, refs.get(default, "")


def _choose_default(tree: Path, refs: Collection[str], head: str) -> str:
    """Return which of the branches is the default one; empty if none is."""
    remote = any(ref.startswith(_REMOTE) for ref in refs)
    prefix = _REMOTE if remote else _LOCAL
    if head in refs:
        return head
    if not remote and len(refs) == 1:
        return next(iter(refs))
    configured = (run(tree, "config", "--get", "init.defaultBranch") or "").strip()
    candidates = [prefix + branch for branch in (configured, *_DEFAULT_BRANCHES)]
    return next((ref for ref in candidates if ref in refs), "")


def find_request_number(subject: str, body: str, *, merge: bool) -> int:
    """Return the number of the pull request that a commit merged or squashed; 0 for none."""
    if merge:
        for pattern in _MERGES:
            if match := pattern.match(subject):
                return _parse_number(match[1])
        if match := _IN_BODY.search(body):
            return _parse_number(match[1])
    for pattern in _SQUASHES:
        if match := pattern.search(subject):
            return _parse_number(match[1])
    return 0


def _parse_number(digits: str) -> int:
    return int(digits) if len(digits) <= _MOST_DIGITS else 0


_MOST_WORD = 50_000_000
"""Bytes of a message or a path above which the history is not read."""

_UNIT, _RECORD = "\x1f", b"\x1e"

_FORMAT = (
    "--format=%x1e%H%x00%P%x00%at%x00%ct%x00%an%x00%ae%x00%s%x00"
    "%(trailers:key=Reviewed-by,valueonly,unfold,separator=%x1f)%x00%b%x00"
)

LOG = (
    "-c", "trailer.separators=:", "log", *repository.ORDINARY, "--encoding=UTF-8", _FORMAT, "-z",
    "--raw", "--no-abbrev",
)  # fmt: skip
"""The command whose output `yield_commits` reads."""

_FIELDS = 9
"""Number of fields of a commit in git's output, before its files."""

_LONGEST = 300
"""Characters of a name, an address or a subject that are kept."""

# Characters of a message that are read: longer ones are generated.
_LONGEST_BODY = 20_000

_MOST_TRAILERS = 50

LAST_SECOND = 253_402_300_799
"""Last second of the year 9999."""

_CO_AUTHOR = lazy_pattern(r"^[ \t]*co-authored-by[ \t]*:(.+)$", re.IGNORECASE | re.MULTILINE)

_FORMAL = lazy_pattern(
    r"^[ \t]*([\w-]+-by|change-id|git-svn-id)[ \t]*:.*$", re.IGNORECASE | re.MULTILINE
)
"""Lines of a message that say nothing of the change."""


RawChange = tuple[str, bytes | None, bytes, bytes, bytes]
"""Status, old path if it is another, path, blobs before and after."""


CommitRecord = tuple[Commit, int, Sequence[RawChange]]
"""A commit as git prints it, whose texts may have secrets, the number of words in its body but for
lines such as `Signed-off-by`, and its changes."""


def _split_words(output: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the words of git's output, which NULs separate."""
    rest = b""
    for part in output:
        *whole, rest = (rest + part).split(b"\0")
        yield from whole
        if len(rest) > _MOST_WORD:
            raise GitFailed
    if rest:
        yield rest


def yield_commits(output: Iterable[bytes]) -> Iterator[CommitRecord]:
    """Yield the commits of a log; raise GitFailed after the last one that is whole.

    A record starts with the separator of records where a status could stand: no path or message
    can pass for one, since they contain no NUL, and the count of fields is fixed.
    """
    fields: list[bytes] = []
    changes: list[RawChange] = []
    words = _split_words(output)
    for word in words:
        start = word.lstrip(b"\n")
        if start.startswith(_RECORD):
            if fields:
                yield _parse_record(fields, changes)
            fields = [start[1:], *(next(words, b"") for _ in range(_FIELDS - 1))]
            changes = []
        elif start.startswith(b":"):
            parents = len(start) - len(start.lstrip(b":"))
            columns = start[parents:].decode("ascii", "replace").split()
            status = columns[-1]
            old = new = next(words, b"")
            if status[0] in "RC" and status[1:].isdigit():
                new, status = next(words, b""), status[0]
            before, after = _parse_blob(columns[parents + 1]), _parse_blob(columns[-2])
            changes.append((status, old if old != new else None, new, before, after))
    if fields:
        yield _parse_record(fields, changes)


def _parse_blob(text: str) -> bytes:
    return bytes.fromhex(text) if text.strip("0") else b""


def _parse_record(fields: Sequence[bytes], changes: Sequence[RawChange]) -> CommitRecord:
    texts = [field.decode("utf-8", "replace") for field in fields]
    commit_id, parents, written, made, author, mail, subject, reviewers, body = texts
    commit = Commit(
        commit_id, tuple(parents.split()), _parse_seconds(written), _parse_seconds(made),
        clean_line(author), clean_line(mail), clean_line(subject), _clean_lines(body),
        _parse_people(_CO_AUTHOR.findall(body)), _parse_people(reviewers.split(_UNIT)),
        find_request_number(subject, body, merge=" " in parents),
    )  # fmt: skip
    words = len(_FORMAL.sub("", body[:_LONGEST_BODY]).split())
    return commit, words, changes


def _parse_people(lines: Iterable[str]) -> tuple[tuple[str, str], ...]:
    people = []
    for line in [line for line in lines if line.strip()][:_MOST_TRAILERS]:
        name, _, rest = line.partition("<")
        people.append((clean_line(name), clean_line(rest.partition(">")[0])))
    return tuple(people)


def clean_line(text: str) -> str:
    """Return a text on one line without control characters."""
    return "".join(char if char.isprintable() else " " for char in text[:_LONGEST]).strip()


def _clean_lines(text: str) -> str:
    """Return a text of lines without other control characters."""
    body = text[:_LONGEST_BODY].replace("\r\n", "\n").replace("\t", " ").strip()
    if body.isprintable():
        return body
    return "".join(char if char.isprintable() or char == "\n" else " " for char in body)


def _parse_seconds(text: str) -> int:
    return min(int(text), LAST_SECOND) if text.isdigit() else 0
