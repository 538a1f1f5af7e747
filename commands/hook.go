package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/events"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/presence"
	"github.com/umbra-vcs/umbra/watcher/client"
)

type hookOptions struct{ event string }

// The most that a hook reads, and how long it may take: an agent waits for it.
const (
	mostPayload  = 64 << 20
	promptBudget = 10 * time.Second
	hookBudget   = 2 * time.Second
)

func hookCommand() *verb {
	var o hookOptions
	return &verb{
		name: "hook", args: "AGENT [EVENT [FILE…]]", min: 1, max: -1, short: "take one event of an agent on stdin (called by the agent)",
		long: "AGENT is claude, codex, gemini or opencode; any other tool calls it with generic\n(docs/agents/generic.md says with what). Prints what the agent expects. Exits 0\nwhatever happens, so that Umbra never breaks an agent; what went wrong is in umbra status.\n\nEditors and Git call it with an EVENT, and nothing on stdin: umbra hook vim save\nFILE…, umbra hook git post-commit. A snapshot is taken of the mission that works\nthere, if there is one.",
		flags: []cli.Flag{
			&cli.StringFlag{Name: "event", Usage: "the event's `NAME`, where stdin does not say it", Destination: &o.event},
			&cli.BoolFlag{Name: "strict", Usage: "print errors and exit with their code (for trying out)"},
		},
		run: func(c *call) error { return runHook(c, o) },
	}
}

// failsOpen tells a hook that an agent called: whatever is wrong, also with its
// command line, the agent goes on.
func (in invocation) failsOpen(args []string) bool {
	return len(in.path) > 0 && in.path[0] == "hook" && !slices.Contains(args, "--strict")
}

// noteHook leaves what went wrong in a hook in the log, if there is a home.
func noteHook(env Env, globals Globals, err error) {
	dir, herr := globals.homeDir(env)
	if herr != nil {
		return
	}
	file := &logFile{name: home.Home{Dir: dir}.LogFile()}
	defer file.Close()
	slog.New(slog.NewTextHandler(file, nil)).Warn("hook", "error", missions.AsError(err).Message, "args", env.Args)
}

// quickHook is the usual way of a hook: one question over the socket before
// anything of a command line is set up, since the agent waits; --strict alone
// changes nothing of the way, so that it can be tried out. It reports false
// where that is not enough, with the environment from which Run goes on.
func quickHook(env Env) (code int, next Env, done bool) {
	defer func() {
		if r := recover(); r != nil { // a fault in Umbra is none of the agent's
			noteHook(env, Globals{}, missions.Errorf(missions.KindFailed, "", "umbra hook: %v", r))
			code, next, done = 0, env, true
		}
	}()
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
	env.began = env.Now()
	if hint {
		err = askHint(env, home)
	} else {
		var payload []byte
		if payload, err = readPayload(context.Background(), env.Stdin); err == nil {
			err = askHook(env, home, payload, strict)
		}
		env.Stdin = bytes.NewReader(payload)
	}
	if errors.Is(err, client.ErrUndone) {
		env.hangs = errors.Is(err, client.ErrHangs)
		return 0, env, false
	}
	if strict {
		return report(env, Globals{}, err), env, true
	}
	if err != nil {
		noteHook(env, Globals{}, err)
	}
	return 0, env, true
}

// askHook hands an event in and prints what the agent expects.
func askHook(env Env, home home.Home, payload []byte, strict bool) error {
	caller, err := callerOf(env)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), hookTime(env.Args[1], "", payload)-env.Now().Sub(env.began))
	defer cancel()
	result, err := client.Hook(ctx, client.Options{Home: home, Version: version()},
		missions.HookRequest{Caller: caller, Agent: env.Args[1], Payload: payload, AgentPID: presence.FindAgentProcess(env.Args[1], caller, os.Getppid())})
	if werr := answerHook(env, env.Args[1], result); err == nil {
		err = werr
	}
	if err == nil && strict {
		err = problemOf(result)
	}
	return err
}

// answerHook prints what the agent expects.
func answerHook(env Env, agent string, r missions.HookResult) error {
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

func runHook(c *call, o hookOptions) (err error) {
	defer func() {
		if r := recover(); r != nil { // a fault in Umbra is none of the agent's
			err = missions.Errorf(missions.KindFailed, "", "umbra hook: %v", r)
		}
	}()
	return c.hook(o)
}

func (c *call) strict() bool { return slices.Contains(c.Args, "--strict") }

func (c *call) hook(o hookOptions) error {
	c.Quiet = true
	c.progress.quiet = true
	if c.began.IsZero() {
		c.began = c.Now()
	}
	if events.GivesHints(c.arg(0)) {
		return c.hint()
	}
	if len(c.args) > 1 {
		return missions.Errorf(missions.KindUsage, "give the event on stdin", "umbra hook %s takes no more arguments: %s", c.arg(0), strings.Join(c.args[1:], " "))
	}
	payload, err := readPayload(c.ctx, c.Stdin)
	if err != nil {
		return err
	}
	caller, err := c.caller()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.ctx, hookTime(c.arg(0), o.event, payload)-c.Now().Sub(c.began))
	defer cancel()
	c.ctx = ctx
	c.heeded = true
	if c.reach = joining; c.hangs {
		c.NoDaemon, c.reach = true, alone
	}
	request := missions.HookRequest{Caller: caller, Agent: c.arg(0), Event: o.event, Payload: payload, AgentPID: presence.FindAgentProcess(c.arg(0), caller, os.Getppid())}
	result, err := c.sendHook(request)
	if err != nil && c.reach == joining && missions.AsError(err).Kind == missions.KindNoDaemon && c.ctx.Err() == nil {
		// What the time allows is done here.
		c.NoDaemon, c.reach = true, alone
		if err := c.close(); err != nil {
			return err
		}
		result, err = c.sendHook(request)
	}
	if result.Asked != nil { // it is carried out as by a process of its own
		if cerr := c.close(); err == nil {
			err = cerr
		}
	}
	if werr := answerHook(c.Env, c.arg(0), result); err == nil {
		err = werr
	}
	if err == nil && c.strict() { // it is in the log already
		err = problemOf(result)
	}
	return err
}

func (c *call) sendHook(r missions.HookRequest) (missions.HookResult, error) {
	svc, err := c.service()
	if err != nil {
		return missions.HookResult{}, err
	}
	return svc.Hook(c.ctx, r)
}

// readPayload reads the event. The read itself can't be interrupted; it is left
// behind if the context ends.
func readPayload(ctx context.Context, r io.Reader) ([]byte, error) {
	type read struct {
		p   []byte
		err error
	}
	done := make(chan read, 1)
	go func() {
		p, err := io.ReadAll(io.LimitReader(r, mostPayload+1))
		done <- read{p, err}
	}()
	ctx, cancel := context.WithTimeout(ctx, promptBudget)
	defer cancel()
	var got read
	select {
	case got = <-done:
	case <-ctx.Done():
		return nil, missions.Errorf(missions.KindTimeout, "give the event on stdin", "no event came on stdin")
	}
	switch {
	case got.err != nil:
		return nil, fmt.Errorf("read the event: %w", got.err)
	case len(got.p) == 0:
		return nil, missions.Errorf(missions.KindUsage, "give the event on stdin", "the event is empty")
	case len(got.p) > mostPayload:
		return nil, missions.Errorf(missions.KindUsage, "", "the event is over %s", size(mostPayload))
	}
	return got.p, nil
}

// hookTime is how long the event may take: a prompt waits for its snapshot. The
// name is looked for and no more: the adapter reads the event.
func hookTime(agent, event string, payload []byte) time.Duration {
	head := payload[:min(len(payload), 1<<20)]
	names := []string{"UserPromptSubmit", "BeforeAgent"} // the latter is Gemini CLI's
	if agent == "generic" {
		names = []string{"prompt"}
	}
	for _, name := range names {
		if event == name || event == "" && bytes.Contains(head, []byte(`"`+name+`"`)) {
			return promptBudget
		}
	}
	return hookBudget
}
