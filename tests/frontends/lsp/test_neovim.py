"""Headless Neovim with its own client, set up by hand for versions before 0.8."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.frontends.cli.conftest import command, environment
from tests.frontends.lsp.client import position
from tests.frontends.lsp.conftest import NOTES, make_project

NEOVIM = shutil.which("nvim")
_SCRIPT = """
local command, note, line, column = unpack(vim.json.decode([==[%s]==]))
vim.cmd('edit ' .. note)
local client = vim.lsp.start_client({ cmd = command, root_dir = vim.fn.getcwd() })
vim.lsp.buf_attach_client(0, client)
vim.wait(20000, function() return vim.lsp.get_client_by_id(client).initialized end, 50)
local function ask(method, more)
  local params = { textDocument = { uri = vim.uri_from_bufnr(0) },
    position = { line = line, character = column } }
  for key, value in pairs(more or {}) do params[key] = value end
  local answers = vim.lsp.buf_request_sync(0, method, params, 20000) or {}
  return (answers[client] or {}).result
end
vim.wait(20000, function() return #(ask('textDocument/definition') or {}) > 0 end, 200)
local goal = ask('textDocument/definition')[1]
local found = { goal = vim.fn.fnamemodify(vim.uri_to_fname(goal.uri), ':t'), line = goal.range.start.line }
found.hover = ask('textDocument/hover').contents.value
vim.api.nvim_buf_set_lines(0, -1, -1, true, { '\\240\\159\\152\\128 [[facts/none' })
local last = vim.api.nvim_buf_line_count(0) - 1
local list = ask('textDocument/completion', { position = { line = last, character = 10 } })
found.completion = list.items[1].textEdit.newText
local edit = ask('textDocument/rename', { newName = 'facts/okapi' })
vim.lsp.util.apply_workspace_edit(edit, 'utf-16')
found.text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '\\n')
found.moved = vim.fn.filereadable('.memories/facts/okapi.md')
io.stdout:write(vim.json.encode(found))
vim.cmd('qall!')
"""


@pytest.mark.skipif(NEOVIM is None, reason="Neovim is not installed: `apt-get install neovim`")
def test_neovim_follows_links_completes_and_renames(tmp_path: Path) -> None:
    root = make_project(tmp_path / "project")
    note = ".memories/decisions/tantivy.md"
    at = position(NOTES[note], "[[facts/bm25#Ranks", 4)
    given = json.dumps([command(["serve", "lsp"]), note, at.line, at.character])
    script = tmp_path / "script.lua"
    script.write_text(_SCRIPT % given)
    done = subprocess.run(
        [str(NEOVIM), "--headless", "-u", "NONE", "-c", f"luafile {script}", "-c", "cquit 1"],
        cwd=root, env={**environment(), "XDG_CONFIG_HOME": str(tmp_path)},
        capture_output=True, text=True, timeout=90, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["goal"], found["line"]) == ("bm25.md", 4)
    assert "**BM25**" in found["hover"]
    assert found["completion"] == "facts/bm25]]"
    assert "[[facts/okapi#Ranks]]" in found["text"]
    assert found["moved"] == 1
    assert not (root / ".memories/facts/bm25.md").exists()
