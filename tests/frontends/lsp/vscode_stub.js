// A stand-in for VS Code: enough of its API for vscode-languageclient to start a server and to
// hand over what it offers. Runs the extension of a folder in a workspace, asks it for a
// definition and a hover, and prints both as JSON.
'use strict';

const Module = require('module');
const path = require('path');
const url = require('url');

const [folder, workspace, file, line, character, ...command] = process.argv.slice(2);
const providers = {};
const commands = {};
const disposable = { dispose() {} };

class Position {
  constructor(line, character) { this.line = line; this.character = character; }
}
class Range {
  constructor(a, b, c, d) {
    [this.start, this.end] = d === undefined ? [a, b] : [new Position(a, b), new Position(c, d)];
  }
}
class Location { constructor(uri, range) { this.uri = uri; this.range = range; } }
class MarkdownString {
  constructor(value) { this.value = value; }
  appendCodeblock(text, language) { this.value += '```' + language + '\n' + text + '\n```'; }
}
class Hover { constructor(contents, range) { this.contents = contents; this.range = range; } }
class CancellationTokenSource {
  constructor() { this.token = { isCancellationRequested: false, onCancellationRequested: () => disposable }; }
  cancel() {}
  dispose() {}
}
class EventEmitter {
  constructor() { this.heard = []; this.event = (one) => { this.heard.push(one); return disposable; }; }
  fire(value) { this.heard.forEach((one) => one(value)); }
  dispose() {}
}
class Disposable { constructor(end) { this.dispose = end || (() => {}); } static from() { return disposable; } }

function uriOf(text) {
  const parsed = new URL(text);
  return {
    scheme: parsed.protocol.slice(0, -1), authority: '', path: parsed.pathname, query: '',
    fragment: parsed.hash.slice(1), fsPath: url.fileURLToPath(text.split('#')[0]),
    toString: () => text,
  };
}
const Uri = {
  parse: uriOf,
  file: (name) => uriOf(url.pathToFileURL(name).toString()),
};

// What is not asked for here: any member is a class, an enumeration or a function that does nothing.
function anything() {
  return new Proxy(class {}, {
    get: (target, name) => (name in target || typeof name === 'symbol' ? target[name] : anything()),
    apply: () => disposable,
  });
}
function space(known) {
  return new Proxy(known, {
    get(target, name) {
      if (name in target || typeof name === 'symbol') return target[name];
      if (/^on(Did|Will)/.test(name)) return () => disposable;
      if (/^register/.test(name)) {
        return (...given) => { providers[name] = given[1]; return disposable; };
      }
      return () => disposable;
    },
  });
}

const text = require('fs').readFileSync(file, 'utf-8');
const openDocument = {
  uri: Uri.file(file), languageId: 'markdown', version: 1, getText: () => text,
  isClosed: false, isDirty: false, lineCount: text.split('\n').length,
};
const channel = new Proxy({}, { get: () => (...words) => process.stderr.write(`${words.join(' ')}\n`) });
const api = {
  Position, Range, Location, MarkdownString, Hover, CancellationTokenSource, EventEmitter, Disposable, Uri,
  version: '1.91.0',
  env: { language: 'en', appName: 'stub' },
  workspace: space({
    workspaceFolders: [{ uri: Uri.file(workspace), name: path.basename(workspace), index: 0 }],
    textDocuments: [openDocument],
    notebookDocuments: [],
    getConfiguration: () => ({ get: (name, other) => (name === 'command' ? command : other), inspect: () => undefined }),
    getWorkspaceFolder: () => undefined,
    createFileSystemWatcher: () => ({ onDidCreate: () => disposable, onDidChange: () => disposable, onDidDelete: () => disposable, dispose() {} }),
  }),
  window: space({
    createOutputChannel: () => channel,
    visibleTextEditors: [],
    tabGroups: { all: [], onDidChangeTabs: () => disposable, onDidChangeTabGroups: () => disposable },
    showErrorMessage: (...words) => { process.stderr.write(`${words.join(' ')}\n`); return Promise.resolve(); },
  }),
  languages: space({
    match: () => 10,
    createDiagnosticCollection: () => ({ set(uri, found) { api.problems = found; }, delete() {}, clear() {}, dispose() {} }),
  }),
  commands: space({ registerCommand: (name, run) => { commands[name] = run; return disposable; } }),
};
const vscode = new Proxy(api, {
  get: (target, name) => (name in target || typeof name === 'symbol' ? target[name] : (target[name] = anything())),
});

const load = Module._load;
Module._load = function (name, ...rest) {
  return name === 'vscode' ? vscode : load.call(this, name, ...rest);
};

async function main() {
  const extension = require(path.join(folder, 'extension.js'));
  const context = { subscriptions: [] };
  await extension.activate(context);
  const token = new CancellationTokenSource().token;
  const at = new Position(Number(line), Number(character));
  let found = [];
  for (let tries = 0; tries < 100 && !(found && found.length); tries += 1) {
    found = await providers.registerDefinitionProvider.provideDefinition(openDocument, at, token);
    await new Promise((done) => setTimeout(done, 100));
  }
  const hover = await providers.registerHoverProvider.provideHover(openDocument, at, token);
  process.stdout.write(JSON.stringify({
    commands: Object.keys(commands).filter((name) => name.startsWith('memoryBank.')),
    definition: found.map((one) => [one.uri.toString(), one.range.start.line]),
    hover: [].concat(hover.contents).map((one) => one.value).join('\n'),
  }));
  await extension.deactivate();
}

main().then(() => process.exit(0), (error) => { process.stderr.write(`${error.stack}\n`); process.exit(1); });
