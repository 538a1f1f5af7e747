package opencode

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/cmdline"
)

// pickers choose the conversation: they go when Umbra does.
var pickers = []string{"--session", "--continue", "--fork"}

// subcommands run no session that Umbra could give an id.
var subcommands = []string{
	"completion", "acp", "mcp", "attach", "debug", "providers", "auth", "agent", "upgrade", "uninstall", "serve", "web", "models",
	"stats", "export", "import", "github", "pr", "session", "plugin", "plug", "db",
}

// Launch is the command line that starts or resumes OpenCode, which chooses the
// id of a new session itself. What the user's command says about which
// conversation to open gives way to a resumption, and so does its prompt, unless
// the command is fresh: it was sent long ago.
func (a Adapter) Launch(o sessions.Launch) (sessions.Command, error) {
	if !a.Runs(o.Command) {
		return sessions.Command{}, fmt.Errorf("%q does not start OpenCode", strings.Join(o.Command, " "))
	}
	if o.Resume && !isID(o.SessionID) {
		return sessions.Command{}, fmt.Errorf("resume %q: not a session id", o.SessionID)
	}
	l := launch{a: a, o: o, args: grammar().Parse(o.Command[1:])}
	if words := l.args.Positionals(); len(words) > 0 && slices.Contains(subcommands, words[0]) {
		return sessions.Command{Argv: slices.Clone(o.Command), Why: fmt.Sprintf("opencode %s runs no session of its own", words[0])}, nil
	} else if len(words) > 0 && words[0] == "run" {
		l.run = true
		at := slices.IndexFunc(l.args, func(a cmdline.Argument) bool { return a.Name == "" })
		l.args = slices.Delete(l.args, at, at+1)
	}
	l.pickSession()
	if err := l.takePrompt(); err != nil {
		return sessions.Command{}, err
	}
	if o.Config != nil {
		l.cmd.Unconfigured = "OpenCode adds what it is given to the configuration of now"
	}
	l.addPlugin()
	l.cmd.Argv = l.words()
	return l.cmd, nil
}

type launch struct {
	a      Adapter
	o      sessions.Launch
	run    bool // opencode run, which takes its prompt as words
	args   cmdline.Arguments
	prompt []string // words after "--"
	cmd    sessions.Command
}

func (l *launch) pickSession() {
	if l.o.Resume {
		l.args = l.args.Without(pickers...)
		l.args = l.args.First("--session", l.o.SessionID)
		l.cmd.SessionID = l.o.SessionID
		return
	}
	for _, a := range l.args {
		if a.Name == "--session" && len(a.Values) > 0 && isID(a.Values[0]) && !l.args.Has("--fork") {
			l.cmd.SessionID = a.Values[0]
		}
	}
}

// takePrompt gives the prompt in the one way that leaves it as it is.
func (l *launch) takePrompt() error {
	own, sent := l.args.Has("--prompt"), (l.o.Resume || l.o.Again) && !l.o.Fresh
	if l.run {
		own = len(l.args.Positionals()) > 0
		if !sent {
			l.prompt = l.args.Positionals()
		}
		l.args = l.args.Without("")
	} else if sent {
		l.args = l.args.Without("--prompt")
	}
	switch {
	case l.o.Prompt == "":
	case own && !sent:
		return errors.New("the command has a prompt of its own")
	case l.run:
		l.prompt = runWords(l.o.Prompt)
	default:
		l.args = l.args.First("--prompt=" + l.o.Prompt)
	}
	return nil
}

// runWords are a prompt as arguments of `opencode run`, which joins them by
// spaces, quotes each that has one, and dies of one that is a number.
func runWords(prompt string) []string {
	words := strings.Split(prompt, " ")
	for _, w := range words {
		if _, err := strconv.ParseFloat(w, 64); err == nil || w == "" || strings.HasPrefix(w, "0x") {
			return []string{prompt}
		}
	}
	return words
}

func (l *launch) words() []string {
	words := []string{l.o.Command[0]}
	if l.run {
		words = append(words, "run")
	}
	words = append(words, l.args.Words()...)
	if len(l.prompt) > 0 {
		words = append(append(words, "--"), l.prompt...)
	}
	return words
}

// addPlugin hands the plugin to this launch: by a configuration file of its own,
// which OpenCode merges with the user's, unless it is installed.
func (l *launch) addPlugin() {
	if l.o.Hooks.Command == "" {
		return
	}
	text, err := plugin().For(l.o.Hooks.Command)
	switch {
	case err != nil:
		l.cmd.Why = err.Error()
	case l.args.Has("--pure"):
		l.cmd.Why = "opencode runs no plugins with --pure"
	case l.args.Has("--attach"):
		l.cmd.Why = "opencode --attach runs in another process, which needs the plugin: umbra hooks install opencode"
	case l.installed(text):
		l.cmd.Hooked = true
		if len(l.o.Server.Command) > 0 {
			l.give(nil)
			l.cmd.Why = ""
		}
	default:
		l.cmd.Hooked = l.give(text)
	}
}

// installed reports whether the user's own OpenCode runs this very plugin.
func (l *launch) installed(text []byte) bool {
	if l.o.ReadFile == nil {
		return false
	}
	there, err := l.o.ReadFile(l.a.HookFile(l.o.Env, sessions.ScopeUser, l.o.Dir))
	return err == nil && plugin().IsIn(there, text)
}

// configuration is what this launch adds to the user's.
type configuration struct {
	Plugin []string          `json:"plugin,omitempty"`
	MCP    map[string]server `json:"mcp,omitempty"`
}

// server is a server of tools.
type server struct {
	Type    string   `json:"type"`
	Command []string `json:"command"`
}

// give writes the plugin, unless it is nil, beside a configuration that names it and
// Umbra's tools, and names that in whichever variable the user has left free.
func (l *launch) give(plugin []byte) bool {
	if l.o.SettingsDir == "" {
		l.cmd.Why = "there is no place for the plugin"
		return false
	}
	var c configuration
	name := filepath.Join(l.o.SettingsDir, "plugin", pluginName)
	if plugin != nil {
		c.Plugin = []string{"file://" + name}
	}
	if len(l.o.Server.Command) > 0 {
		c.MCP = map[string]server{sessions.ServerName: {Type: "local", Command: l.o.Server.Command}}
	}
	config, err := json.Marshal(c)
	if err != nil {
		l.cmd.Why = err.Error()
		return false
	}
	file := filepath.Join(l.o.SettingsDir, "opencode.json")
	switch {
	case l.o.Env.Vars[varFile] == "":
		l.cmd.Env = map[string]string{varFile: file}
	case l.o.Env.Vars[varDirectory] == "":
		l.cmd.Env = map[string]string{varDirectory: l.o.SettingsDir}
	default:
		l.cmd.Why = varFile + " and " + varDirectory + " are both set: umbra hooks install opencode"
		return false
	}
	if plugin != nil {
		l.cmd.Files = append(l.cmd.Files, textFile(name, plugin))
	}
	l.cmd.Files = append(l.cmd.Files, textFile(file, config))
	return true
}

func textFile(name string, content []byte) sessions.File {
	return sessions.File{Path: name, Mode: 0o600, Write: func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	}}
}
