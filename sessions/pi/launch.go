package pi

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/cmdline"
)

// pickers choose the conversation: they go when Umbra does.
var pickers = []string{"--session", "--session-id", "--continue", "--resume", "--fork", "--no-session"}

// subcommands run no session.
var subcommands = []string{"install", "remove", "uninstall", "update", "list", "config", "auth", "mcp"}

// Launch is the command line that starts or resumes pi, which chooses the id of a new
// session itself: given one, it warns its user that there is none of that id. What the user's command says about
// which conversation to open gives way to a resumption, and so does its prompt, unless the
// command is fresh: it was sent long ago.
func (a Adapter) Launch(o sessions.Launch) (sessions.Command, error) {
	at := programIndex(o.Command)
	if at < 0 {
		return sessions.Command{}, fmt.Errorf("%q does not start pi", strings.Join(o.Command, " "))
	}
	if o.Resume && !isID(o.SessionID) {
		return sessions.Command{}, fmt.Errorf("resume %q: not a session id", o.SessionID)
	}
	l := launch{a: a, o: o, args: parse(o.Command[at+1:])}
	if words := l.args.Positionals(); len(words) > 0 && slices.Contains(subcommands, words[0]) {
		return sessions.Command{Argv: slices.Clone(o.Command), Why: fmt.Sprintf("pi %s runs no session of its own", words[0])}, nil
	}
	if err := l.takePrompt(); err != nil {
		return sessions.Command{}, err
	}
	l.pickSession()
	if o.Config != nil {
		l.cmd.Unconfigured = "pi can't be given another configuration than that of now"
	}
	l.addExtension()
	l.cmd.Argv = slices.Concat(o.Command[:at+1], l.args.Words())
	if len(l.prompt) > 0 {
		l.cmd.Argv = append(append(l.cmd.Argv, "--"), l.prompt...)
	}
	return l.cmd, nil
}

type launch struct {
	a      Adapter
	o      sessions.Launch
	args   cmdline.Arguments
	prompt []string // words after "--"
	cmd    sessions.Command
}

func (l *launch) pickSession() {
	switch {
	case l.o.Resume:
		l.args = l.args.Without(pickers...).First("--session", l.o.SessionID)
		l.cmd.SessionID = l.o.SessionID
	case l.args.Has("--session-id") && !l.args.Has("--fork"):
		l.cmd.SessionID, _ = l.args.Value("--session-id")
	}
}

// takePrompt takes the prompt out of the command, whose words stand behind "--" then, where
// one may begin with a dash.
func (l *launch) takePrompt() error {
	sent := (l.o.Resume || l.o.Again) && !l.o.Fresh
	own := l.args.Positionals()
	var args cmdline.Arguments
	for _, a := range l.args {
		switch {
		case a.Name == "":
			continue
		case a.Name == "--print" && len(a.Values) > 0:
			own = append(own, a.Values...)
			a = cmdline.Argument{Name: a.Name, Words: a.Words[:1]}
		}
		args = append(args, a)
	}
	l.args = args
	if sent {
		own = nil
	}
	switch {
	case l.o.Prompt == "":
		l.prompt = own
	case len(own) > 0:
		return errors.New("the command has a prompt of its own")
	case strings.HasPrefix(l.o.Prompt, "@"):
		l.prompt = []string{" " + l.o.Prompt} // it would name a file
	default:
		l.prompt = []string{l.o.Prompt}
	}
	return nil
}

// addExtension hands the extension to this launch, by a file of its own, unless the very
// same one is installed and has no tools to bring.
func (l *launch) addExtension() {
	if l.o.Hooks.Command == "" {
		return
	}
	text, err := extension().For(l.o.Hooks.Command)
	switch {
	case err != nil:
		l.cmd.Why = err.Error()
	case l.args.Has("--no-session"):
		l.cmd.Why = "pi --no-session keeps no conversation"
	case l.installed(text) && !l.args.Has("--no-extensions") && len(l.o.Server.Command) == 0:
		l.cmd.Hooked = true
	case l.o.SettingsDir == "":
		l.cmd.Why = "there is no place for the extension"
	default:
		l.cmd.Hooked = l.give(text)
	}
}

// installed reports whether the user's own pi runs this very extension.
func (l *launch) installed(text []byte) bool {
	if l.o.ReadFile == nil {
		return false
	}
	there, err := l.o.ReadFile(l.a.HookFile(l.o.Env, sessions.ScopeUser, l.o.Dir))
	return err == nil && extension().IsIn(there, text)
}

// give writes the extension, with the server of Umbra's tools if there is one, and names it.
func (l *launch) give(text []byte) bool {
	if command := l.o.Server.Command; len(command) > 0 {
		text = extension().Serving(text, command)
	}
	name := filepath.Join(l.o.SettingsDir, extensionName)
	l.args = l.args.First("--extension", name)
	l.cmd.Files = append(l.cmd.Files, sessions.File{Path: name, Mode: 0o600, Write: func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}})
	return true
}
