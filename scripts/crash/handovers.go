package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/umbra-vcs/umbra/scripts/patience"
)

// stageTrials is how often an agent is ended and launched again in one stage.
const stageTrials = 12

// staging is the world's stage, with an agent that waits.
func (w *world) staging(ctx context.Context) (*stage, error) {
	if s := w.stage; s != nil && s.trials >= stageTrials {
		if err := errors.Join(w.end(), removeAll(s.root, s.umbra.Base)); err != nil {
			return nil, err
		}
	}
	if w.stage == nil {
		s, err := w.newStage(ctx)
		if err != nil {
			return nil, fmt.Errorf("make a stage: %w", err)
		}
		w.stage = s
	}
	w.stage.trials++
	return w.stage, w.stage.umbra.Stop()
}

// end ends the processes that a world has; its files stay.
func (w *world) end() error {
	s := w.stage
	if w.stage = nil; s == nil {
		return nil
	}
	return s.close()
}

// handing restores beneath an agent: it is ended, and its keeper launches it
// again. Whoever restores is killed, and, at a random instant, what struck names:
// the agent, the keeper or nobody.
func handing(struck string) func(context.Context, *world) (scene, error) {
	return func(ctx context.Context, w *world) (scene, error) {
		st, err := w.staging(ctx)
		if err != nil {
			return scene{}, err
		}
		to := st.moments[w.rand.IntN(len(st.moments)-1)]
		old, _, err := survey(st.root)
		if err != nil {
			return scene{}, err
		}
		s := scene{
			args: []string{"restore", to.id, "--all"}, umbra: st.umbra, dir: st.root,
			linger: func(dead func() bool) { st.await(ctx, dead) },
			settle: func(ctx context.Context, w *world, f fate) error {
				return w.endHanding(ctx, st, old, to, f, struck == "")
			},
		}
		if struck != "" {
			s.stop = st.strike(struck, time.Duration(w.rand.Int64N(int64(strikeWithin))))
		}
		return s, nil
	}
}

// strikeWithin is when an agent or a keeper is killed that a restore is to end, at
// the latest.
const strikeWithin = 200 * time.Millisecond

// strike kills the agent or the keeper after a time. What it returns waits for
// that.
func (s *stage) strike(who string, after time.Duration) func() error {
	done := make(chan error, 1)
	time.AfterFunc(after, func() {
		pid, err := s.keeper.Process.Pid, error(nil)
		if who == "agent" {
			pid, err = s.agentPID()
		}
		if err == nil {
			err = syscall.Kill(pid, syscall.SIGKILL)
		}
		if errors.Is(err, syscall.ESRCH) {
			err = nil // it has just been ended
		}
		done <- err
	})
	return func() error { return <-done }
}

// await waits until no handover is under way, or the daemon is dead.
func (s *stage) await(ctx context.Context, dead func() bool) {
	patience.Until(time.Minute, func() bool {
		under, err := s.handing()
		return err == nil && under == "" || dead() || ctx.Err() != nil
	})
}

// ending has an agent die at rest, of which its keeper tells the daemon.
func ending(ctx context.Context, w *world) (scene, error) {
	st, err := w.staging(ctx)
	if err != nil {
		return scene{}, err
	}
	old, _, err := survey(st.root)
	return scene{
		args: []string{"status"}, umbra: st.umbra, dir: st.root,
		linger: func(dead func() bool) { st.end(ctx, dead) },
		settle: func(ctx context.Context, w *world, f fate) error {
			return w.endHanding(ctx, st, old, moment{held: old}, f, false)
		},
	}, err
}

// end kills the agent, and waits until its keeper has told of that and is gone, or the
// daemon is dead.
func (s *stage) end(ctx context.Context, dead func() bool) {
	_ = s.strike("agent", 0)() // of one that lives on the mission tells
	patience.Until(time.Minute, func() bool { return !s.kept() || dead() || ctx.Err() != nil })
}

// takingOver has a daemon die that takes over what a process left that died when
// it had ended the agent.
func takingOver(ctx context.Context, w *world) (scene, error) {
	s, err := handing("")(ctx, w)
	if err != nil {
		return s, err
	}
	at := []string{"handover.ended", "handover.carried"} // at any point before, the agent would go on
	s.args = append([]string{"--no-daemon"}, s.args...)
	s.asker = death{point: at[w.rand.IntN(len(at))], pass: 1}
	return s, nil
}

// endHanding looks at what is there when whoever is left has done its work: the
// agent is there again, or its end is noted; files and conversation are wholly of
// the moment before or of that which was restored, and the agent goes on.
func (w *world) endHanding(ctx context.Context, st *stage, old manifest, to moment, f fate, done bool) error {
	if err := st.umbra.Stop(); err != nil { // one that began before the kill has not seen it
		return err
	}
	if _, err := st.umbra.Start(ctx); err != nil {
		return err
	}
	back, err := st.settled(ctx)
	if err != nil {
		return err
	}
	held, _, err := survey(st.root)
	if err != nil {
		return err
	}
	isOld, isNew := held.differs(old), held.differs(to.held)
	switch {
	case isOld != "" && isNew != "":
		return fmt.Errorf("the workspace is neither what it was:\n%s\nnor what it was to be:\n%s", isOld, isNew)
	case done && isNew != "" && !f.killed && f.code == 0:
		return fmt.Errorf("it was told of as restored, and is not:\n%s", isNew)
	}
	n, err := st.noted()
	if err != nil {
		return err
	}
	if !back {
		if err := st.resume(ctx, n); err != nil {
			return err
		}
	}
	if err := st.say(ctx, n+1); err != nil {
		return err
	}
	return st.whole(ctx)
}

// whole holds the home of a stage against the invariants.
func (st *stage) whole(ctx context.Context) error {
	// The journal keeps what was taken away until the next idle point.
	places := []string{filepath.Join(st.umbra.Base, "umbra", "projects"), filepath.Join(st.umbra.Base, "home"), st.root}
	if err := errors.Join(cleared(places...), st.umbra.Stop()); err != nil {
		return err
	}
	if said, err := st.run(ctx, "doctor"); err != nil {
		return fmt.Errorf("doctor: %w %s", err, said)
	}
	if said, err := st.mission.Git(ctx, "fsck", "--full", "--no-progress"); err != nil || strings.TrimSpace(dangling(said)) != "" {
		return fmt.Errorf("git fsck --full: %w %s", err, said)
	}
	return nil
}

// settled waits until no handover is under way, and reports whether the agent is
// there again, or has ended for good and that is noted.
func (s *stage) settled(ctx context.Context) (back bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience.Of(time.Minute))
	defer cancel()
	for {
		list, err := s.missions(ctx)
		if err != nil || len(list) != 1 {
			return false, fmt.Errorf("after a handover the missions are %+v (%w)", list, err)
		}
		under, err := s.handing()
		if err != nil {
			return false, err
		}
		pid, err := s.agentPID()
		if err != nil {
			return false, err
		}
		m, waits := list[0], strings.HasSuffix(s.shown.String(), "\n> ")
		switch {
		case s.kept() && under == "" && alive(pid) && waits && m.State == "idle" && m.PID == pid:
			return true, nil
		case !s.kept() && s.peopled(): // an agent lives on without its keeper, and is told to end
			_, _ = s.prompt.Write([]byte("exit\n"))
		case !s.kept() && under == "" && m.State == "closed":
			return false, nil
		}
		select {
		case <-ctx.Done():
			return false, fmt.Errorf("a handover does not come to its end: %w; keeper %d %v, handing over %q, agent %d %v, the mission %+v\n%sit shows:\n%s",
				ctx.Err(), s.keeper.Process.Pid, s.kept(), under, pid, alive(pid), m, s.plight(), s.shown)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// resume launches the agent again by hand. It goes on with so many prompts.
func (s *stage) resume(ctx context.Context, n int) error {
	_ = s.prompt.Close()
	if err := s.launch("mission", "resume", "live"); err != nil {
		return err
	}
	return s.shows(ctx, 0, "resumed: I remember "+prompts(n)+"\n> ")
}

func (s *stage) run(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience.Of(time.Minute))
	defer cancel()
	_, said, err := s.umbra.Run(ctx, s.root, append(args, "--no-daemon")...)
	return said, err
}
