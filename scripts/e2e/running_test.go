package e2e

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/scripts/clients"
	"github.com/umbra-vcs/umbra/scripts/patience"
	"github.com/umbra-vcs/umbra/scripts/standin"
)

// TestForkWhileRunning asks for a fork in the middle of a turn: it waits, says
// for what, and has the turn's end. One that does not wait has the turn before.
func TestForkWhileRunning(t *testing.T) {
	t.Parallel()
	p := newPerson(t, clients.ClaudeCurrent)
	k := p.newTalk("m")
	k.say("alpha")

	prompt, lines := k.prompt("bravo")
	held := strings.Replace(prompt, "[[say", "[[wait model]] [[say", 1)
	lines[0] = "user: " + held
	turn := p.start(append([]string{"mission", "resume", "m"}, args(held)...)...)
	ctx, cancel := context.WithTimeout(context.Background(), patience.Of(5*time.Minute))
	defer cancel()
	lastStep := func(r standin.Request) bool {
		return standin.Prompted("bravo, please")(r) && strings.Contains(fmt.Sprint(standin.Lines(standin.History(r))), "bravo in m]")
	}
	if _, err := p.server.Wait(ctx, lastStep); err != nil {
		t.Fatal(err)
	}
	if m := p.mission("m"); m.State != "running" || m.Turn != 2 {
		t.Fatalf("in the middle of its turn the mission is %+v", m)
	}
	p.refused(11, "turn", "restore", "m@1")
	p.refused(11, "live", "mission", "resume", "m")
	p.refused(15, "m", "fork", "m", "--name", "late", "--no-launch", "--wait-timeout", "300ms")
	p.umbra("fork", "m", "--name", "before", "--no-launch", "--no-wait")

	fork := p.start("fork", "m", "--name", "after", "--no-launch")
	p.wait("the fork to say what it waits for", func() bool { return strings.Contains(fork.said(), "wait") })
	if fork.over() {
		t.Fatalf("the fork did not wait: %s", fork.said())
	}
	p.server.Release("model")
	if code := turn.wait(t); code != 0 {
		t.Fatalf("the turn ended with %d: %s", code, turn.said())
	}
	k.heard("bravo", lines)
	if code := fork.wait(t); code != 0 {
		t.Fatalf("the fork ended with %d: %s", code, fork.said())
	}

	before, after := k.forked("before", 1), k.forked("after", 2)
	same(t, "the fork that did not wait", files(t, before.workspace), k.ends[1].files)
	same(t, "the fork that waited", files(t, after.workspace), k.ends[2].files)
	before.say("charlie")
	after.say("delta")
	k.say("echo")
}

// TestForkWithoutSession forks a mission that was never launched: files alone,
// and the agent begins a conversation of its own.
func TestForkWithoutSession(t *testing.T) {
	t.Parallel()
	p := newPerson(t, clients.ClaudeCurrent, "UMBRA_NO_DAEMON=1")
	k := p.newTalk("m")
	repo := p.fingerprint()
	p.umbra("fork", "m", "--name", "f", "--no-launch")
	p.untouched(repo)
	fork := k.forked("f", 0)
	same(t, "the fork", files(t, fork.workspace), k.ends[0].files)
	fork.say("alpha")
	k.say("bravo")
	p.umbra("mission", "stop", "m") // stopped already: nothing to do
	p.umbra("fork", "m", "--name", "g", "--no-launch")
	again := k.forked("g", 1)
	again.say("charlie")
}

// started is a program that runs beside the test.
type started struct {
	mu   sync.Mutex
	out  bytes.Buffer
	done chan struct{}
	code int
}

func (p *person) start(args ...string) *started {
	p.Helper()
	return p.startIn(p.repo, append([]string{"umbra"}, args...)...)
}

func (p *person) startIn(dir string, args ...string) *started {
	p.Helper()
	cmd, cancel := p.command(dir, args...)
	s := &started{done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = s, s
	if err := cmd.Start(); err != nil {
		cancel()
		p.Fatal(err)
	}
	go func() {
		defer cancel()
		defer close(s.done)
		_ = cmd.Wait() // its code tells
		s.code = cmd.ProcessState.ExitCode()
	}()
	p.Cleanup(func() {
		cancel()
		<-s.done
	})
	return s
}

func (s *started) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Write(b)
}

func (s *started) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.String()
}

func (s *started) over() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

func (s *started) wait(t *testing.T) int {
	t.Helper()
	<-s.done
	return s.code
}
