// Starts `memory-bank serve lsp`, and shows the references of a code lens.
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

// The server's places are plain JSON; VS Code's own command wants its classes.
function showReferences(uri, position, locations) {
  const convert = client.protocol2CodeConverter;
  return vscode.commands.executeCommand(
    'editor.action.showReferences',
    convert.asUri(uri),
    convert.asPosition(position),
    locations.map(convert.asLocation),
  );
}

function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand('memoryBank.restart', restart),
    vscode.commands.registerCommand('memoryBank.showReferences', showReferences),
  );
  return start();
}

function deactivate() {
  const ended = client;
  client = undefined;
  return ended && ended.stop();
}

module.exports = { activate, deactivate };
