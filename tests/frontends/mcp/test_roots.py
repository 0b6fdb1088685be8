"""Which bank a server serves: that of the client's folders, or of the working directory."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from memory_bank.bank.bank import open_bank
from memory_bank.bank.setup import init
from memory_bank.memory.remember import remember
from tests.frontends.mcp.conftest import Process

ROOTS = {"roots": {"listChanged": True}}
Start = Callable[..., Process]


@pytest.fixture
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder with no bank above it."""
    return tmp_path_factory.mktemp("elsewhere")


@pytest.fixture
def projects(elsewhere: Path) -> Callable[[str], Path]:
    """Make projects whose bank says whose it is."""

    def make(name: str) -> Path:
        folder = elsewhere / name
        (folder / "src").mkdir(parents=True)
        init(folder)
        with open_bank(folder) as bank:
            remember(bank, f"# Owner\n\nThis is the bank of {name}.")
        return folder

    return make


@pytest.fixture
def started(process: Start) -> Start:
    """Start a server in a folder by a client that has other folders."""

    def start(folder: Path, folders: Sequence[Path] | None, *words: str) -> Process:
        server = process(*words, folder=folder)
        server.greet(**({} if folders is None else ROOTS))
        if folders is not None:
            answer_roots(server, *(one.as_uri() for one in folders))
        return server

    return start


def answer_roots(server: Process, *uris: str) -> None:
    while (request := server.receive()).get("method") != "roots/list":
        pass
    roots = [{"uri": uri} for uri in uris]
    answer = {"jsonrpc": "2.0", "id": request["id"], "result": {"roots": roots}}
    server.write(json.dumps(answer).encode() + b"\n")


def owner(server: Process) -> str:
    """Return the project whose bank is served, or the code of the error."""
    result = server.call("read_memory", filename="owner")
    text = str(result["content"][0]["text"])
    if result.get("isError"):
        return str(json.loads(text)["error"]["code"])
    return text.partition("This is the bank of ")[2].partition(".")[0]


def test_without_folders_of_the_client_it_is_the_bank_of_the_working_directory(
    started: Start, projects: Callable[[str], Path]
) -> None:
    a, b = projects("a"), projects("b")
    for folder, name in ((a, "a"), (b, "b"), (b / "src", "b")):
        assert owner(started(folder, None)) == name


def test_the_client_s_folders_are_preferred_to_a_working_directory_outside_of_them(
    started: Start, projects: Callable[[str], Path], elsewhere: Path
) -> None:
    a, b = projects("a"), projects("b")
    bare = elsewhere / "bare"
    bare.mkdir()
    for folder, folders, name in (
        (elsewhere, [b], "b"),  # started in the home folder, as editors do
        (a, [b], "b"),  # started in another project
        (a, [bare], "no_bank"),  # a project without a bank has none, whatever is elsewhere
        (bare, [bare, b], "b"),  # several folders: the first with a bank
        (b / "src", [elsewhere], "b"),  # inside of the client's folder
        (a, [], "a"),
    ):
        assert owner(started(folder, folders)) == name, (folder, folders)


def test_a_bank_that_the_user_named_is_served_whatever_the_client_has(
    process: Start, projects: Callable[[str], Path]
) -> None:
    a, b = projects("a"), projects("b")
    server = process("--bank", str(a), folder=b)
    server.greet(**ROOTS)
    assert owner(server) == "a"


def test_a_folder_that_the_client_adds_later_is_searched_while_there_is_no_bank(
    started: Start, projects: Callable[[str], Path], elsewhere: Path
) -> None:
    bare = elsewhere / "bare"
    bare.mkdir()
    server = started(bare, [bare])
    assert owner(server) == "no_bank"
    server.tell("notifications/roots/list_changed")
    answer_roots(server, bare.as_uri(), projects("b").as_uri())
    assert owner(server) == "b"


def test_code_is_that_of_the_client_s_project(
    started: Start, projects: Callable[[str], Path], project: Path, elsewhere: Path
) -> None:
    a = projects("a")
    server = started(a, [project])
    found = server.call("symbol", name="build_index")
    assert "src/index.py" in str(found), found


@pytest.mark.parametrize(
    "uri",
    [
        pytest.param(
            "https://example.org/x", marks=pytest.mark.slow
        ),  # is no answer: it is waited for
        "file://elsewhere/x",
        "file:///no/such/folder",
        "file:relative",
    ],
)
def test_what_is_no_folder_of_this_machine_is_left_out(
    process: Start, projects: Callable[[str], Path], uri: str
) -> None:
    server = process(folder=projects("a"))
    server.greet(**ROOTS)
    answer_roots(server, uri)
    assert owner(server) == "a"
