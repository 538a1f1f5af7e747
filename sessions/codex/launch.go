package codex

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/cmdline"
	"github.com/umbra-vcs/umbra/sessions/jsontext"
)

// image is an option that goes with a prompt.
const image = "--image"

// pickers choose a conversation, or another place to work in: they go when Umbra
// chooses.
var pickers = []string{"--last", "--all", "--include-non-interactive", "--worktree", "--cd"}

// subcommands run no session here that could be resumed.
var subcommands = []string{
	"agents", "review", "login", "logout", "mcp", "plugin", "app-server", "remote-control", "completion", "update", "doctor",
	"sandbox", "debug", "apply", "a", "queue", "archive", "delete", "unarchive", "migrate-rollouts", "migrate-nfs-db", "cloud",
	"exec-server", "features", "help",
}

// Launch is the command line that starts or resumes Codex. What the user's
// command says about which conversation to open gives way to a resumption, and
// so does its prompt, unless the command is fresh: it was sent long ago. A new
// session can't be given an id: its hooks tell it.
func (a Adapter) Launch(o sessions.Launch) (sessions.Command, error) {
	at := sessions.ProgramAt(o.Command, "codex", script)
	if at < 0 {
		return sessions.Command{}, fmt.Errorf("%q does not start Codex", strings.Join(o.Command, " "))
	}
	if o.Resume && !sessions.IsUUID(o.SessionID) {
		return sessions.Command{}, fmt.Errorf("resume %q: not a session id", o.SessionID)
	}
	l := launch{a: a, o: o}
	l.read(o.Command[at+1:])
	if l.elsewhere != "" {
		return sessions.Command{Argv: o.Command, Why: fmt.Sprintf("codex %s runs no session that could be followed", l.elsewhere)}, nil
	}
	if err := l.pick(); err != nil {
		return sessions.Command{}, err
	}
	if o.Config != nil {
		l.cmd.Unconfigured = "Codex reads it where its sessions and credentials are, and nowhere else"
	}
	l.addHooks()
	l.addServer()
	l.cmd.Argv = append(slices.Clone(o.Command[:at+1]), l.words()...)
	return l.cmd, nil
}

// launch is a command line taken apart: codex [before] [exec [after]] [resume or
// fork [session] [own]] [words]. A verb's options stay behind it, since some are
// its own, and the others are taken there too.
type launch struct {
	a         Adapter
	o         sessions.Launch
	before    cmdline.Arguments
	exec      bool
	after     cmdline.Arguments
	verb      string // "resume" or "fork"
	own       cmdline.Arguments
	prompt    []string // what else stands there: the session that a verb names first, then the prompt
	session   string   // of the verb
	elsewhere string   // another subcommand
	cmd       sessions.Command
}

func (l *launch) read(words []string) {
	plain := false // a word was taken for a prompt or session: no subcommand follows
	for _, arg := range grammar().Parse(words) {
		word := ""
		if arg.Name == "" {
			word = arg.Values[0]
		}
		switch {
		case arg.Name != "" && l.verb != "":
			l.own = append(l.own, arg)
		case arg.Name != "" && l.exec:
			l.after = append(l.after, arg)
		case arg.Name != "":
			l.before = append(l.before, arg)
		case !plain && !l.exec && l.verb == "" && (word == "exec" || word == "e"):
			l.exec = true
		case !plain && l.verb == "" && (word == "resume" || word == "fork"):
			l.verb = word
		case !plain && l.verb == "" && (!l.exec && slices.Contains(subcommands, word) || l.exec && (word == "review" || word == "help")):
			l.elsewhere, plain = word, true
		case l.verb != "" && l.session == "" && !l.has("--last"):
			l.session, plain = word, true
		default:
			l.prompt, plain = append(l.prompt, word), true
		}
	}
	for _, name := range []string{"--version", "--help"} {
		if l.has(name) {
			l.elsewhere = name
		}
	}
}

func (l *launch) has(name string) bool {
	return l.before.Has(name) || l.after.Has(name) || l.own.Has(name)
}

// drop takes options out.
func (l *launch) drop(names ...string) {
	l.before, l.after, l.own = l.before.Without(names...), l.after.Without(names...), l.own.Without(names...)
}

// pick decides which session is resumed and what it is told.
func (l *launch) pick() error {
	if l.o.Resume {
		l.drop(pickers...)
		l.verb, l.session = "resume", l.o.SessionID
		// An option of many values before the verb would take it for one of them.
		images := slices.DeleteFunc(slices.Concat(l.before, l.after), func(a cmdline.Argument) bool { return a.Name != image })
		own := slices.Clone(l.own)
		l.drop(image)
		l.own = slices.Concat(images, own)
	}
	if (l.o.Resume || l.o.Again) && !l.o.Fresh {
		l.prompt = nil // sent long ago, with its images
		l.drop(image)
	}
	if l.verb == "resume" && sessions.IsUUID(l.session) {
		l.cmd.SessionID = l.session
	}
	if l.o.Prompt == "" {
		return nil
	}
	if len(l.prompt) > 0 {
		return errors.New("the command has a prompt of its own")
	}
	l.prompt = []string{l.o.Prompt}
	return nil
}

func (l *launch) words() []string {
	words := l.before.Words()
	if l.exec {
		words = append(append(words, "exec"), l.after.Words()...)
	}
	if l.verb != "" {
		words = append(words, l.verb)
		if l.session != "" {
			words = append(words, l.session)
		}
		words = append(words, l.own.Words()...)
	}
	if len(l.prompt) > 0 {
		words = append(append(words, "--"), l.prompt...)
	}
	return words
}

// addHooks sees to it that this launch reports what it can. Hooks run only where
// the user has trusted them, so none can be handed to one launch alone; but the
// program that is told of ends of turns can. On a terminal the session must run
// in the process that is started: in the server that Codex keeps in the
// background, hooks have the environment of whoever came first.
func (l *launch) addHooks() {
	if l.o.Hooks.Command == "" {
		return
	}
	if !l.exec && !l.has("--no-daemon") && !l.has("--remote") {
		l.before = l.before.First("--no-daemon")
	}
	why := l.unhooked()
	if why == "" {
		l.cmd.Hooked = true
		return
	}
	l.cmd.Why = why
	if l.o.ReadFile != nil && !l.a.config(l.o.Env, l.o.ReadFile).notify && !l.configures("notify") {
		l.before = l.before.First("--config", "notify="+notify(l.o.Hooks.Command))
	}
}

// unhooked says why the hooks do not run; "" if they do.
func (l *launch) unhooked() string {
	if l.has("--ephemeral") {
		return "codex keeps no conversation with --ephemeral"
	}
	if l.has("--ignore-user-config") {
		return "codex reads no configuration with --ignore-user-config"
	}
	if l.o.ReadFile == nil {
		return "Codex's configuration can't be read here"
	}
	file := l.a.HookFile(l.o.Env, sessions.ScopeUser, "")
	settings, err := l.o.ReadFile(file)
	if err != nil {
		return "Codex takes no hooks for one launch alone: umbra hooks install codex installs them"
	}
	commands, missing, err := shape().Commands(settings)
	c := l.a.config(l.o.Env, l.o.ReadFile)
	why := cmp.Or(l.switchedOff(c), c.disabled(file, settings))
	switch {
	case err != nil || len(commands) == 0 || len(missing) > 0:
		return "Codex takes no hooks for one launch alone: umbra hooks install codex installs them"
	case why != "" || l.has("--dangerously-bypass-hook-trust"):
		return why
	}
	return c.untrusted(file, settings)
}

// switchedOff says what keeps Codex from running any hook; "" if nothing does. Of
// the command line the overrides count more than the file, --enable more than
// they, and --disable most.
func (l *launch) switchedOff(c config) string {
	why := ""
	if c.hooksOff {
		why = hooksOff(l.a.configFile(l.o.Env))
	}
	all := slices.Concat(l.before, l.after, l.own)
	for _, name := range []string{"--config", "--enable", "--disable"} {
		for _, arg := range all {
			if arg.Name != name || len(arg.Values) == 0 {
				continue
			}
			on, told := overridden(arg.Values[0])
			if name != "--config" {
				on, told = name == "--enable", isHooks(arg.Values[0])
			}
			switch {
			case told && on:
				why = ""
			case told:
				why = fmt.Sprintf("hooks are switched off by %s %s: none of them runs", name, arg.Values[0])
			}
		}
	}
	return why
}

// configures reports whether the command sets a key of the configuration.
func (l *launch) configures(key string) bool {
	sets := func(a cmdline.Argument) bool {
		return a.Name == "--config" && len(a.Values) > 0 && strings.HasPrefix(strings.TrimSpace(a.Values[0]), key)
	}
	return slices.ContainsFunc(slices.Concat(l.before, l.after, l.own), sets)
}

// notify is the TOML list of a program that gives the hook command its last
// argument, in which Codex tells what has happened, as input.
func notify(hookCommand string) string {
	return `["/bin/sh","-c",` + string(jsontext.Quote(`printf %s "$1" | `+hookCommand)) + `,"umbra"]`
}
