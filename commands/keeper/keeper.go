// Package keeper owns the terminal that an agent runs in: it launches the agent, hands it the
// terminal, reports its start and its end, and does what the Service says is next.
package keeper

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// Keep is the keeper: it launches a mission's agent with the terminal, reports
// its start and its end, and does what the Service says is next. The error is
// the agent's own exit code, or why it could not be started.
func Keep(c *call.Call, request missions.LaunchRequest, vars Variables) error {
	svc, _, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	request.KeeperPID, request.Variables = os.Getpid(), vars.allNames(c)
	launch, err := svc.Launch(ctx, request)
	if err != nil {
		return err
	}
	if request.Resume {
		Announce(c, launch.Mission)
	}
	return keepAgent(c, svc, launch, vars, &timeLimit{})
}

// keepAgent is keep from the first launch on.
func keepAgent(c *call.Call, svc missions.Launches, launch missions.Launch, vars Variables, limit *timeLimit) error {
	c.EndProgress()
	c.ReleaseSignals() // from here on signals are the agent's
	for {
		for _, note := range launch.Notes {
			c.Notice("note: %s", note)
		}
		code, agent, failed := runAgent(c, svc, launch, vars, limit)
		ended := missions.KeepRequest{
			ExitCode: code, Leaving: failed == nil && agent.isLeaving(), Idle: failed == nil && agent.wasIdle.Load(), Variables: vars.allNames(c),
		}
		if failed != nil {
			ended.ExitCode, ended.Failed = call.CodeBeforeAgent, failed.Error()
		}
		next, err := reportEnd(c, svc, launch, ended)
		for err == nil && next.Do == missions.DoWait {
			next, err = reportEnd(c, c.Connected(), launch, ended)
		}
		if err != nil {
			c.Notice("the end of the agent could not be noted: %s", missions.AsError(err).Message)
			return keptEnd(code, failed)
		}
		if next.Banner != "" {
			agent.reset()
			for _, line := range strings.Split("\n"+next.Banner, "\n") { // wherever the cursor was left
				c.Err.Line("%s", print.Clean(line))
			}
			_ = c.Err.Flush() // the agent is launched all the same
		}
		if next.Do != missions.DoRelaunch || next.Launch == nil {
			if next.Summary != "" {
				c.Notice("%s", next.Summary)
			}
			switch {
			case next.NotLaunched:
				code = call.CodeBeforeAgent
			case next.Unfinished:
				code = int(call.Partly)
			}
			return keptEnd(code, failed)
		}
		launch, svc = *next.Launch, c.Connected() // the Service may be another one by now
		agent.reset()
	}
}

// keptEnd is what a keeper ends with whose last agent has ended, or could not be started.
func keptEnd(code int, failed error) error {
	switch {
	case failed != nil:
		return call.BeforeAgent(failed)
	case code != 0:
		return call.Ended(code)
	}
	return nil
}

// runAgent starts the agent, waits for its end and returns its exit code. It fails, without
// an agent, if none was started.
func runAgent(c *call.Call, svc missions.Launches, launch missions.Launch, vars Variables, limit *timeLimit) (int, *agent, error) {
	if len(launch.Argv) == 0 {
		return 0, nil, missions.Errorf(missions.KindFailed, "umbra mission resume "+launch.Mission.Name+" -- COMMAND", "the mission has no command")
	}
	env := agentEnv(c, launch, vars)
	program, err := missions.LookPath(launch.Argv[0], launch.Dir, ValueOf(env, "PATH"))
	if err != nil {
		return 0, nil, err
	}
	notStarted := func(err error) (int, *agent, error) {
		return 0, nil, missions.Errorf(missions.KindFailed, "", "start %s: %w", launch.Argv[0], err)
	}
	world, closeStreams := c.Env, func() {}
	if launch.Output != "" {
		if world, closeStreams, err = withStreams(c.Env, launch.Output); err != nil {
			return 0, nil, fmt.Errorf("make the file for what the agent prints: %w", err)
		}
	}
	defer closeStreams()
	agent, err := startAgent(world, c.StopGroup, program, launch.Argv, launch.Dir, env, launch.Output != "")
	if err != nil {
		return notStarted(err)
	}
	limit.holds(agent)
	if agent.tty < 0 {
		c.HeedStops()
	}
	telling, tellNoMore := context.WithCancel(context.Background())
	defer tellNoMore()
	reported, over := make(chan error, 1), make(chan struct{})
	go func() { reported <- reportStart(telling, svc, launch, agent.pid(), over) }() // the agent need not wait for it
	if launch.TimeLimit > 0 {
		defer time.AfterFunc(launch.TimeLimit, agent.end).Stop()
	}
	if launch.LookIn > 0 {
		go attend(telling, svc, launch, agent)
	}
	code, err := agent.wait()
	limit.releases()
	close(over)
	defer time.AfterFunc(startPatience, tellNoMore).Stop()
	if rerr := <-reported; rerr != nil && telling.Err() == nil {
		c.Notice("the start of the agent could not be noted: %s", missions.AsError(rerr).Message)
	}
	if err != nil {
		return notStarted(err)
	}
	return code, agent, nil
}

const (
	// startAgain is how long a keeper waits before it tells again of the start of its
	// agent, and startAgainAtMost after it was in vain a few times.
	startAgain       = 100 * time.Millisecond
	startAgainAtMost = 10 * time.Second
	// startPatience is how long the answer to it is waited for when the agent has
	// ended. Whoever is too busy to answer has heard it, and hears of the end after it.
	startPatience = 2 * time.Second
)

// reportStart tells the Service that the agent has started, again and again while
// no daemon can be had, until its end is there to be told: several may stop one
// after the other, and of an agent whose start nobody has heard, none can be ended
// for a restore and launched again.
func reportStart(ctx context.Context, svc missions.Launches, launch missions.Launch, pid int, over <-chan struct{}) error {
	for pause := startAgain; ; pause = min(2*pause, startAgainAtMost) {
		_, err := svc.Keep(ctx, missions.KeepRequest{
			Mission: launch.Mission.ID, Launch: launch.ID, KeeperPID: os.Getpid(), AgentPID: pid,
		})
		if err == nil || missions.AsError(err).Kind != missions.KindNoDaemon {
			return err
		}
		select {
		case <-over:
			return err
		case <-time.After(pause):
		}
	}
}

// endPatience is how long the last snapshot of an agent may take before the
// keeper lets go. The journal finishes it.
const endPatience = 2 * time.Minute

// reportEnd tells the Service, here if no daemon can be had. A Ctrl-C too many,
// meant for the agent, does not end it; a second one does.
func reportEnd(c *call.Call, svc missions.Launches, launch missions.Launch, report missions.KeepRequest) (missions.KeepResult, error) {
	ctx, cancel := context.WithTimeout(context.Background(), endPatience)
	defer cancel()
	interrupts := make(chan os.Signal, 2)
	c.Notify(interrupts, os.Interrupt)
	defer c.Unnotify(interrupts)
	go func() {
		for range 2 {
			select {
			case <-interrupts:
			case <-ctx.Done():
				return
			}
		}
		cancel()
	}()
	defer c.EndProgress()
	caller, err := c.Caller()
	if err != nil {
		caller.Cwd = launch.Dir // its own directory is gone: nothing is resolved against it
	}
	report.Caller, report.Mission, report.Launch, report.KeeperPID, report.Ended = caller, launch.Mission.ID, launch.ID, os.Getpid(), true
	telling := c.Watched(ctx)
	next, err := svc.Keep(telling, report)
	if err == nil || c.NoDaemon && c.Reach == call.Alone || missions.AsError(err).Kind != missions.KindNoDaemon {
		return next, err
	}
	if err := c.Close(); err != nil {
		return next, err
	}
	c.NoDaemon, c.Reach = true, call.Alone
	if svc, err = c.Service(); err != nil {
		return next, err
	}
	return svc.Keep(telling, report)
}

// agentEnv is the keeper's own environment without what the launch takes out of
// it, then what the user gave, then what Umbra needs; of equal names the last one
// counts. PWD is where the agent runs, and not where its keeper does: some agents
// work where that says.
func agentEnv(c *call.Call, launch missions.Launch, vars Variables) []string {
	env := slices.DeleteFunc(slices.Clone(c.Environ()), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(launch.Unset, name)
	})
	if !sameDir(ValueOf(env, "PWD"), launch.Dir) { // else the user's own name of the directory stays
		env = append(env, "PWD="+launch.Dir)
	}
	env = append(env, vars.List...)
	if c.NoDaemon { // for the hooks beneath it too
		env = append(env, "UMBRA_NO_DAEMON=1")
	}
	for name, value := range launch.Env {
		env = append(env, name+"="+value)
	}
	return env
}

func sameDir(a, b string) bool {
	one, err := os.Stat(a)
	other, otherErr := os.Stat(b)
	return err == nil && otherErr == nil && os.SameFile(one, other)
}

// ValueOf is the last value of a variable.
func ValueOf(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if kv := env[i]; len(kv) > len(name) && kv[len(name)] == '=' && kv[:len(name)] == name {
			return kv[len(name)+1:]
		}
	}
	return ""
}

// Identity is how a new mission is announced: what scripts cut apart.
func Identity(m missions.Mission) string { return m.ID + " " + m.Name }

// Announce says which mission begins, before the agent has the terminal. It is
// no notice: --quiet does not drop it.
func Announce(c *call.Call, m missions.Mission) {
	c.Err.Line("%s", print.Clean(Identity(m)))
	_ = c.Err.Flush() // nobody is left to tell
}
