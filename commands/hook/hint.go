package hook

import (
	"context"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/payload"
	"github.com/umbra-vcs/umbra/commands/version"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/events"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/watcher/client"
)

// isHint tells the command line of an editor or of Git: umbra hook vim save FILE….
func isHint(args []string) bool {
	return len(args) >= 3 && args[0] == "hook" && events.GivesHints(args[1]) && !strings.HasPrefix(args[2], "-")
}

// hintRequest is a hint as the Service takes it.
func hintRequest(caller missions.Caller, name, event string, files []string) missions.HookRequest {
	return missions.HookRequest{Caller: caller, Agent: name, Event: event, Payload: []byte(strings.Join(files, "\x00"))}
}

// hintTime is how long a hint may take where somebody serves, who goes on with the
// snapshot all the same: Git waits for it, and an editor does not.
func hintTime(name string) time.Duration {
	if name == "git" {
		return payload.Budget
	}
	return payload.PromptBudget
}

// askHint hands a hint in to the process that serves the home.
func askHint(env call.Env, home home.Home) error {
	caller, err := env.Caller()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), hintTime(env.Args[1]))
	defer cancel()
	_, err = client.Hook(ctx, client.Options{Home: home, Version: version.Current()}, hintRequest(caller, env.Args[1], env.Args[2], env.Args[3:]))
	return err // what goes wrong with the snapshot is in the log
}

// hint is umbra hook for an editor or Git where nobody serves the home: no daemon
// is started for it, nor a home made.
func hint(c *call.Call) error {
	if c.Arg(1) == "" {
		return missions.Errorf(missions.KindUsage, "umbra hook "+c.Arg(0)+" EVENT [FILE…]", "what happened is missing")
	}
	dir, err := c.HomeDir()
	if err != nil {
		return err
	}
	served, well := home.Find(dir)
	if !well {
		return nil // there is no mission anywhere
	}
	caller, err := c.Caller()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(c.Context, payload.Budget-c.Now().Sub(c.Began))
	defer cancel()
	c.Context, c.Heeded = ctx, true
	if c.NoDaemon, c.Reach = true, call.Joining; c.Hangs || served.Hangs() {
		c.Reach = call.Alone
	}
	request := hintRequest(caller, c.Arg(0), c.Arg(1), c.Arguments[2:])
	request.Alone = true
	result, err := Send(c, request)
	if err == nil && strict(c) {
		err = problemOf(result)
	}
	return err
}
