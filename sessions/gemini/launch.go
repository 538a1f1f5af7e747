package gemini

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/cmdline"
)

// subcommands run no session.
var subcommands = []string{"mcp", "extensions", "extension", "skills", "skill", "hooks", "hook", "gemma"}

var (
	pickers   = []string{"--resume", "--session-id", "--session-file"}
	prompting = []string{"--prompt", "--prompt-interactive"}
	// talkless are options with which no session is run, or none that is asked
	// for on the command line.
	talkless = []string{"--list-sessions", "--delete-session", "--list-extensions", "--version", "--help", "--acp", "--experimental-acp"}
)

// WithoutWorktree implements sessions.WorktreeMaking.
func (Adapter) WithoutWorktree(command []string) []string {
	i := programIndex(command)
	if i < 0 {
		return command
	}
	return slices.Concat(command[:i+1], grammar().Parse(command[i+1:]).WordsWithout("--worktree"))
}

// Launch is the command line that starts Gemini CLI for a mission: on its
// session and with its prompt. The client takes hooks from settings alone, and
// settings from places that are the user's or the system's: there are none for
// one launch. So it reports whether those are installed.
func (a Adapter) Launch(o sessions.Launch) (sessions.Command, error) {
	i := programIndex(o.Command)
	if i < 0 {
		return sessions.Command{}, fmt.Errorf("%q does not start gemini", strings.Join(o.Command, " "))
	}
	if o.SessionID != "" && !sessions.IsUUID(o.SessionID) {
		return sessions.Command{}, fmt.Errorf("session %q: not a session id", o.SessionID)
	}
	if o.Resume && o.SessionID == "" {
		return sessions.Command{}, errors.New("no session to resume")
	}
	l := launch{a: a, o: o, args: grammar().Parse(o.Command[i+1:])}
	words := l.args.Positionals()
	if word := l.args.Subcommand(subcommands, talkless); word != "" {
		return sessions.Command{Argv: o.Command, Why: fmt.Sprintf("gemini %s runs no session", word)}, nil
	}
	l.pickSession()
	if err := l.takePrompt(words); err != nil {
		return sessions.Command{}, err
	}
	if o.Config != nil {
		l.cmd.Unconfigured = "Gemini CLI reads it where its sessions and credentials are, and nowhere else"
	}
	if o.Hooks.Command != "" {
		l.cmd.Why = a.whyNoHooks(o)
		l.cmd.Hooked = l.cmd.Why == ""
	}
	l.cmd.Argv = append(slices.Clone(o.Command[:i+1]), l.args.Words()...)
	return l.cmd, nil
}

type launch struct {
	a    Adapter
	o    sessions.Launch
	args cmdline.Arguments
	cmd  sessions.Command
}

// pickSession resumes the session, or gives a new one its id if the user's
// command leaves it open. One that was begun and never said anything can be
// neither resumed nor begun again.
func (l *launch) pickSession() {
	id := l.o.SessionID
	if l.o.Resume {
		l.args = l.args.Without(pickers...)
		l.args = l.args.First("--resume", id)
		l.cmd.SessionID = id
		return
	}
	for _, a := range l.args {
		if !slices.Contains(pickers, a.Name) {
			continue
		}
		if a.Name != "--session-file" && len(a.Values) > 0 && sessions.IsUUID(a.Values[0]) {
			l.cmd.SessionID = a.Values[0]
		}
		return // else the client chooses one
	}
	if id != "" && !l.a.begun(l.o.Env, l.o.Dir, id) {
		l.args = l.args.First("--session-id", id)
		l.cmd.SessionID = id
	}
}

// takePrompt puts the mission's prompt where the command has its own: with the
// option, or else as the positional word, which is a prompt to begin with on a
// terminal, and the only one without.
func (l *launch) takePrompt(words []string) error {
	kept := l.o.Fresh || !l.o.Resume && !l.o.Again // the command's own prompt is still to be sent
	switch own := len(words) > 0 || l.hasPrompt(); {
	case kept && l.o.Prompt == "":
		return nil
	case kept && own:
		return errors.New("the command has a prompt of its own")
	}
	option := ""
	for _, a := range l.args {
		if slices.Contains(prompting, a.Name) {
			option = a.Name
		}
	}
	l.args = l.args.Without(append(slices.Clone(prompting), "")...)
	switch {
	case l.o.Prompt == "":
	case option != "":
		l.args = l.args.First(option + "=" + l.o.Prompt) // joined: it may begin with a dash
	default:
		word := asWord(l.o.Prompt)
		l.args = slices.Insert(l.args, 0, cmdline.Argument{Values: []string{word}, Words: []string{word}})
	}
	return nil
}

// hasPrompt reports whether an option has a prompt that is not empty.
func (l *launch) hasPrompt() bool {
	return slices.ContainsFunc(l.args, func(a cmdline.Argument) bool {
		return slices.Contains(prompting, a.Name) && strings.Join(a.Values, "") != ""
	})
}

// asWord is a prompt that no positional word can be mistaken for: an option, or a
// subcommand.
func asWord(prompt string) string {
	if strings.HasPrefix(prompt, "-") || slices.Contains(subcommands, prompt) {
		return " " + prompt
	}
	return prompt
}

// whyNoHooks says why a launch would not be heard of by hooks, "" if it would.
// Settings are merged: the hooks of all of them run, and of what they say about
// all hooks the project's word counts.
func (a Adapter) whyNoHooks(o sessions.Launch) string {
	installed, off := false, ""
	for _, scope := range []sessions.Scope{sessions.ScopeUser, sessions.ScopeShared} {
		name := a.HookFile(o.Env, scope, o.Dir)
		if o.ReadFile == nil {
			break
		}
		settings, err := o.ReadFile(name)
		if err != nil {
			continue
		}
		_, missing, err := a.HookCommands(settings)
		installed = installed || err == nil && len(missing) == 0
		switch hooksEnabled(settings) {
		case "false":
			off = name
		case "true":
			off = ""
		}
	}
	switch {
	case !installed:
		return "gemini takes hooks from its settings alone; umbra hooks install gemini puts them there"
	case off != "":
		return "hooks are switched off by hooksConfig in " + off
	}
	return ""
}
