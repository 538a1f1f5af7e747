package qwen

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/cmdline"
	"github.com/umbra-vcs/umbra/sessions/hooks"
)

var (
	// pickers choose the conversation: they go when Umbra does.
	pickers   = []string{"--resume", "--continue", "--session-id", "--fork-session"}
	prompting = []string{"--prompt", "--prompt-interactive"}
	// subcommands run no session, and neither does qwen with the options of talkless, or
	// none that is asked for on the command line.
	subcommands = []string{"auth", "board", "channel", "extensions", "hooks", "mcp", "review", "sandbox", "serve", "sessions", "update"}
	talkless    = []string{"--list-extensions", "--version", "--help", "--acp", "--experimental-acp"}
	// unhooked are options under which no hook runs.
	unhooked = []string{"--bare", "--safe-mode"}
)

// worktree has the client make one, and work there.
const worktree = "--worktree"

// Launch is the command line that starts or resumes Qwen Code. What the user's command says
// about which conversation to open gives way to a resumption, and so does its prompt, unless
// the command is fresh: it was sent long ago.
func (a Adapter) Launch(o sessions.Launch) (sessions.Command, error) {
	at := programIndex(o.Command)
	if at < 0 {
		return sessions.Command{}, fmt.Errorf("%q does not start Qwen Code", strings.Join(o.Command, " "))
	}
	if (o.Resume || o.SessionID != "") && !sessions.IsUUID(o.SessionID) {
		return sessions.Command{}, fmt.Errorf("session %q: not a session id", o.SessionID)
	}
	l := launch{a: a, o: o, args: grammar().Parse(o.Command[at+1:])}
	if word := l.args.Subcommand(subcommands, talkless); word != "" {
		return sessions.Command{Argv: slices.Clone(o.Command), Why: fmt.Sprintf("qwen %s runs no session", word)}, nil
	}
	if !o.Resume && l.args.Has(worktree) {
		// The session would be in that directory's store, and what it writes in no snapshot.
		return sessions.Command{}, errors.New("--worktree: Qwen Code would work outside of the mission's workspace; umbra fork makes one of its own, or begin a mission in a worktree that is there")
	}
	l.pickSession()
	if err := l.takePrompt(); err != nil {
		return sessions.Command{}, err
	}
	if o.Config != nil {
		l.cmd.Unconfigured = "Qwen Code reads it where its sessions and credentials are, and nowhere else"
	}
	l.addHooks()
	if len(o.Server.Command) > 0 && !l.args.Has("--mcp-config") { // it takes one
		l.args = l.args.First("--mcp-config", hooks.ServerConfig(o.Server.Command))
	}
	l.cmd.Argv = slices.Concat(o.Command[:at+1], l.args.Words())
	return l.cmd, nil
}

type launch struct {
	a    Adapter
	o    sessions.Launch
	args cmdline.Arguments
	cmd  sessions.Command
}

// pickSession resumes the session, or gives a new one its id if the user's command leaves it
// open. One that was begun already can't be begun again.
func (l *launch) pickSession() {
	id := l.o.SessionID
	if l.o.Resume {
		l.args = l.args.Without(pickers...).Without(worktree).First("--resume", id)
		l.cmd.SessionID = id
		return
	}
	for _, a := range l.args {
		if !slices.Contains(pickers, a.Name) {
			continue
		}
		if len(a.Values) > 0 && sessions.IsUUID(a.Values[0]) && !l.args.Has("--fork-session") {
			l.cmd.SessionID = a.Values[0]
		}
		return // else the client chooses one
	}
	if _, err := os.Lstat(l.a.Path(l.o.Env, l.o.Dir, id)); id != "" && err != nil {
		l.args = l.args.First("--session-id", id)
		l.cmd.SessionID = id
	}
}

// takePrompt puts the mission's prompt where the command has its own: with the option, or
// else as the first of several. A positional word is a prompt without a terminal.
func (l *launch) takePrompt() error {
	words := l.args.Positionals()
	own := len(words) > 0 || slices.ContainsFunc(l.args, func(a cmdline.Argument) bool {
		return slices.Contains(prompting, a.Name) && strings.Join(a.Values, "") != ""
	})
	kept := l.o.Fresh || !l.o.Resume && !l.o.Again // the command's own prompt is still to be sent
	switch {
	case kept && l.o.Prompt == "":
		return nil
	case kept && own:
		return errors.New("the command has a prompt of its own")
	}
	option := "--prompt-interactive"
	if isHeadless(l.args) {
		option = "--prompt"
	}
	l.args = l.args.Without(append(slices.Clone(prompting), "")...)
	if l.o.Prompt != "" {
		l.args = l.args.First(option + "=" + l.o.Prompt) // joined: it may begin with a dash
	}
	return nil
}
