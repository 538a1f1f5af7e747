package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/scripts/lab"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// entering has the agent of a stage parked, and a side fork take over its terminal.
func entering(ctx context.Context, w *world) (scene, error) {
	st, err := w.staging(ctx)
	if err != nil {
		return scene{}, err
	}
	return st.aside([]string{"fork", "enter", "live"}, func(dead func() bool) { st.awaitTerminal(ctx, dead) })
}

// leaving has a side fork left, by a command.
func leaving(ctx context.Context, w *world) (scene, error) {
	st, err := inSideFork(ctx, w)
	if err != nil {
		return scene{}, err
	}
	return st.aside([]string{"fork", "exit", "live"}, func(dead func() bool) { st.awaitTerminal(ctx, dead) })
}

// endingAside has the agent of a side fork die, of which its keeper tells the daemon.
func endingAside(ctx context.Context, w *world) (scene, error) {
	st, err := inSideFork(ctx, w)
	if err != nil {
		return scene{}, err
	}
	return st.aside([]string{"status"}, func(dead func() bool) {
		_ = st.strike("agent", 0)() // of one that lives on the mission tells
		st.awaitTerminal(ctx, dead)
	})
}

// enteringInPlace is entering of a side fork in the workspace of its parent.
func enteringInPlace(ctx context.Context, w *world) (scene, error) {
	st, err := w.staging(ctx)
	if err != nil {
		return scene{}, err
	}
	return st.aside([]string{"fork", "enter", "live", "--in-place"}, func(dead func() bool) { st.awaitTerminal(ctx, dead) })
}

// leavingInPlace has a side fork left that has changed the files of its parent's workspace.
func leavingInPlace(ctx context.Context, w *world) (scene, error) {
	st, err := w.staging(ctx)
	if err != nil {
		return scene{}, err
	}
	old, _, err := survey(st.root)
	if err != nil {
		return scene{}, err
	}
	if said, err := st.run(ctx, "fork", "enter", "live", "--in-place"); err != nil {
		return scene{}, fmt.Errorf("enter a side fork in place: %w %s", err, said)
	}
	if _, err := st.inTerminal(ctx); err != nil {
		return scene{}, err
	}
	for _, name := range []string{"notes.txt", "aside.txt", "aside/more.txt"} {
		if err := w.write(filepath.Join(st.root, name), "of the side fork\n"); err != nil {
			return scene{}, err
		}
	}
	s, err := st.aside([]string{"fork", "exit", "live"}, func(dead func() bool) { st.awaitTerminal(ctx, dead) })
	s.settle = func(ctx context.Context, _ *world, _ fate) error { return st.endAside(ctx, old) }
	return s, errors.Join(err, st.umbra.Stop())
}

// inSideFork is the world's stage while a side fork has its terminal.
func inSideFork(ctx context.Context, w *world) (*stage, error) {
	st, err := w.staging(ctx)
	if err != nil {
		return nil, err
	}
	if said, err := st.run(ctx, "fork", "enter", "live"); err != nil {
		return nil, fmt.Errorf("enter a side fork: %w %s", err, said)
	}
	_, err = st.inTerminal(ctx)
	return st, errors.Join(err, st.umbra.Stop())
}

// aside is a scene in which a terminal is passed on.
func (s *stage) aside(args []string, linger func(dead func() bool)) (scene, error) {
	old, _, err := survey(s.root)
	return scene{
		args: args, umbra: s.umbra, dir: s.root, linger: linger,
		settle: func(ctx context.Context, w *world, _ fate) error { return s.endAside(ctx, old) },
	}, err
}

// endAside looks at what is there when whoever is left has done its work: one of the two
// missions has the terminal, and the parent has it in the end, with files and conversation
// as they were.
func (s *stage) endAside(ctx context.Context, old manifest) error {
	if err := s.umbra.Stop(); err != nil { // one that began before the kill has not seen it
		return err
	}
	if _, err := s.umbra.Start(ctx); err != nil {
		return err
	}
	m, err := s.inTerminal(ctx)
	if err != nil {
		return err
	}
	if m.ID != s.mission.ID {
		if _, said, err := s.umbra.Run(ctx, s.root, "fork", "exit", m.Name); err != nil {
			return fmt.Errorf("leave the side fork: %w %s", err, said)
		}
		if m, err = s.inTerminal(ctx); err != nil {
			return fmt.Errorf("after the side fork was left: %w", err)
		}
		if m.ID != s.mission.ID {
			return fmt.Errorf("the terminal has %s, which was left", m.Name)
		}
	}
	held, _, err := survey(s.root)
	if err != nil {
		return err
	}
	if differs := held.differs(old); differs != "" {
		return fmt.Errorf("the workspace of the parent is not what it was:\n%s", differs)
	}
	n, err := s.noted()
	if err != nil {
		return err
	}
	if err := s.say(ctx, n+1); err != nil {
		return err
	}
	list, err := s.missions(ctx)
	if err != nil {
		return err
	}
	for _, m := range list {
		if m.ID == s.mission.ID {
			continue
		}
		if _, said, err := s.umbra.Run(ctx, s.root, "mission", "rm", m.Name, "--workspace", "--yes"); err != nil {
			return fmt.Errorf("remove a side fork: %w %s", err, said)
		}
	}
	return s.whole(ctx)
}

// awaitTerminal waits until a mission has the terminal for good, or the daemon is dead.
func (s *stage) awaitTerminal(ctx context.Context, dead func() bool) {
	has := func() bool { _, why := s.terminalHolder(ctx); return why == "" }
	// To ask when it is dead would start another daemon.
	patience.Until(time.Minute, func() bool { return dead() || ctx.Err() != nil || has() })
}

// inTerminal waits until one mission has the terminal, and its agent waits there for its
// user.
func (s *stage) inTerminal(ctx context.Context) (lab.Mission, error) {
	ctx, cancel := context.WithTimeout(ctx, patience.Of(time.Minute))
	defer cancel()
	for {
		m, why := s.terminalHolder(ctx)
		if why == "" {
			return m, nil
		}
		select {
		case <-ctx.Done():
			return m, fmt.Errorf("no mission has the terminal: %w; %s\n%sit shows:\n%s", ctx.Err(), why, s.plight(), s.shown)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// terminalHolder is the mission that has the terminal; why not, if none has it for good.
func (s *stage) terminalHolder(ctx context.Context) (holder lab.Mission, why string) {
	list, err := s.missions(ctx)
	pid, pidErr := s.agentPID()
	if err = errors.Join(err, pidErr); err != nil {
		return holder, err.Error()
	}
	for _, m := range list {
		if m.PID == 0 {
			continue
		}
		under, err := s.handingOf(m.ID)
		if err != nil || under != "" || m.PID != pid || m.State != "idle" || holder.ID != "" {
			return holder, fmt.Sprintf("the agent is %d, the missions are %+v, %s is handed over: %q (%v)", pid, list, m.Name, under, err)
		}
		holder = m
	}
	if holder.ID == "" || !alive(pid) || !s.kept() || !strings.HasSuffix(s.shown.String(), "\n> ") {
		return holder, fmt.Sprintf("the agent %d is alive: %v, the keeper: %v, the missions are %+v", pid, alive(pid), s.kept(), list)
	}
	return holder, ""
}
