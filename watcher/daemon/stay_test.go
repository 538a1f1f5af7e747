package daemon

import (
	"context"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/scripts/patience"
	"github.com/umbra-vcs/umbra/watcher/client"
)

func (b *bench) stay() *Staying {
	b.Helper()
	s := Stay(b.options())
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Errorf("close: %v", err)
		}
	})
	<-s.Settled()
	return s
}

// TestStayingServes answers others over the socket, and watches: an agent that
// says nothing comes to rest.
func TestStayingServes(t *testing.T) {
	b := newBench(t)
	b.stay()
	c := b.connect()
	m := b.mission(c, "work")
	b.agent(c, m)
	b.write("a.txt", "one\n")
	list, err := c.Wait(b.ctx(), missions.WaitRequest{Caller: b.caller(), States: []missions.StateName{missions.StateIdle}, Timeout: patience.Of(time.Minute)})
	if err != nil || len(list) != 1 {
		t.Fatalf("waited: %+v %v", list, err)
	}
	entries, err := c.Log(b.ctx(), missions.LogRequest{Caller: b.caller()})
	must(t, err)
	if entries[0].Message != "quiet" || entries[0].Files.Added != 1 {
		t.Errorf("newest %+v", entries[0])
	}
}

// TestStayingTakesOver serves when the one that served has ended, also in the
// middle of a call that waits.
func TestStayingTakesOver(t *testing.T) {
	b := newBench(t)
	first := b.stay()
	second := b.stay()
	c := b.connect()
	b.mission(c, "work")
	waited := make(chan error, 1)
	go func() {
		_, err := c.Wait(b.ctx(), missions.WaitRequest{Caller: b.caller(), States: []missions.StateName{missions.StateClosed}, Timeout: 3 * time.Second})
		waited <- err
	}()
	must(t, first.Close())
	if err := <-waited; err == nil || missions.AsError(err).Kind != missions.KindTimeout {
		t.Errorf("waited: %v", err)
	}
	must(t, second.Close())
	held, err := b.home.Hold("test")
	must(t, err)
	must(t, held.Release())
}

// TestStayingPauses holds nothing while it is paused, and goes on after.
func TestStayingPauses(t *testing.T) {
	b := newBench(t)
	s := b.stay()
	resume, err := s.Pause()
	must(t, err)
	held, err := b.home.Hold("test")
	must(t, err)
	must(t, held.Release())
	resume()
	resume() // twice is once
	b.mission(b.connect(), "work")
	must(t, s.Close())
	resume() // closed is closed
	held, err = b.home.Hold("test")
	must(t, err)
	must(t, held.Release())
}

// TestStayingMakesWay leaves when it is asked to, long enough for another.
func TestStayingMakesWay(t *testing.T) {
	b := newBench(t)
	b.stay()
	there, err := client.Leave(b.ctx(), client.Options{Home: b.home, Patience: patience.Of(time.Minute)})
	if err != nil || !there {
		t.Fatalf("leave: %v %v", there, err)
	}
	b.start()
	b.mission(b.connect(), "work")
}

// TestLeaveWaitsForOneThatBegins: a process that holds the home and can't be asked yet
// is no sign that none runs.
func TestLeaveWaitsForOneThatBegins(t *testing.T) {
	b := newBench(t)
	held, err := b.home.Hold("umbra daemon run")
	must(t, err)
	soon, cancel := context.WithTimeout(b.ctx(), 100*time.Millisecond)
	defer cancel()
	if there, err := client.Leave(soon, client.Options{Home: b.home}); !there || err == nil {
		t.Errorf("while another holds the home: %v %v", there, err)
	}
	type answer struct {
		there bool
		err   error
	}
	left := make(chan answer, 1)
	go func() {
		there, err := client.Leave(b.ctx(), client.Options{Home: b.home, Patience: patience.Of(time.Minute)})
		left <- answer{there, err}
	}()
	must(t, held.Release())
	if got := <-left; got.there || got.err != nil {
		t.Errorf("once nobody has it: %v", got)
	}
}

// TestStayingThatCannot settles all the same.
func TestStayingThatCannot(t *testing.T) {
	b := newBench(t)
	b.write("../home/config.yml", "no such key: 1\n")
	b2 := b.options()
	s := Stay(b2)
	<-s.Settled()
	if err := s.Close(); err == nil {
		t.Error("it says nothing of why it could not serve")
	}
}
