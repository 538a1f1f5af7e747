// Umbra in VS Code: what is saved is kept. `umbra hooks uninstall vscode` removes
// this file.
'use strict';

const { execFile, spawn } = require('node:child_process');
const path = require('node:path');
const vscode = require('vscode');

const scheme = 'umbra';
const quiet = 150; // ms without a save before Umbra is told of those before
const pause = 2000; // ms between two tellings, however often files are saved
const most = 500; // files that Umbra is told of at once: a command line has an end
const glance = 10_000; // ms between looks at the status, while the window is looked at

const umbra = () => vscode.workspace.getConfiguration('umbra').get('command') || @umbra@;

// tell tells Umbra, and waits for nothing: no error of its is the editor's.
function tell(event, ...files) {
  try {
    const child = spawn(umbra(), ['hook', 'vscode', event, ...files.slice(0, most)], { detached: true, stdio: 'ignore', cwd: '/' });
    child.on('error', () => {});
    child.on('exit', () => bar.refresh());
    child.unref();
  } catch {
    // There is no such program.
  }
}

// delay is how long a save waits for others, from now on: first is when the first
// that waits was made, told when Umbra was told the last time.
const delay = (now, first, told) => Math.max(0, Math.min(Math.max(now + quiet, told + pause), first + pause) - now);

// saves are the files that were saved and not told of yet: those of a moment are
// told together, so that to save all is one snapshot, and so are those that the
// editor saves by itself after each change.
const saves = {
  files: new Set(),
  timer: undefined,
  first: 0,
  told: -pause,
  add(uri) {
    if (uri.scheme !== 'file') {
      return;
    }
    const now = performance.now();
    if (saves.files.size === 0) {
      saves.first = now;
    }
    saves.files.add(uri.fsPath);
    clearTimeout(saves.timer);
    saves.timer = setTimeout(saves.flush, delay(now, saves.first, saves.told));
  },
  flush() {
    clearTimeout(saves.timer);
    const files = [...saves.files];
    saves.files.clear();
    if (files.length > 0) {
      saves.told = performance.now();
      tell('save', ...files);
    }
    return files;
  },
};

// ask gives what a command says, as bytes, or fails with what it complains of.
function ask(cwd, ...args) {
  return new Promise((resolve, reject) => {
    const options = { cwd, encoding: 'buffer', maxBuffer: 1 << 28 };
    execFile(umbra(), ['--quiet', '--color', 'never', ...args], options, (error, out, complaint) => {
      if (error) {
        reject(new Error(complaint.toString().trim() || error.message));
      } else {
        resolve(out);
      }
    });
  });
}

// here is the directory that commands are about; undefined is none.
function here() {
  const editor = vscode.window.activeTextEditor;
  if (editor && editor.document.uri.scheme === 'file') {
    return path.dirname(editor.document.uri.fsPath);
  }
  const folder = (vscode.workspace.workspaceFolders || []).find(({ uri }) => uri.scheme === 'file');
  return folder && folder.uri.fsPath;
}

// place is here, or the error that there is none.
function place() {
  const dir = here();
  if (!dir) {
    throw new Error('open a file or a folder first');
  }
  return dir;
}

// bar shows the missions of here, and opens their timeline.
const bar = {
  item: undefined,
  asking: false,
  async refresh() {
    if (!bar.item || bar.asking) {
      return;
    }
    bar.asking = true;
    let text = '';
    try {
      text = here() ? (await ask(here(), 'status', '--prompt')).toString().trim() : '';
    } catch {
      // It is of no mission's, or there is no umbra.
    }
    bar.asking = false;
    if (!bar.item) {
      return;
    }
    bar.item.text = `$(history) ${text}`;
    if (text) {
      bar.item.show();
    } else {
      bar.item.hide();
    }
  },
};

async function snapshot() {
  const dir = place();
  const text = await vscode.window.showInputBox({ title: 'Umbra: Take a Snapshot', prompt: 'What is it? May be left empty.' });
  if (text === undefined) {
    return;
  }
  const id = (await ask(dir, 'snapshot', ...(text ? ['-m', text] : []))).toString();
  const unwritten = vscode.workspace.textDocuments.some((document) => document.isDirty && document.uri.scheme === 'file');
  vscode.window.setStatusBarMessage(`umbra: snapshot ${id.slice(0, 10)}${unwritten ? ', without what is not saved yet' : ''}`, 5000);
  bar.refresh();
}

async function shown(...command) {
  const content = (await ask(place(), ...command)).toString();
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content }), { preview: true });
}

function timeline() {
  vscode.window.createTerminal({ name: 'umbra timeline', cwd: place(), shellPath: umbra(), shellArgs: ['timeline'] }).show();
}

const changed = new vscode.EventEmitter();

// moments are those that the completion of umbra's command line knows.
async function moments(dir) {
  const said = await ask(dir, 'complete', 'fish', '--', 'cat', '').catch(() => ''); // one can be typed all the same
  const lines = said.toString().split('\n').slice(1); // the first is for a shell
  return lines.filter(Boolean).map((line) => {
    const [label, description] = line.split('\t');
    return { label, description };
  });
}

const another = { label: 'Another…', description: 'login@3, login@{10m}, a pin, an id' };

// pick asks for a moment; undefined is none.
async function pick() {
  const items = moments(here()).then((list) => [...list, another]);
  const picked = await vscode.window.showQuickPick(items, { placeHolder: 'As it was when?', matchOnDescription: true });
  if (picked && picked.label === another.label) {
    return vscode.window.showInputBox({ prompt: 'As it was when?', placeHolder: another.description });
  }
  return picked && picked.label;
}

// was asks for a moment, and gives the file that is open with the address of what
// it was then; undefined if the user thinks better of it.
async function was() {
  const editor = vscode.window.activeTextEditor;
  if (!editor || editor.document.uri.scheme !== 'file') {
    throw new Error('open a file first');
  }
  const now = editor.document.uri;
  const moment = await pick();
  if (!moment) {
    return undefined;
  }
  const then = now.with({ scheme, query: moment });
  await content.provideTextDocumentContent(then); // an error is the command's
  changed.fire(then); // an older answer may be open
  return { now, then, moment, name: path.basename(now.fsPath) };
}

const content = {
  onDidChange: changed.event,
  provideTextDocumentContent: async (uri) => (await ask(path.dirname(uri.path), 'cat', uri.query, uri.path)).toString(),
};

async function diff() {
  const at = await was();
  if (at) {
    await vscode.commands.executeCommand('vscode.diff', at.then, at.now, `${at.name}: ${at.moment} and now`);
  }
}

async function open() {
  const at = await was();
  if (at) {
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(at.then), { preview: true });
  }
}

// author is who wrote the line that the cursor is on.
async function author() {
  const editor = vscode.window.activeTextEditor;
  if (!editor || editor.document.uri.scheme !== 'file') {
    throw new Error('open a file first');
  }
  if (editor.document.isDirty) {
    throw new Error('save the file first: its lines are counted as they are written');
  }
  const file = editor.document.uri.fsPath;
  const range = `${editor.selection.active.line + 1},+1`;
  const answer = await ask(path.dirname(file), 'blame', '--json', '-L', range, file).catch((error) => {
    throw error.message.startsWith('{"error"') ? new Error(JSON.parse(error.message).error.message) : error;
  });
  const [line] = JSON.parse(answer.toString()).lines;
  if (!line) {
    throw new Error('there is no such line');
  }
  return line;
}

// origin is what is said of a line: where it comes from, by whom and when, and why.
function origin(line) {
  const who = [line.agent, line.at.startsWith('0001') ? '' : line.at.slice(0, 10)].filter(Boolean).join(', ');
  const by = line.commit.slice(0, 10) || line.address || line.message;
  const why = line.prompt || line.message;
  return [by, who && `(${who})`, why !== by && why].filter(Boolean).join(' ');
}

// blame says who wrote the line; its moment is one click away.
async function blame() {
  const line = await author();
  const buttons = line.snapshot ? ['Show'] : [];
  if (await vscode.window.showInformationMessage(`Umbra: ${origin(line)}`, ...buttons)) {
    await shown('show', line.snapshot);
  }
}

// said shows what went wrong with a command.
const said = (run) => async () => {
  try {
    await run();
  } catch (error) {
    vscode.window.showErrorMessage(`Umbra: ${error.message.replace(/^umbra: /, '')}`);
  }
};

function activate(context) {
  const commands = { snapshot, status: () => shown('status'), log: () => shown('log'), timeline, diff, open, blame };
  bar.item = vscode.window.createStatusBarItem('umbra.status', vscode.StatusBarAlignment.Left);
  Object.assign(bar.item, { name: 'Umbra', command: 'umbra.timeline', tooltip: 'Umbra: the missions here. Opens the timeline.' });
  const look = setInterval(() => vscode.window.state.focused && bar.refresh(), glance);
  context.subscriptions.push(
    bar.item,
    changed,
    { dispose: () => clearInterval(look) },
    vscode.workspace.onDidSaveTextDocument((document) => saves.add(document.uri)),
    vscode.workspace.onDidSaveNotebookDocument((notebook) => saves.add(notebook.uri)),
    vscode.window.onDidChangeActiveTextEditor(() => bar.refresh()),
    vscode.window.onDidChangeWindowState(({ focused }) => focused && bar.refresh()),
    vscode.workspace.registerTextDocumentContentProvider(scheme, content),
    ...Object.entries(commands).map(([name, run]) => vscode.commands.registerCommand(`umbra.${name}`, said(run))),
  );
  bar.refresh();
}

function deactivate() {
  bar.item = undefined;
  const told = saves.flush();
  for (const { uri } of vscode.workspace.workspaceFolders || []) {
    if (uri.scheme === 'file' && !told.some((file) => file.startsWith(uri.fsPath + path.sep))) {
      tell('leave', uri.fsPath);
    }
  }
}

module.exports = { activate, deactivate, delay };
