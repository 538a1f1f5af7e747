package status

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/hook"
	"github.com/umbra-vcs/umbra/commands/payload"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/commands/version"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/watcher/client"
)

// An agent's status line is asked for like a hook's answer, with the agent's
// JSON on stdin.
const (
	statusLineAgent = "claude"
	statusLineEvent = "StatusLine"
)

// How long a status line waits for its stdin, where that is no terminal, and for
// its answer: it is drawn again and again.
const (
	statusLineInput  = 300 * time.Millisecond
	statusLineBudget = time.Second
)

// QuickStatusLine is the usual way of an agent's status line: one question over
// the socket, before anything of a command line is set up. It reports false where
// that is not enough, with the environment from which Run goes on.
func QuickStatusLine(env call.Env) (code int, next call.Env, done bool) {
	if len(env.Args) != 2 || env.Args[0] != "status" || env.Args[1] != "--statusline" || env.IsTerminal(env.Stdin) {
		return 0, env, false
	}
	event, r, ok := statusLineRequest(env)
	env.Stdin = bytes.NewReader(event)
	if !ok {
		return 0, env, false
	}
	dir, err := home.DefaultDir(env.Getenv)
	if err != nil {
		return 0, env, false
	}
	home, well := home.Find(dir)
	if !well {
		return 0, env, false
	}
	ctx, cancel := context.WithTimeout(context.Background(), statusLineBudget)
	defer cancel()
	result, err := client.Hook(ctx, client.Options{Home: home, Version: version.Current()}, r)
	if errors.Is(err, client.ErrUndone) {
		return 0, env, false
	}
	if err != nil { // the agent shows an empty line
		return call.Report(env, call.Globals{}, err), env, true
	}
	p := call.Globals{Color: "auto"}.Printer(env, env.Stdout)
	writeStatusLine(p, result.StatusLine)
	_ = p.Flush() // nobody would see what is wrong
	return 0, env, true
}

// statusLineRequest reads what an agent gives the command of its status line; it
// is false where stdin holds nothing of the kind.
func statusLineRequest(env call.Env) (event []byte, r missions.HookRequest, ok bool) {
	ctx, cancel := context.WithTimeout(context.Background(), statusLineInput)
	defer cancel()
	event, err := payload.Read(ctx, env.Stdin)
	if err != nil || !bytes.HasPrefix(bytes.TrimSpace(event), []byte("{")) {
		return event, r, false
	}
	caller, err := env.Caller()
	return event, missions.HookRequest{Caller: caller, Agent: statusLineAgent, Event: statusLineEvent, Payload: event}, err == nil
}

// agentStatusLine is the line without a daemon: none is started for it.
func agentStatusLine(c *call.Call, r missions.HookRequest) error {
	c.NoDaemon, c.Reach = true, call.Alone
	ctx, cancel := context.WithTimeout(c.Context, statusLineBudget)
	defer cancel()
	c.Context = ctx
	result, err := hook.Send(c, r)
	if err != nil {
		return err
	}
	return c.Print(result.StatusLine, func(p *print.Printer) { writeStatusLine(p, result.StatusLine) })
}

// notSaving says in few words that no snapshots are taken, and why.
func notSaving(p *print.Printer, why string) string {
	return p.Paint(print.Red, "not saving: "+print.Clean(why))
}

// newestAt is the address of a mission's newest snapshot, or the turn where that is
// not known.
func newestAt(address, mission string, turn int) string {
	if address == "" {
		address = mission + "@" + strconv.Itoa(turn)
	}
	return print.Clean(address)
}

// writeStatusLine tells the last snapshot of the mission, when that was taken, and
// what is to be known; nothing of a session that is no mission's.
func writeStatusLine(p *print.Printer, s *missions.StatusLine) {
	if s == nil {
		return
	}
	parts := []string{newestAt(s.Address, s.Mission, s.Turn), "saved " + print.Age(p.Now.Sub(s.Snapshot))}
	if s.ForkOf != "" {
		parts = append(parts, "side fork of "+print.Clean(s.ForkOf))
	}
	if s.Stopped != "" {
		parts = append(parts, notSaving(p, s.Stopped))
	}
	if s.State == missions.StateWaiting || s.State == missions.StateError {
		parts = append(parts, string(s.State))
	}
	if s.Action != "" {
		parts = append(parts, "queued: "+print.Clean(s.Action))
	}
	if !s.Ends.IsZero() {
		parts = append(parts, p.Paint(print.Yellow, "idle: ends at "+s.Ends.Local().Format("15:04")))
	}
	if s.Problems > 0 {
		parts = append(parts, print.Count(s.Problems, "problem")+": umbra status")
	}
	p.Line("%s", strings.Join(parts, " · "))
}
