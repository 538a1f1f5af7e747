package claude

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/umbra-vcs/umbra/sessions"
)

// The slash commands that the prompt hook answers.
const (
	commandName     = "checkpoint"
	sideCommandName = "umbra"
)

// commandFile makes Claude Code take the command for one it knows, offer it as
// its user types, and hand it to the prompt hook. Without the file it is another
// name of /rewind. The model sees the text only if no hook has answered: 2.0 runs
// none for what is typed while it works.
const commandFile = `---
description: "Umbra: take a snapshot, or list, show, diff, restore, undo"
argument-hint: "[NAME] | list | show MOMENT | diff [FROM] [TO] | restore MOMENT | undo | redo | help"
disable-model-invocation: true
---
This is a command for Umbra, which its hook answers and you never see. That you see it means that the hook did not run: either hooks are off, or the command was typed while you were working. Say so in one sentence, and that ` + commandMark + ` tells more. Do nothing else.
`

// sideCommandFile is commandFile for side forks.
const sideCommandFile = `---
description: "Umbra: try something aside in a fork, here; come back as you were, with a report, or with all of it"
argument-hint: "fork [TOPIC] | exit | report [TEXT] | promote | help"
disable-model-invocation: true
---
This is a command for Umbra, which its hook answers and you never see. That you see it means that the hook did not run: either hooks are off, or the command was typed while you were working. Say so in one sentence, and that ` + commandMark + ` tells more. Do nothing else.
`

// commandMark is in every command file of Umbra's, also in one that its user has
// changed.
const commandMark = "`umbra hooks status claude`"

// HookExtras implements sessions.Companion. The local settings of a project have
// no place for a command that Git would not show.
func (a Adapter) HookExtras(env sessions.Environ, scope sessions.Scope, projectDir string) []sessions.Extra {
	dir := a.Root(env)
	switch scope {
	case sessions.ScopeProject:
		return nil
	case sessions.ScopeShared:
		dir = filepath.Join(projectDir, ".claude")
	}
	return []sessions.Extra{commandExtra(dir, commandName, commandFile), commandExtra(dir, sideCommandName, sideCommandFile)}
}

func commandExtra(dir, name, file string) sessions.Extra {
	return sessions.Extra{
		Path: commandPath(dir, name), Content: []byte(file), What: "the command /" + name,
		Own: func(content []byte) bool { return string(content) == file },
	}
}

func commandPath(dir, name string) string { return filepath.Join(dir, "commands", name+".md") }

// commandIn is the command that a prompt is, and what it says behind the command's name.
func commandIn(prompt string) (name, words string, ok bool) {
	prompt = strings.TrimSpace(prompt)
	if typed, ok := strings.CutPrefix(prompt, pluginCommands); ok {
		return commandOfPlugin(typed)
	}
	for _, name := range []string{commandName, sideCommandName} {
		rest, ok := strings.CutPrefix(prompt, "/"+name)
		if ok && (rest == "" || strings.TrimLeft(rest, " \t\r\n") != rest) {
			return name, strings.TrimSpace(rest), true
		}
	}
	return "", "", false
}

// pluginCommands begins the plugin's commands, as Claude Code names those of a plugin.
const pluginCommands = "/" + sessions.PluginName + ":"

// commandOfPlugin is commandIn of a prompt without that beginning: the plugin has a command
// for each word that /umbra takes, and /umbra:checkpoint.
func commandOfPlugin(typed string) (name, words string, ok bool) {
	command, rest := typed, ""
	if i := strings.IndexAny(typed, " \t\r\n"); i >= 0 {
		command, rest = typed[:i], strings.TrimSpace(typed[i:])
	}
	switch command {
	case commandName:
		return pluginCommands + commandName, rest, true
	case "fork", "exit", "report", "promote":
		return pluginCommands, strings.TrimSpace(command + " " + rest), true
	}
	return "", "", false
}

// commandIsOurs reports whether the command of that name typed in cwd is Umbra's, where
// root is the user's own directory of Claude Code: a user or a project may have one of
// that name, which is then left to them.
func commandIsOurs(name, root, home, cwd string) bool {
	if strings.HasPrefix(name, pluginCommands) {
		return true // Claude Code knows no such command without the plugin
	}
	ours := false
	for _, dir := range append(projectDirs(home, cwd), root) {
		switch content, err := readCommand(commandPath(dir, name)); {
		case errors.Is(err, sessions.ErrNoSession), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.ENOTDIR): // Claude Code finds none either
		case err != nil, !bytes.Contains(content, []byte(commandMark)):
			return false
		default:
			ours = true
		}
	}
	return ours
}

// projectDirs are the directories in which Claude Code looks for a project's
// commands: from where it works up to the top of the Git repository, and without one
// up to the root, but not in the home directory nor above it. 2.0.77 looks above a
// repository too.
func projectDirs(home, cwd string) []string {
	var dirs []string
	for dir := filepath.Clean(cwd); dir != filepath.Clean(home); dir = filepath.Dir(dir) {
		dirs = append(dirs, filepath.Join(dir, ".claude"))
		git := filepath.Join(dir, ".git")
		if _, err := os.Lstat(git); err == nil {
			return append(dirs, mainProject(git)...)
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return dirs
}

// mainProject is where 2.1.329 looks for what a linked worktree has none of: commands
// that Git ignores are in the repository's own worktree alone.
func mainProject(git string) []string {
	content, err := readCommand(git)
	if err != nil {
		return nil // a directory
	}
	dir, linked := strings.CutPrefix(strings.TrimSpace(string(content)), "gitdir: ")
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(filepath.Dir(git), dir) // Git 2.48 writes it with worktree.useRelativePaths
	}
	top, _, ok := strings.Cut(dir, "/.git/worktrees/")
	if _, err := os.Lstat(filepath.Join(filepath.Dir(git), ".claude", "commands")); !linked || !ok || err == nil {
		return nil
	}
	return []string{filepath.Join(top, ".claude")}
}

// mostCommand is how much of a command's file is read, or of one that leads there.
const mostCommand = 64 << 10

func readCommand(path string) ([]byte, error) {
	f, _, err := sessions.OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, mostCommand))
}
