"""Every client keeps the contracts of agents/clients/base.py that its module has."""

from pathlib import Path

import pytest

from memory_bank.agents import client_files, clients
from memory_bank.base import plugins
from memory_bank.base.errors import BadInput
from tests.frontends.cli.conftest import Run
from tests.frontends.cli.conftest import mb as mb  # noqa: PLC0414  (a fixture)

KINDS = {"start", "prompt", "tool", "subagent", "compact", "stop", "end"}
PARTS = (clients.HOOKS, clients.SERVERS, clients.TRANSCRIPTS)


@pytest.mark.parametrize("name", plugins.list_plugins(clients.KIND))
def test_it_has_its_name_and_at_least_one_part(name: str) -> None:
    module = clients.load(name)
    assert module
    assert name.replace("_", "-") == module.NAME
    assert any(hasattr(module, part) for part in PARTS)


@pytest.mark.parametrize("client", clients.list_clients(clients.HOOKS))
def test_it_reads_its_events_and_takes_no_others(client: str) -> None:
    module = clients.find(client, clients.HOOKS)
    assert KINDS >= set(module.EVENTS.values()) >= {"start", "prompt", "tool", "end"}
    for event in module.EVENTS:
        for wrong in ({}, {"session_id": 7, "sessionId": [], "conversation_id": None}):
            assert module.read(event, wrong) is None
    one = client_files.hook_client(client)
    assert one.name == client
    assert one.events == tuple(module.EVENTS)
    assert set(one.short) <= set(one.events)


@pytest.mark.parametrize("client", clients.list_clients(clients.SERVERS))
def test_its_servers_are_set_up_and_removed(client: str, mb: Run, project: Path) -> None:
    one = client_files.mcp_client(client)
    assert one.name == client
    assert one.docs.startswith("https://")
    scope = "project" if one.project_file else "user"
    words = (client, "--only", "server", "--scope", scope, "--yes")
    file = project / one.project_file if one.project_file else client_files.user_file(one)
    assert mb("agents", "install", *words, "--bank", str(project / ".memories")).code == 0
    assert "serve" in file.read_text()
    assert mb("agents", "remove", *words).code == 0
    assert not file.exists()


@pytest.mark.parametrize("client", clients.list_clients(clients.TRANSCRIPTS))
def test_it_finds_no_transcripts_where_there_are_none(client: str, tmp_path: Path) -> None:
    places = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "HOME", "OWL_HOME")
    found = clients.find(client, clients.TRANSCRIPTS).files(dict.fromkeys(places, str(tmp_path)))
    assert list(found) == []


def test_a_client_without_a_part_is_bad_input_that_names_those_with_it() -> None:
    for name, part in (("zed", clients.HOOKS), ("emacs", clients.SERVERS), ("", clients.HOOKS)):
        with pytest.raises(BadInput) as caught:
            clients.find(name, part)
        assert "claude-code" in caught.value.hint
