"""The server under two programs that others wrote to judge servers; both come from npm."""

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import memory_bank
from memory_bank.frontends import declared
from tests.frontends.mcp.answers import unquoted
from tests.frontends.mcp.calls import CALLS

pytestmark = pytest.mark.network

NODE = "22.19"
PACKAGES = ("@modelcontextprotocol/inspector@2", "@modelcontextprotocol/conformance@0.1")
ROOT = Path(memory_bank.__file__).parents[1]
BASELINE = Path(__file__).with_name("conformance.yml")
SERVE = [
    sys.executable,
    "-m",
    "memory_bank",
    "serve",
    "mcp",
    "--toolsets",
    ",".join(declared.list_toolsets()),
]

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Install both programs, and a newer Node where there is none; run one by its name."""
    program = shutil.which("node")
    if not program or not shutil.which("npm"):
        pytest.skip("there is no Node with npm here")
    folder = tmp_path_factory.mktemp("npm")
    (folder / "package.json").write_text('{"private": true}')
    found = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    packages = list(PACKAGES)
    if _version(found.stdout) < _version(NODE):
        machine = {"x86_64": "x64", "AMD64": "x64", "aarch64": "arm64"}
        system = {"linux": "linux", "darwin": "darwin", "win32": "win"}[sys.platform]
        package = f"node-{system}-{machine.get(platform.machine(), platform.machine())}"
        packages.append(f"{package}@22")
        program = str(folder / "node_modules" / package / "bin" / "node")
    install = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", *packages]
    subprocess.run(install, cwd=folder, check=True, capture_output=True, timeout=500)

    def run(
        name: str, *args: str, cwd: Path, timeout: int = 300
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [program, str((folder / "node_modules" / ".bin" / name).resolve()), *args],
            cwd=cwd,
            capture_output=True,
            text=True,
            check=False,
            timeout=timeout,
            env={
                **os.environ,
                "HOME": str(cwd.parent),  # sessions of equal projects are shared
                "PATH": f"{Path(program).parent}{os.pathsep}{os.environ['PATH']}",
                "PYTHONPATH": str(ROOT),
            },
        )

    return run


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"[0-9]+", text)[:2])


@pytest.mark.parametrize("structured", [True, False])
@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_lists_and_calls_every_tool(
    node: Run, project: Path, era: str, *, structured: bool
) -> None:
    serve = [*SERVE, "--structured"] if structured else SERVE

    def ask(method: str, *args: str) -> dict[str, Any]:
        options = ("--protocol-era", era, "--connect-timeout", "60000", "--method", method)
        done = node("mcp-inspector", "--cli", *serve, *options, *args, cwd=project)
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    listed = ask("tools/list", "--strict")["tools"]
    assert {tool["name"] for tool in listed} == {call.tool for call in CALLS}
    for call in CALLS:
        options = ("--tool-name", call.tool, "--tool-args-json", json.dumps(call.arguments))
        answer = ask("tools/call", *options)
        assert not answer.get("isError"), (call.tool, answer)
        assert answer["content"][0]["text"], call.tool
        assert unquoted(answer["structuredContent"])[call.field] is not None, call.tool
    assert len(ask("resources/list")["resources"]) > 2
    assert ask("resources/read", "--uri", "memory://tags")["contents"]
    prompts = ask("prompts/list")["prompts"]
    assert {prompt["name"] for prompt in prompts} == {"recall-before-work", "save-what-we-learned"}


# What neither the bank's server nor the example server offers, or says that it does.
NOT_OFFERED = [
    *("tools-call-sampling", "tools-call-elicitation", "elicitation-sep1034-defaults"),
    *("elicitation-sep1330-enums", "completion-complete", "logging-set-level"),
    *("tools-call-with-logging", "server-sse-polling", "json-schema-2020-12"),
]


def conform(node: Run, project: Path, server: list[str], baseline: Path) -> set[str]:
    """Run the suite on a server over HTTP and return what passed."""
    with subprocess.Popen(
        [sys.executable, "-m", *server],
        cwd=project,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as process:
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["url"]
        suite = ("server", "--url", url, "--suite", "all", "--expected-failures", str(baseline))
        done = node("conformance", *suite, cwd=project)
        process.terminate()
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    return set(re.findall(r"^✓ ([\w-]+): [1-9]", done.stdout, re.MULTILINE))


def test_the_conformance_suite_passes_where_it_applies(node: Run, project: Path) -> None:
    server = [*SERVE[2:], "--http", "127.0.0.1:0", "--json"]
    assert conform(node, project, server, BASELINE) >= {
        *("server-initialize", "ping", "tools-list", "tools-call-error", "resources-list"),
        *("resources-subscribe", "resources-unsubscribe", "prompts-list"),
        *("server-sse-multiple-streams", "dns-rebinding-protection"),
    }


def test_the_suite_s_own_tools_resources_and_prompts_pass_the_door(
    node: Run, project: Path, tmp_path: Path
) -> None:
    expected = [*NOT_OFFERED, "resources-subscribe", "resources-unsubscribe"]
    (tmp_path / "baseline.yml").write_text(f"server: {json.dumps(expected)}")
    server = ["tests.frontends.mcp.example_server"]
    passed = conform(node, project, server, tmp_path / "baseline.yml")
    unlike = set(re.findall(r"^  - ([\w-]+)", BASELINE.read_text(), re.MULTILINE))
    assert passed >= unlike - set(NOT_OFFERED)
