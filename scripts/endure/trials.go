package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/umbra-vcs/umbra/scripts/lab"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// A trial is something that goes wrong between two edits, and right again before
// a snapshot or some snapshots later.
type trial struct {
	name  string
	begin func(*soak, context.Context) error
	end   func(*soak, context.Context) error
	lasts int // snapshots; 0: it ends before the next
	// walks are the reasons, of which one is given, for the walk over everything
	// that each snapshot meanwhile is made by; none if there need be no walk.
	walks []string
}

// unwatched is why the first snapshot walks that a daemon takes.
var unwatched = []string{"not watched", "first look"}

// trials are those that this soak can undergo.
func (s *soak) trials() []trial {
	all := []trial{
		{name: "killed", begin: (*soak).kill, end: (*soak).serve, walks: unwatched},
		{name: "stopped", begin: (*soak).stop, end: (*soak).serve, walks: unwatched},
		{name: "stopped for long", begin: (*soak).leave, end: (*soak).comeBack, lasts: 2, walks: unwatched},
		{name: "stalled", begin: (*soak).stall, end: (*soak).goOn},
		{name: "flooded", begin: (*soak).flood, end: (*soak).goOn, walks: []string{"events were lost"}},
		{name: "the clock set back", begin: (*soak).turnBack, end: (*soak).turnForth, lasts: 4},
	}
	if s.apart {
		all = append(all, trial{name: "watches exhausted", begin: (*soak).exhaust, end: (*soak).relieve, lasts: 2, walks: []string{"watch limit reached"}})
	}
	return all
}

// nextTrial is each of them once, in a random order, then each once again.
func (s *soak) nextTrial() *trial {
	if len(s.queue) == 0 {
		s.queue = s.trials()
		s.world.rand.Shuffle(len(s.queue), func(i, j int) { s.queue[i], s.queue[j] = s.queue[j], s.queue[i] })
	}
	t := s.queue[0]
	s.queue = s.queue[1:]
	return &t
}

// try begins a trial.
func (s *soak) try(ctx context.Context, t *trial) error {
	if err := t.begin(s, ctx); err != nil {
		return fmt.Errorf("%s: %w", t.name, err)
	}
	s.tried[t.name]++
	s.trial, s.left, s.walks = t, t.lasts, t.walks
	return nil
}

// endTrial ends the trial however long it has lasted.
func (s *soak) endTrial(ctx context.Context) error {
	s.left = 0
	return s.relent(ctx)
}

// relent ends the trial if it has lasted long enough.
func (s *soak) relent(ctx context.Context) error {
	t := s.trial
	if t == nil {
		return nil
	}
	if s.left > 0 {
		s.left--
		return nil
	}
	s.trial = nil
	if err := t.end(s, ctx); err != nil {
		return fmt.Errorf("%s, the end of it: %w", t.name, err)
	}
	return nil
}

// proveWalk checks that the newest snapshot was made by a walk, for one of the
// reasons that there are.
func (s *soak) proveWalk(ctx context.Context) error {
	if s.session.Alone {
		return nil // a process that ends with its snapshot says nothing of it
	}
	status, err := s.umbra.Status(ctx, s.world.root)
	if err != nil {
		return err
	}
	if len(status.Walks) != 1 || status.Walks[0].Count <= s.walked {
		return fmt.Errorf("no walk was made, though %s: it lost events %d times, and walked: %+v", strings.Join(s.walks, " or "), status.Daemon.Overflows, status.Walks)
	}
	s.walked = status.Walks[0].Count
	why := status.Walks[0].Why
	if !slices.ContainsFunc(s.walks, func(w string) bool { return strings.HasPrefix(why, w) }) {
		return fmt.Errorf("it walked because of %q, not %s", why, strings.Join(s.walks, " or "))
	}
	return nil
}

// watched waits until events are relied on, and remembers how many walks were
// made before.
func (s *soak) watched(ctx context.Context) error {
	const some = 10 // directories: more than there are without the workspace
	limited, cancel := context.WithTimeout(ctx, patience.Of(time.Minute))
	defer cancel()
	if err := s.umbra.Watched(limited, some); err != nil {
		return err
	}
	if err := s.snapshot(ctx); err != nil { // the first look
		return err
	}
	status, err := s.umbra.Status(ctx, s.world.root)
	if err == nil && len(status.Walks) > 0 {
		s.walked = status.Walks[0].Count
	}
	return err
}

func (s *soak) serve(ctx context.Context) error {
	var err error
	s.walked = 0
	s.daemon, s.ended, err = s.umbra.Serve(ctx)
	return err
}

// signal sends one to the daemon.
func (s *soak) signal(sig syscall.Signal) error {
	if err := syscall.Kill(int(s.daemon), sig); err != nil {
		return fmt.Errorf("send %s to the daemon: %w", sig, err)
	}
	return nil
}

// kill ends the daemon with SIGKILL.
func (s *soak) kill(ctx context.Context) error {
	if err := s.signal(syscall.SIGKILL); err != nil {
		return err
	}
	return s.gone(ctx)
}

// stop asks the daemon to end.
func (s *soak) stop(ctx context.Context) error {
	if _, _, err := s.umbra.Run(ctx, "/", "daemon", "stop"); err != nil {
		return err
	}
	return s.gone(ctx)
}

// leave stops the daemon; hooks do the work themselves until comeBack.
func (s *soak) leave(ctx context.Context) error {
	s.session.Alone = true
	return s.stop(ctx)
}

func (s *soak) comeBack(ctx context.Context) error {
	s.session.Alone = false
	return s.serve(ctx)
}

func (s *soak) gone(ctx context.Context) error {
	select {
	case <-s.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stall keeps the daemon from reading events, until goOn.
func (s *soak) stall(ctx context.Context) error {
	if err := s.watched(ctx); err != nil {
		return err
	}
	if err := s.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	return s.daemon.Stopped(ctx)
}

func (s *soak) goOn(context.Context) error { return s.signal(syscall.SIGCONT) }

// flood makes more events than the kernel keeps for a daemon that does not read
// them, so that it loses those of the edits to come.
func (s *soak) flood(ctx context.Context) error {
	if err := s.stall(ctx); err != nil {
		return err
	}
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	if err != nil {
		return err
	}
	limit, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return err
	}
	// Of two equal events in a row the kernel keeps one.
	two := []string{s.world.anyRegular(), s.world.anyRegular()}
	for two[0] == two[1] {
		two[1] = s.world.anyRegular()
	}
	for i := range limit + 100 {
		name := two[i%2]
		perm := os.FileMode(0o644)
		if s.world.files[name].mode == modeExec {
			perm = 0o755
		}
		if err := os.Chmod(s.world.path(name), perm); err != nil {
			return err
		}
	}
	return nil
}

// exhaust leaves the daemon no watch for a new directory, and makes some.
func (s *soak) exhaust(ctx context.Context) error {
	if err := s.watched(ctx); err != nil {
		return err
	}
	if err := lab.AllowWatches(1); err != nil {
		return err
	}
	return s.world.editStorm()
}

// relieve ends that, after status has said it; the daemon begins anew, rather
// than to try again after a while.
func (s *soak) relieve(ctx context.Context) error {
	status, err := s.umbra.Status(ctx, s.world.root)
	if err != nil {
		return err
	}
	said := false
	for _, p := range status.Problems {
		said = said || strings.Contains(p.Message, "watch") && strings.Contains(p.Fix, "sysctl fs.inotify.max_user_watches=")
	}
	if !said {
		return fmt.Errorf("status does not say that the limit of watches is reached, with what to type: %+v", status.Problems)
	}
	if err := lab.AllowWatches(1 << 20); err != nil {
		return err
	}
	if err := s.kill(ctx); err != nil {
		return err
	}
	s.walks = unwatched
	return s.serve(ctx)
}

// turnBack sets the daemon's clock, and that of every command, back by minutes
// or by a year.
func (s *soak) turnBack(context.Context) error {
	by := []time.Duration{time.Minute, time.Hour, 365 * 24 * time.Hour}
	return s.setClock(-by[s.world.rand.IntN(len(by))])
}

func (s *soak) turnForth(context.Context) error { return s.setClock(0) }

func (s *soak) setClock(wrong time.Duration) error {
	clock := filepath.Join(s.umbra.Base, "home", "clock")
	if err := os.WriteFile(clock+".new", []byte(wrong.String()), 0o600); err != nil {
		return err
	}
	return os.Rename(clock+".new", clock)
}
