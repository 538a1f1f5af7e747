package copilot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/cmdline"
)

// pickers choose the conversation; with those that choose a place for it, and name it, they
// go when Umbra does: a session is resumed in its own directory.
var (
	pickers = []string{"--resume", "--continue", "--session-id", "--connect"}
	places  = []string{"--name", directory, "--worktree"}
)

// talkless are subcommands, and options, with which no session is run that could be
// followed.
var (
	subcommands = []string{
		"app", "login", "logout", "help", "init", "config", "update", "version", "workflow", "sessions", "memories", "plugin", "mcp", "skill",
		"instruction", "lsp", "sandbox", "completion",
	}
	talkless = []string{"--version", "--help", "--acp", "--environment-host", "--connect"}
)

// Launch is the command line that starts or resumes Copilot. What the user's command says
// about which conversation to open gives way to a resumption, and so does its prompt,
// unless the command is fresh: it was sent long ago.
func (a Adapter) Launch(o sessions.Launch) (sessions.Command, error) {
	at := programIndex(o.Command)
	if at < 0 {
		return sessions.Command{}, fmt.Errorf("%q does not start copilot", strings.Join(o.Command, " "))
	}
	if o.Resume && !sessions.IsUUID(o.SessionID) {
		return sessions.Command{}, fmt.Errorf("resume %q: not a session id", o.SessionID)
	}
	l := launch{a: a, o: o, args: grammar().Parse(o.Command[at+1:])}
	if word := l.args.Subcommand(subcommands, talkless); word != "" {
		return sessions.Command{Argv: slices.Clone(o.Command), Why: fmt.Sprintf("copilot %s runs no session that could be followed", word)}, nil
	}
	l.pickSession()
	if err := l.takePrompt(); err != nil {
		return sessions.Command{}, err
	}
	if o.Config != nil {
		l.cmd.Unconfigured = "Copilot CLI reads it where its sessions are, and nowhere else"
	}
	l.addPlugin()
	l.cmd.Argv = slices.Concat(o.Command[:at+1], l.args.Words())
	return l.cmd, nil
}

type launch struct {
	a    Adapter
	o    sessions.Launch
	args cmdline.Arguments
	cmd  sessions.Command
}

// pickSession resumes the session, or gives a new one its id if the user's command leaves
// it open.
func (l *launch) pickSession() {
	id := l.o.SessionID
	switch {
	case l.o.Resume:
		l.args = l.args.Without(pickers...).Without(places...)
		l.first("--resume", id)
		l.cmd.SessionID = id
	case l.args.Has(pickers...):
		for _, name := range []string{"--resume", "--session-id"} {
			if value, _ := l.args.Value(name); sessions.IsUUID(value) {
				l.cmd.SessionID = value
			}
		}
	case sessions.IsUUID(id):
		l.first("--session-id", id)
		l.cmd.SessionID = id
	}
}

// first puts an option before all others, joined to its value, which may begin with a dash.
func (l *launch) first(name, value string) {
	l.args = slices.Insert(l.args, 0, cmdline.Argument{Name: name, Values: []string{value}, Words: []string{name + "=" + value}})
}

// takePrompt puts the mission's prompt where the command has its own.
func (l *launch) takePrompt() error {
	sent := (l.o.Resume || l.o.Again) && !l.o.Fresh // what the command has
	option, own := "--interactive", false
	for _, arg := range l.args {
		if slices.Contains(promptOptions, arg.Name) {
			option, own = arg.Name, own || strings.Join(arg.Values, "") != ""
		}
	}
	if !sent && own {
		if l.o.Prompt != "" {
			return errors.New("the command has a prompt of its own")
		}
		return nil
	}
	l.args = l.args.Without(promptOptions...)
	if l.o.Prompt != "" {
		l.first(option, l.o.Prompt)
	}
	return nil
}

// The files of the plugin that a launch is handed.
const (
	pluginFile  = "plugin.json"
	pluginHooks = "hooks.json"
	pluginTools = ".mcp.json"
)

// addPlugin hands this launch a plugin with the hooks, unless they are installed, and the
// server of Umbra's tools.
func (l *launch) addPlugin() {
	if l.o.Hooks.Command == "" {
		return
	}
	parts := map[string]any{}
	l.cmd.Hooked = l.installed()
	if !l.cmd.Hooked {
		text, err := l.a.InstallHooks(nil, l.o.Hooks.Command)
		if err != nil {
			l.cmd.Why = err.Error()
			return
		}
		parts[pluginHooks] = json.RawMessage(text)
	}
	about := map[string]any{"name": "umbra", "version": "1.0.0", "description": "Umbra's for this launch"}
	if command := l.o.Server.Command; len(command) > 0 {
		parts[pluginTools] = map[string]any{"mcpServers": map[string]any{
			sessions.ServerName: map[string]any{"type": "local", "command": command[0], "args": command[1:], "tools": []string{"*"}},
		}}
		about["mcpServers"] = pluginTools
	}
	switch {
	case len(parts) == 0:
		return
	case l.o.SettingsDir == "":
		if !l.cmd.Hooked {
			l.cmd.Why = "there is no place for the plugin"
		}
		return
	}
	if parts[pluginHooks] != nil {
		about["hooks"], l.cmd.Hooked = pluginHooks, true
	}
	parts[pluginFile] = about
	for _, name := range []string{pluginFile, pluginHooks, pluginTools} {
		if part := parts[name]; part != nil {
			l.place(name, part)
		}
	}
	l.args = l.args.First("--plugin-dir", l.o.SettingsDir)
}

func (l *launch) place(name string, part any) {
	l.cmd.Files = append(l.cmd.Files, sessions.File{Path: filepath.Join(l.o.SettingsDir, name), Mode: 0o600, Write: func(w io.Writer) error {
		var out bytes.Buffer
		encoder := json.NewEncoder(&out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(part); err != nil {
			return err
		}
		_, err := w.Write(out.Bytes())
		return err
	}})
}

// installed reports whether these hooks run for all of the user's sessions.
func (l *launch) installed() bool {
	if l.o.ReadFile == nil {
		return false
	}
	settings, err := l.o.ReadFile(l.a.HookFile(l.o.Env, sessions.ScopeUser, l.o.Dir))
	if err != nil || l.a.HooksOff(settings) {
		return false
	}
	commands, missing, err := l.a.HookCommands(settings)
	return err == nil && len(commands) > 0 && len(missing) == 0
}
