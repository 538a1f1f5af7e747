package claude

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/cmdline"
)

var (
	// pickers choose the conversation: they go when Umbra does. A recorded
	// command may hold them.
	pickers = []string{"--resume", "--continue", "--session-id", "--fork-session", "--from-pr", "--resume-session-at", "--rewind-files", "--teleport", "--prefill"}
	// elsewhere are options under which Claude Code runs no session here that
	// could be given an id.
	elsewhere = []string{"--cloud", "--desktop", "--remote", "--teleport", "--from-pr", "--version", "--help"}
	// unhooked are options under which no hook runs.
	unhooked = []string{"--bare", "--safe-mode", "--version", "--help"}
)

// subcommands run no session.
var subcommands = []string{
	"agents", "attach", "auth", "auto-mode", "config", "doctor", "gateway", "import", "install", "kill", "logs", "mcp",
	"migrate-installer", "plugin", "plugins", "purge", "respawn", "rm", "setup-token", "stop", "ultrareview", "update", "upgrade",
}

// WithoutWorktree implements sessions.WorktreeMaking.
func (Adapter) WithoutWorktree(command []string) []string {
	at := programIndex(command)
	if at < 0 {
		return command
	}
	return slices.Concat(command[:at+1], grammar().Parse(command[at+1:]).WordsWithout("--worktree", "--tmux"))
}

// Launch is the command line that starts or resumes Claude Code. What the user's
// command says about which conversation to open gives way to a resumption, and
// so does its prompt, unless the command is fresh: it was sent long ago.
func (a Adapter) Launch(o sessions.Launch) (sessions.Command, error) {
	at := programIndex(o.Command)
	if at < 0 {
		return sessions.Command{}, fmt.Errorf("%q does not start Claude Code", strings.Join(o.Command, " "))
	}
	if o.Resume && !sessions.IsUUID(o.SessionID) {
		return sessions.Command{}, fmt.Errorf("resume %q: not a session id", o.SessionID)
	}
	l := launch{a: a, o: o, args: grammar().Parse(o.Command[at+1:])}
	if words := l.args.Positionals(); len(words) > 0 && slices.Contains(subcommands, words[0]) {
		return sessions.Command{Argv: o.Command, Why: fmt.Sprintf("claude %s runs no session", words[0])}, nil
	}
	if err := l.pickSession(); err != nil {
		return sessions.Command{}, err
	}
	if err := l.takePrompt(); err != nil {
		return sessions.Command{}, err
	}
	if o.Config != nil {
		before := l.args
		if err := l.configure(); err != nil {
			l.args, l.settings, l.cmd.Files, l.cmd.Configured, l.cmd.Unconfigured = before, nil, nil, false, err.Error()
		}
		l.sayWithout()
	}
	l.addHooks()
	l.addServer()
	l.cmd.Argv = append(slices.Clone(o.Command[:at+1]), l.words()...)
	return l.cmd, nil
}

type launch struct {
	a      Adapter
	o      sessions.Launch
	args   cmdline.Arguments
	prompt []string // words after "--"
	// settings are the user's as they were, nil where those of now count.
	settings []byte
	without  []string // files as they were of which secrets are missing
	cmd      sessions.Command
}

// pickSession resumes the session, or gives a new one its id if the user's
// command leaves it open.
func (l *launch) pickSession() error {
	if l.o.Resume {
		l.args = l.args.Without(pickers...)
		l.args = l.args.First("--resume", l.o.SessionID)
		l.cmd.SessionID = l.o.SessionID
		return nil
	}
	if l.args.Has(elsewhere...) {
		return nil
	}
	if id, ok := l.args.Value("--session-id"); ok {
		l.cmd.SessionID = id
		return nil
	}
	if l.args.Has("--resume", "--continue") {
		if id, ok := l.args.Value("--resume"); ok && sessions.IsUUID(id) && !l.args.Has("--fork-session") {
			l.cmd.SessionID = id
		}
		return nil
	}
	if l.o.SessionID == "" {
		return nil
	}
	if !sessions.IsUUID(l.o.SessionID) {
		return fmt.Errorf("new session %q: not a session id", l.o.SessionID)
	}
	l.args = l.args.First("--session-id", l.o.SessionID)
	l.cmd.SessionID = l.o.SessionID
	return nil
}

// takePrompt moves the prompt behind "--", where neither a dash at its start nor
// an option that takes many words can change what it is.
func (l *launch) takePrompt() error {
	words := l.args.Positionals()
	l.args = l.args.Without("")
	switch {
	case (l.o.Resume || l.o.Again) && !l.o.Fresh:
		words = nil
	case l.o.Prompt != "" && len(words) > 0:
		return errors.New("the command has a prompt of its own")
	}
	if l.o.Prompt != "" {
		words = []string{l.o.Prompt}
	}
	if len(words) == 1 && looksLikeSubcommand(words[0]) {
		words[0] += " "
	}
	l.prompt = words
	return nil
}

// looksLikeSubcommand reports a prompt that some version could take for one of
// its subcommands, which it looks for behind "--" too.
func looksLikeSubcommand(prompt string) bool {
	return prompt != "" && prompt[0] != '-' && strings.Trim(prompt, "abcdefghijklmnopqrstuvwxyz-") == ""
}

func (l *launch) words() []string {
	words := l.args.Words()
	if len(l.prompt) > 0 {
		words = append(append(words, "--"), l.prompt...)
	}
	return words
}
