package forks

import (
	"context"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/missions"
)

// run is one `umbra fork run` that waits for its forks.
type run struct {
	c       *call.Call
	svc     missions.Service
	caller  missions.Caller
	made    missions.ForkResult
	keepers keepers
	timeout time.Duration

	forks   []*background // in their order
	started int
	stopped bool // by the user
}

// background is one fork of a run.
type background struct {
	mission missions.Mission // as it was made
	cmd     *exec.Cmd        // its keeper, nil before it was started
	said    string           // by its keeper: why it ends, else the last line
	begun   time.Time        // its agent; zero if it has not
	ended   bool
	outcome Outcome
}

// all starts the keepers in their order, each when the one before has launched its agent
// or has ended, and reports each end. So one alone waits for its turn.
func (r *run) all() error {
	for _, m := range r.made.Missions {
		o := Outcome{Mission: m.Name, ID: m.ID, Workspace: m.Workspace, Ended: EndedNotBegun, PromptKept: true}
		r.forks = append(r.forks, &background{mission: m, outcome: o})
	}
	heard, interrupted := newMailbox(), r.c.Context.Done()
	var impatient <-chan time.Time // nil before the user has interrupted
	for {
		r.startNext(heard)
		if !r.living() && (r.stopped || r.started == len(r.forks)) {
			return r.report()
		}
		select {
		case <-heard.more:
			for _, e := range heard.takeAll() {
				r.take(e)
			}
		case <-interrupted:
			interrupted, impatient, r.stopped = nil, time.After(stopPatience), true
			r.terminate()
		case <-impatient:
			r.stop()
		}
	}
}

// startNext starts the next keeper if none waits for its agent's launch.
func (r *run) startNext(heard *mailbox) {
	for !r.stopped && r.started < len(r.forks) {
		if r.started > 0 {
			if last := r.forks[r.started-1]; last.begun.IsZero() && !last.ended {
				return
			}
		}
		b := r.forks[r.started]
		r.started++
		var err error
		if b.cmd, err = r.keepers.start(b.mission, heard); err == nil {
			return
		}
		b.ended, b.said = true, err.Error()
		r.finish(b, call.CodeBeforeAgent, r.c.Now())
	}
}

// living reports whether a keeper has not ended.
func (r *run) living() bool {
	for _, b := range r.forks[:r.started] {
		if !b.ended {
			return true
		}
	}
	return false
}

// errorPrefix begins the line in which a command of Umbra's says why it ends.
const errorPrefix = "umbra: "

// take takes in what a keeper says. Its first words of its mission's id say that it has
// launched the agent, which prints elsewhere.
func (r *run) take(e keeperEvent) {
	for _, b := range r.forks {
		switch {
		case b.mission.ID != e.mission:
		case e.ended:
			b.ended = true
			r.finish(b, e.code, e.at)
		case b.begun.IsZero() && strings.HasPrefix(e.line, b.mission.ID+" "):
			b.begun, b.said = e.at, ""
			r.c.Notice("%s has begun", b.mission.Name)
		default:
			b.hear(e.line)
			if b.begun.IsZero() {
				r.c.Notice("%s %s%s", b.mission.Name, e.line, r.afterThis())
			} else if strings.HasPrefix(e.line, "note: ") {
				r.c.Notice("%s: %s", b.mission.Name, e.line)
			}
		}
	}
}

// hear remembers a line of the keeper. A hint comes after the error that counts.
func (b *background) hear(line string) {
	if !strings.HasPrefix(b.said, errorPrefix) {
		b.said = line
	}
}

// afterThis counts the forks that have not been started yet.
func (r *run) afterThis() string {
	switch n := len(r.forks) - r.started; n {
	case 0:
		return ""
	case 1:
		return "; 1 more comes after it"
	default:
		return "; " + missions.Itoa(n) + " more come after it"
	}
}

// stopPatience is how long agents have to end after Ctrl-C.
const stopPatience = 5 * time.Second

// terminate ends the keepers that wait for their turn, and the agents of the others,
// which their keepers pass it on to.
func (r *run) terminate() {
	for _, b := range r.forks[:r.started] {
		if !b.ended {
			_ = b.cmd.Process.Signal(syscall.SIGTERM) // one that has ended since is heard of
		}
	}
}

// stop ends the agents that are still there, as umbra mission stop does.
func (r *run) stop() {
	ctx := context.WithoutCancel(r.c.Context)
	for _, b := range r.forks[:r.started] {
		if b.ended {
			continue
		}
		_, err := r.svc.Stop(ctx, missions.StopRequest{Caller: r.caller, Missions: []string{b.mission.ID}})
		if err != nil {
			r.c.Notice("note: the agent of %s could not be ended: %s", b.mission.Name, missions.AsError(err).Message)
		}
	}
}
