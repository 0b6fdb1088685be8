"""The extension for VS Code: packaged as the page says, and run with a stand-in for VS Code."""

import json
import os
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from tests.frontends.cli.conftest import command, environment
from tests.frontends.lsp.client import position, uri
from tests.frontends.lsp.conftest import NOTES, make_project

EXTENSION = Path(__file__).parents[3] / "docs" / "editors" / "vscode"
STUB = Path(__file__).with_name("vscode_stub.js")

pytestmark = pytest.mark.skipif(shutil.which("npm") is None, reason="Node.js is not installed")


def test_the_settings_and_commands_of_the_extension_are_those_of_its_code() -> None:
    declared = json.loads((EXTENSION / "package.json").read_text())["contributes"]
    code = (EXTENSION / "extension.js").read_text()
    settings = declared["configuration"]["properties"]
    assert settings["memoryBank.command"]["default"] == ["memory-bank", "serve", "lsp"]
    assert settings["memoryBank.command"]["scope"] == "machine"  # no repository can set it
    for one in declared["commands"]:
        assert f"registerCommand('{one['command']}'" in code
    node = subprocess.run(["node", "--check", EXTENSION / "extension.js"], check=False)
    assert node.returncode == 0


@pytest.mark.network
def test_the_package_starts_the_server_and_answers(tmp_path: Path) -> None:
    build = tmp_path / "vscode"
    ignored = shutil.ignore_patterns("node_modules", "*.vsix")
    shutil.copytree(EXTENSION, build, ignore=ignored)
    for words in (["npm", "install", "--no-audit", "--no-fund"], ["npm", "run", "package"]):
        subprocess.run(words, cwd=build, check=True, capture_output=True, timeout=300)
    (package,) = build.glob("*.vsix")
    with zipfile.ZipFile(package) as packed:
        packed.extractall(tmp_path / "installed")
    root = make_project(tmp_path / "project")
    note = root / ".memories/decisions/tantivy.md"
    at = position(NOTES[".memories/decisions/tantivy.md"], "[[facts/bm25#Ranks", 4)
    done = subprocess.run(
        [
            "node", STUB, tmp_path / "installed" / "extension", root, note,
            str(at.line), str(at.character), *command(["serve", "lsp"]),
        ],
        cwd=root, env={**environment(), **os.environ}, capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["definition"] == [[uri(root / ".memories/facts/bm25.md"), 4]]
    assert found["hover"] == "**BM25**  \n`facts/bm25.md`"
    assert found["commands"] == ["memoryBank.restart"]
