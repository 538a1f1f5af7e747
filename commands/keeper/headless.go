package keeper

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/missions"
)

// ForkVerb is the hidden verb of the process that keeps one background fork.
const ForkVerb = "keep-fork"

// ForkCommand is the keeper of one background fork. umbra fork run starts one for
// each, in a session of its own: what ends that command ends no agent.
func ForkCommand() *call.Verb {
	var o headlessOptions
	return &call.Verb{
		Name: ForkVerb, Args: "MISSION", Min: 1, Max: 1, Hidden: true,
		Short: "run the agent of a mission without a terminal, on the prompt that is still to be sent (called by umbra)",
		Flags: []flags.Flag{
			flags.Duration("timeout", "end the agent after `DURATION`", &o.timeout),
			flags.Int("starter", "begin no agent when the process `PID`, which waits for it, has ended", &o.starter),
			flags.String("prompt", "send it `TEXT`, and tell no parent how it ended", &o.prompt),
		},
		Run: func(c *call.Call) error {
			return keepHeadless(c, c.Arg(0), o)
		},
	}
}

type headlessOptions struct {
	timeout time.Duration
	starter int
	prompt  string // "" is the one that is kept for the agent
}

// keepHeadless launches a mission's agent without a terminal when it is its turn, and
// keeps it. An agent that has not begun is not begun any more when its starter, if it has
// one, has ended.
func keepHeadless(c *call.Call, mission string, o headlessOptions) error {
	// Who listens may have gone: that is no reason to die.
	c.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	c.Reach = call.Staying
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	launch, err := launchInTurn(ctx, c, svc, o.starter, missions.LaunchRequest{
		Caller: caller, Mission: mission, Resume: true, Headless: true, KeeperPID: os.Getpid(), Prompt: o.prompt, Passing: o.prompt != "",
		Variables: Variables{}.allNames(c),
	})
	if err != nil {
		return err
	}
	Announce(c, launch.Mission)
	limit := &timeLimit{}
	if o.timeout > 0 {
		defer time.AfterFunc(o.timeout, limit.pass).Stop()
	}
	tell := func(kind missions.UpdateKind, text string) {
		if o.prompt == "" {
			report(c, launch, kind, text)
		}
	}
	if err = keepAgent(c, svc, launch, Variables{}, limit); limit.isOver() {
		tell(missions.UpdateTimeout, fmt.Sprintf("It had %s. What it did until then is in the fork.", o.timeout))
		return missions.Errorf(missions.KindTimeout, "umbra mission resume "+launch.Mission.Name+" goes on", "%s was ended after %s", launch.Mission.Name, o.timeout)
	}
	if err != nil {
		return err
	}
	tell(missions.UpdateReport, "") // the answer
	return nil
}

// report queues what became of a fork for the agent of its parent. The agent has ended as it
// has, also where that can't be told.
func report(c *call.Call, launch missions.Launch, kind missions.UpdateKind, text string) {
	if err := queueReport(c, launch, kind, text); err != nil {
		c.Notice("note: its parent is not told how it ended: %s", missions.AsError(err).Message)
	}
}

// queueReport queues an update of a fork. The id of the launch says that it is of this end of
// the agent, however often it is told.
func queueReport(c *call.Call, launch missions.Launch, kind missions.UpdateKind, text string) error {
	svc, ctx := c.Connected(), context.Background() // what was answered counts, whoever interrupts
	caller, err := c.Caller()
	if err != nil {
		caller.Cwd = launch.Dir
	}
	m, err := svc.Mission(ctx, missions.MissionRequest{Caller: caller, Name: launch.Mission.ID})
	if err != nil || m.Parent == nil || m.CloseReason == missions.CloseReasonPromoted || m.PromptKept && kind == missions.UpdateReport {
		return err
	}
	_, err = svc.Report(ctx, missions.ReportRequest{Caller: caller, ID: launch.ID, Fork: m.ID, Kind: kind, Text: text})
	return err
}

// timeLimit ends the agent that a keeper has when its time is over. An agent that has
// ended in time has done so, however long its last snapshot takes.
type timeLimit struct {
	mu     sync.Mutex
	agent  *agent // that runs; nil before it and after it
	passed bool
	over   bool // an agent was ended
}

// pass says that the time is over.
func (l *timeLimit) pass() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.passed = true
	l.endAgent()
}

// holds says that this agent has started: its time may be over already.
func (l *timeLimit) holds(a *agent) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.agent = a
	l.endAgent()
}

// releases says that the agent has ended.
func (l *timeLimit) releases() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.agent = nil
}

// endAgent ends the agent if its time is over. The caller holds the lock.
func (l *timeLimit) endAgent() {
	if l.passed && l.agent != nil {
		l.over = true
		go l.agent.end()
	}
}

func (l *timeLimit) isOver() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over
}

const (
	// turnPause is how long a launch that must wait for its turn waits until it is tried
	// again. Of those with a starter one alone waits.
	turnPause = 500 * time.Millisecond
	// turnPauseAtMost is how long it becomes where nobody waits for the launch, and where
	// many may wait beside each other.
	turnPauseAtMost = 10 * time.Second
)

// launchInTurn is Launch, again and again while too many missions are live.
func launchInTurn(ctx context.Context, c *call.Call, svc missions.Launches, starter int, r missions.LaunchRequest) (missions.Launch, error) {
	pause, said := turnPause, false
	for {
		if starter != 0 && os.Getppid() != starter {
			return missions.Launch{}, missions.Errorf(missions.KindInterrupted, "umbra mission resume "+r.Mission, "the command that began it has ended")
		}
		launch, err := svc.Launch(ctx, r)
		if !missions.IsLiveLimit(err) {
			return launch, err
		}
		if !said {
			c.Notice("waits for its turn: %s", missions.AsError(err).Message)
			said = true
		}
		select {
		case <-ctx.Done():
			return launch, ctx.Err()
		case <-time.After(pause):
		}
		pause = nextPause(pause, starter)
	}
}

// nextPause is the pause of launchInTurn after this one.
func nextPause(pause time.Duration, starter int) time.Duration {
	if starter != 0 {
		return pause
	}
	return min(2*pause, turnPauseAtMost)
}

// withStreams is the world of an agent without a terminal: it reads nothing, and prints to
// a file, behind what an earlier run has printed there.
func withStreams(env call.Env, output string) (headless call.Env, closeAll func(), err error) {
	if err := os.MkdirAll(filepath.Dir(output), 0o700); err != nil {
		return env, nil, err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return env, nil, err
	}
	file, err := os.OpenFile(output, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return env, nil, errors.Join(err, null.Close())
	}
	env.Stdin, env.Stdout, env.Stderr = null, file, file
	return env, func() { _ = errors.Join(null.Close(), file.Close()) }, nil // the agent has written
}
