// Starts `memory-bank serve lsp`.
'use strict';

const vscode = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

let client;

function start() {
  const [command, ...args] = vscode.workspace.getConfiguration('memoryBank').get('command');
  client = new LanguageClient(
    'memoryBank',
    'memory_bank',
    { command, args },
    { documentSelector: [{ scheme: 'file' }] },
  );
  return client.start();
}

async function restart() {
  await deactivate();
  await start();
}

function activate(context) {
  context.subscriptions.push(vscode.commands.registerCommand('memoryBank.restart', restart));
  return start();
}

function deactivate() {
  const ended = client;
  client = undefined;
  return ended && ended.stop();
}

module.exports = { activate, deactivate };
