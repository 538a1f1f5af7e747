// Package hook takes events of agents, and hints of editors and Git, on the way that they
// wait for: fast, and whatever is wrong with Umbra, theirs goes on.
package hook

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/connect"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/payload"
	"github.com/umbra-vcs/umbra/commands/plugin"
	"github.com/umbra-vcs/umbra/commands/version"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/events"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/missions/worktrees"
	"github.com/umbra-vcs/umbra/watcher/client"
)

type hookOptions struct {
	event  string
	plugin bool
}

func Command() *call.Verb {
	var o hookOptions
	return &call.Verb{
		Name: "hook", Args: "AGENT [EVENT [FILE…]]", Min: 1, Max: -1, Short: "take one event of an agent on stdin (called by the agent)",
		Long: `AGENT is claude, codex, gemini, opencode, pi, copilot or qwen; any other tool calls it with generic
(docs/agents/generic.md says with what). Prints what the agent expects. Exits 0
whatever happens, so that Umbra never breaks an agent; what went wrong is in umbra status.

Editors and Git call it with an EVENT, and nothing on stdin: umbra hook vim save
FILE…, umbra hook git post-commit. A snapshot is taken of the mission that works
there, if there is one.`,
		Flags: []flags.Flag{
			flags.String("event", "the event's `NAME`, where stdin does not say it", &o.event),
			flags.Bool("strict", "print errors and exit with their code (for trying out)", nil),
			flags.Bool("plugin", "called by a plugin: do nothing where the agent's settings call umbra too", &o.plugin),
		},
		Run: func(c *call.Call) error { return runHook(c, o) },
	}
}

// Note leaves what went wrong in a hook in the log, if there is a home.
func Note(env call.Env, globals call.Globals, err error) {
	dir, herr := globals.HomeDir(env)
	if herr != nil {
		return
	}
	file := &connect.LogFile{Name: home.Home{Dir: dir}.LogFile()}
	defer file.Close()
	slog.New(slog.NewTextHandler(file, nil)).Warn("hook", "error", missions.AsError(err).Message, "args", env.Args)
}

// Quick is the usual way of a hook: one question over the socket before
// anything of a command line is set up, since the agent waits; --strict alone
// changes nothing of the way, so that it can be tried out. It reports false
// where that is not enough, with the environment from which Run goes on.
func Quick(env call.Env) (code int, next call.Env, done bool) {
	defer func() {
		if r := recover(); r != nil { // a fault in Umbra is none of the agent's
			Note(env, call.Globals{}, missions.Errorf(missions.KindFailed, "", "umbra hook: %v", r))
			code, next, done = 0, env, true
		}
	}()
	var event []byte
	var unread error // why that could not be read
	read := false
	if len(env.Args) > 1 && env.Args[0] == "hook" && isWorktreeCall(env.Args) && worktrees.MayAsk(env.Args[1]) {
		read = true
		if event, unread = payload.Read(context.Background(), env.Stdin); unread == nil {
			if asked, ok := worktrees.InEvent(env.Args[1], event); ok {
				return answerWorktree(env, asked, event), env, true
			}
		}
		env.Stdin = bytes.NewReader(event)
	}
	if len(env.Args) == 3 && env.Args[2] == "--plugin" {
		if plugin.HasOtherHooks(env, env.Args[1]) {
			_, _ = payload.Read(context.Background(), env.Stdin) // the agent may take a closed pipe for a failure
			return 0, env, true
		}
		env.Args = env.Args[:2]
	}
	strict := len(env.Args) == 3 && env.Args[2] == "--strict"
	hint := isHint(env.Args)
	if len(env.Args) != 2 && !strict && !hint || env.Args[0] != "hook" || strings.HasPrefix(env.Args[1], "-") {
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
	env.Began = env.Now()
	if hint {
		err = askHint(env, home)
	} else {
		if !read {
			event, unread = payload.Read(context.Background(), env.Stdin)
		}
		if err = unread; err == nil {
			err = askHook(env, home, event, strict)
		}
		env.Stdin = bytes.NewReader(event)
	}
	if errors.Is(err, client.ErrUndone) {
		env.Hangs = errors.Is(err, client.ErrHangs)
		return 0, env, false
	}
	if strict {
		return call.Report(env, call.Globals{}, err), env, true
	}
	if err != nil {
		Note(env, call.Globals{}, err)
	}
	return 0, env, true
}

// askHook hands an event in and prints what the agent expects.
func askHook(env call.Env, home home.Home, event []byte, strict bool) error {
	caller, err := env.Caller()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), payload.Time(env.Args[1], "", event)-env.Now().Sub(env.Began))
	defer cancel()
	result, err := client.Hook(ctx, client.Options{Home: home, Version: version.Current()},
		missions.HookRequest{Caller: caller, Agent: env.Args[1], Payload: event, AgentPID: presence.FindAgentProcess(env.Args[1], caller, os.Getppid())})
	if werr := answerHook(env, env.Args[1], result); err == nil {
		err = werr
	}
	if err == nil && strict {
		err = problemOf(result)
	}
	return err
}

// answerHook prints what the agent expects.
func answerHook(env call.Env, agent string, r missions.HookResult) error {
	if r.Asked != nil {
		return answerAsked(env, agent, r)
	}
	if len(r.Output) == 0 {
		return nil
	}
	_, err := env.Stdout.Write(r.Output)
	return err
}

// problemOf is what went wrong with an event that was heard, as --strict tells it.
func problemOf(r missions.HookResult) error {
	if r.Problem == "" {
		return nil
	}
	return missions.Errorf(missions.KindFailed, "umbra status", "%s", r.Problem)
}

func runHook(c *call.Call, o hookOptions) (err error) {
	defer func() {
		if r := recover(); r != nil { // a fault in Umbra is none of the agent's
			err = missions.Errorf(missions.KindFailed, "", "umbra hook: %v", r)
		}
	}()
	return hook(c, o)
}

// homeOf is the home as a hook needs it, the zero Home if there is none.
func homeOf(env call.Env, globals call.Globals) home.Home {
	dir, err := globals.HomeDir(env)
	if err != nil {
		return home.Home{}
	}
	found, _ := home.Find(dir)
	return found
}

func strict(c *call.Call) bool { return slices.Contains(c.Args, "--strict") }

func hook(c *call.Call, o hookOptions) error {
	c.Silence()
	if o.plugin && plugin.HasOtherHooks(c.Env, c.Arg(0)) {
		return nil
	}
	if c.Began.IsZero() {
		c.Began = c.Now()
	}
	if events.GivesHints(c.Arg(0)) {
		return hint(c)
	}
	if len(c.Arguments) > 1 {
		return missions.Errorf(missions.KindUsage, "give the event on stdin", "umbra hook %s takes no more arguments: %s",
			c.Arg(0), strings.Join(c.Arguments[1:], " "))
	}
	event, err := payload.Read(c.Context, c.Stdin)
	if err != nil {
		return err
	}
	caller, err := c.Caller()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Context, payload.Time(c.Arg(0), o.event, event)-c.Now().Sub(c.Began))
	defer cancel()
	c.Context = ctx
	c.Heeded = true
	served := homeOf(c.Env, c.Globals)
	if c.Reach = call.Joining; c.Hangs || served.Hangs() {
		c.NoDaemon, c.Reach = true, call.Alone
	}
	agent := c.Arg(0)
	request := missions.HookRequest{
		Caller: caller, Agent: agent, Event: o.event, Payload: event,
		AgentPID: presence.FindAgentProcess(agent, caller, os.Getppid()),
	}
	result, err := Send(c, request)
	if err != nil && c.Reach == call.Joining && missions.AsError(err).Kind == missions.KindNoDaemon && c.Context.Err() == nil {
		// What the time allows is done here.
		if errors.Is(err, client.ErrHangs) {
			served.NoteHang()
		}
		c.NoDaemon, c.Reach = true, call.Alone
		result, err = Send(c, request)
	}
	if werr := answerHook(c.Env, c.Arg(0), result); err == nil {
		err = werr
	}
	if err == nil && strict(c) { // it is in the log already
		err = problemOf(result)
	}
	return err
}

// Send hands an event to the Service. It comes to its end some time after the
// context at the latest: a system call may hang, as on a network's disk, in the Service
// or while it is closed, and that is left behind with this process.
func Send(c *call.Call, r missions.HookRequest) (missions.HookResult, error) {
	own := *c // is the goroutine's alone
	var result missions.HookResult
	ended := make(chan error, 1)
	go func() { ended <- serveHook(&own, r, &result) }()
	select {
	case err := <-ended:
		return result, err
	case <-c.Context.Done():
	}
	select {
	case err := <-ended:
		return result, err
	case <-time.After(hookGrace):
		return missions.HookResult{}, missions.Errorf(missions.KindTimeout, "umbra status", "the time for this hook is over, and something in it hangs")
	}
}

// hookGrace is how long a hook whose time is over has to end well.
const hookGrace = time.Second

// serveHook makes the call, and closes what it was made of.
func serveHook(c *call.Call, r missions.HookRequest, result *missions.HookResult) (err error) {
	defer func() {
		if r := recover(); r != nil { // a fault in Umbra is none of the agent's
			err = missions.Errorf(missions.KindFailed, "", "umbra hook: %v", r)
		}
	}()
	svc, err := c.Service()
	if err != nil {
		return err
	}
	*result, err = svc.Hook(c.Context, r)
	if cerr := c.Close(); err == nil {
		err = cerr
	}
	return err
}
