package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/scripts/lab"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// strikeCallerWithin is when an agent that calls a tool is killed, or its keeper, at the
// latest: by then its terminal was passed on.
const strikeCallerWithin = 2 * time.Second

// enteringItself has the agent of a stage enter a side fork in its turn.
func enteringItself(ctx context.Context, w *world) (scene, error) {
	st, err := w.staging(ctx)
	if err != nil {
		return scene{}, err
	}
	return st.calls(ctx, w, "enter_fork", `{"idle_timeout":-1}`, "")
}

// leavingWithReport has the agent of a side fork report to its parent in its turn, at whose
// end the fork is left.
func leavingWithReport(ctx context.Context, w *world) (scene, error) {
	st, err := inSideFork(ctx, w)
	if err != nil {
		return scene{}, err
	}
	text := st.finding(w)
	return st.calls(ctx, w, "report_updates", fmt.Sprintf(`{"message":%q}`, text), text)
}

// finding is what a fork has found out, in words that no other fork has.
func (s *stage) finding(w *world) string {
	w.made++
	return fmt.Sprintf("a map is %d times as fast", w.made)
}

// calls has the agent that has the terminal call a tool, while the daemon, or, at a random
// instant, the agent or its keeper is killed.
func (s *stage) calls(ctx context.Context, w *world, tool, arguments, reported string) (scene, error) {
	before, err := s.inTerminal(ctx)
	if err != nil {
		return scene{}, err
	}
	if err := errors.Join(s.umbra.Stop(), removeAll(s.answers())); err != nil {
		return scene{}, err
	}
	old, _, err := survey(s.root)
	if err != nil {
		return scene{}, err
	}
	victim := []string{"", "", "agent", "keeper"}[w.rand.IntN(4)]
	after := time.Duration(w.rand.Int64N(int64(strikeCallerWithin)))
	return scene{
		args: []string{"status"}, umbra: s.umbra, dir: s.root,
		linger: func(dead func() bool) {
			hit := func() error { return nil }
			if victim != "" {
				hit = s.strike(victim, after)
			}
			_, _ = fmt.Fprintln(s.prompt, s.calling(tool, arguments)) // nobody may be left to read it
			s.awaitPassing(ctx, before, dead)
			_ = hit()
		},
		settle: func(ctx context.Context, w *world, f fate) error {
			if victim != "" {
				s.trials = stageTrials // what its agent was told last may be in no file
			}
			if err := s.endCalling(ctx, old, reported); err != nil {
				return fmt.Errorf("with a death of %q: %w", victim, err)
			}
			return nil
		},
	}, nil
}

// awaitPassing waits until another mission has the terminal than before, or that can't be any
// more: the daemon is dead, or the keeper.
func (s *stage) awaitPassing(ctx context.Context, before lab.Mission, dead func() bool) {
	has := func() bool { m, why := s.terminalHolder(ctx); return why == "" && m.ID != before.ID }
	// To ask when it is dead would start another daemon.
	patience.Until(time.Minute, func() bool { return !s.kept() || dead() || ctx.Err() != nil || has() })
}

// endCalling looks at what is there when whoever is left has done its work: the parent has a
// terminal in the end, with its files as they were, and knows once what was reported.
func (s *stage) endCalling(ctx context.Context, old manifest, reported string) error {
	if err := s.parentBack(ctx); err != nil {
		return err
	}
	held, _, err := survey(s.root)
	if err != nil {
		return err
	}
	left := []string{}
	if reported == "" { // it was the parent's own agent that noted its prompt
		left = append(left, "notes.txt")
	}
	if differs := held.without(left).differs(old.without(left)); differs != "" {
		return fmt.Errorf("the workspace of the parent is not what it was:\n%s", differs)
	}
	if reported != "" {
		answer, _ := os.ReadFile(s.answers()) // none was had
		if err := s.knowsOnce(ctx, reported, strings.Contains(string(answer), "reports to")); err != nil {
			return err
		}
	} else if _, err := s.tell(ctx, "go on"); err != nil {
		return err
	}
	return errors.Join(s.dropForks(ctx), s.whole(ctx))
}

// parentBack waits until the terminal is somebody's for good, and has the parent there in the
// end: the fork is left if it has the terminal, and the parent is resumed if nobody has.
func (s *stage) parentBack(ctx context.Context) error {
	if err := s.umbra.Stop(); err != nil { // one that began before the kill has not seen it
		return err
	}
	if _, err := s.umbra.Start(ctx); err != nil {
		return err
	}
	m, err := s.settledTerminal(ctx)
	if err != nil {
		return err
	}
	if m.ID != s.mission.ID && m.ID != "" {
		if _, said, err := s.umbra.Run(ctx, s.root, "fork", "exit", m.Name); err != nil {
			return fmt.Errorf("leave the side fork: %w %s", err, said)
		}
		if m, err = s.inTerminal(ctx); err != nil {
			return fmt.Errorf("after the side fork was left: %w", err)
		}
	}
	if m.ID == "" {
		_ = s.prompt.Close()
		if err := s.launch("mission", "resume", "live"); err != nil {
			return err
		}
		if m, err = s.inTerminal(ctx); err != nil {
			return fmt.Errorf("after the parent was resumed: %w", err)
		}
	}
	if m.ID != s.mission.ID {
		return fmt.Errorf("the terminal has %s, and not the parent", m.Name)
	}
	return nil
}

// settledTerminal waits until a mission has the terminal for good, or the keeper is gone and
// every mission closed: then it returns none.
func (s *stage) settledTerminal(ctx context.Context) (lab.Mission, error) {
	ctx, cancel := context.WithTimeout(ctx, patience.Of(time.Minute))
	defer cancel()
	for {
		if s.kept() {
			if m, why := s.terminalHolder(ctx); why == "" {
				return m, nil
			}
		} else if gone, err := s.deserted(context.WithoutCancel(ctx)); err != nil || gone {
			return lab.Mission{}, err
		}
		select {
		case <-ctx.Done():
			_, why := s.terminalHolder(context.WithoutCancel(ctx))
			return lab.Mission{}, fmt.Errorf("nobody has the terminal for good: %w; %s\n%sit shows:\n%s", ctx.Err(), why, s.plight(), s.shown)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// deserted reports whether no agent lives, and every mission that had one is closed. An agent that lives on
// without its keeper is told to end.
func (s *stage) deserted(ctx context.Context) (bool, error) {
	list, err := s.missions(ctx)
	if err != nil {
		return false, err
	}
	gone := true
	for _, m := range list {
		if len(lab.ProcessesWith("UMBRA_MISSION="+m.ID+"\x00")) > 0 {
			_, _ = s.prompt.Write([]byte("exit\n"))
			gone = false
		}
		gone = gone && (m.State == "closed" || m.State == "initializing") // the latter was never launched
	}
	return gone, nil
}

// tell gives the agent a prompt, and returns what it has shown when it has answered.
func (s *stage) tell(ctx context.Context, prompt string) (string, error) {
	before := len(s.shown.String())
	if _, err := fmt.Fprintln(s.prompt, prompt); err != nil {
		return "", err
	}
	err := s.shows(ctx, before, ".)\n> ")
	return s.shown.String()[before:], err
}

// knowsOnce holds the parent's agent against what was reported: once it has been told a few
// things more, its conversation has the report once, and nothing waits. A report that was not
// acknowledged may be nowhere.
func (s *stage) knowsOnce(ctx context.Context, reported string, acknowledged bool) error {
	var list []struct{ Text string }
	if err := s.umbra.JSON(ctx, s.root, &list, "updates", "live", "--all"); err != nil {
		return err
	}
	queued := 0
	for _, u := range list {
		if u.Text == reported {
			queued++
		}
	}
	if queued > 1 || acknowledged && queued == 0 {
		return fmt.Errorf("%q was queued %d times; acknowledged: %v", reported, queued, acknowledged)
	}
	for range 2 {
		if _, err := s.tell(ctx, "go on"); err != nil {
			return err
		}
	}
	var now lab.Mission
	if err := s.umbra.JSON(ctx, s.root, &now, "mission", "show", "live"); err != nil {
		return err
	}
	text, err := os.ReadFile(now.Session)
	if err != nil {
		return err
	}
	if n := strings.Count(string(text), "| "+reported); n != queued {
		return fmt.Errorf("the parent's conversation has %q %d times, which was queued %d times", reported, n, queued)
	}
	if err := s.umbra.JSON(ctx, s.root, &list, "updates", "live"); err != nil || len(list) > 0 {
		return fmt.Errorf("after it was told, there wait %q: %w", list, err)
	}
	return nil
}

// dropForks removes every mission but the stage's own.
func (s *stage) dropForks(ctx context.Context) error {
	list, err := s.missions(ctx)
	if err != nil {
		return err
	}
	for _, m := range list {
		if m.ID == s.mission.ID {
			continue
		}
		if _, said, err := s.umbra.Run(ctx, s.root, "mission", "rm", m.Name, "--workspace", "--yes"); err != nil {
			return fmt.Errorf("remove a fork: %w %s", err, said)
		}
	}
	return nil
}

// leavingWithAll promotes a side fork that has had a turn: the parent has its terminal again,
// and the fork's files and conversation, or its own.
func leavingWithAll(ctx context.Context, w *world) (scene, error) {
	st, err := inSideFork(ctx, w)
	if err != nil {
		return scene{}, err
	}
	if _, err := st.tell(ctx, "go on in the fork"); err != nil {
		return scene{}, err
	}
	fork, err := st.inTerminal(ctx)
	if err != nil {
		return scene{}, err
	}
	old, _, err := survey(st.root)
	if err != nil {
		return scene{}, err
	}
	promoted, _, err := survey(fork.Workspace)
	if err != nil {
		return scene{}, err
	}
	s, err := st.aside([]string{"promote", fork.Name}, func(dead func() bool) { st.awaitTerminal(ctx, dead) })
	s.settle = func(ctx context.Context, w *world, f fate) error {
		if err := st.parentBack(ctx); err != nil {
			return err
		}
		held, _, err := survey(st.root)
		if err != nil {
			return err
		}
		isOld, isNew := held.differs(old), held.differs(promoted)
		switch {
		case isOld != "" && isNew != "":
			return fmt.Errorf("the workspace of the parent is neither its own:\n%s\nnor that of the fork:\n%s", isOld, isNew)
		case isNew != "" && !f.killed && f.code == 0:
			return fmt.Errorf("it was told of as promoted, and is not:\n%s", isNew)
		}
		n, err := st.noted()
		if err != nil {
			return err
		}
		return errors.Join(st.say(ctx, n+1), st.dropForks(ctx), st.whole(ctx))
	}
	return s, errors.Join(err, st.umbra.Stop())
}

// reporting is the world's stage with a fork that has reported.
func reporting(ctx context.Context, w *world) (st *stage, reported string, err error) {
	if st, err = w.staging(ctx); err != nil {
		return nil, "", err
	}
	reported = st.finding(w)
	for _, args := range [][]string{{"fork", "live", "--name", "reporter", "--no-launch"}, {"fork", "report", "reporter", reported}} {
		if said, err := st.run(ctx, args...); err != nil {
			return nil, "", fmt.Errorf("umbra %s: %w %s", strings.Join(args, " "), err, said)
		}
	}
	return st, reported, nil
}

// telling has the parent's agent given what a fork has reported, with its next prompt. The
// daemon is killed, or the agent.
func telling(ctx context.Context, w *world) (scene, error) {
	st, reported, err := reporting(ctx, w)
	if err != nil {
		return scene{}, err
	}
	old, _, err := survey(st.root)
	strikes, after := w.rand.IntN(3) == 0, time.Duration(w.rand.Int64N(int64(strikeWithin)))
	return scene{
		args: []string{"status"}, umbra: st.umbra, dir: st.root,
		linger: func(dead func() bool) {
			hit := func() error { return nil }
			if strikes {
				hit = st.strike("agent", after)
			}
			before := len(st.shown.String())
			_, _ = fmt.Fprintln(st.prompt, "go on") // nobody may be left to read it
			patience.Until(time.Minute, func() bool {
				return strings.Contains(st.shown.String()[before:], ".)\n> ") || !st.kept() || dead()
			})
			_ = hit()
		},
		settle: func(ctx context.Context, w *world, f fate) error {
			if strikes {
				st.trials = stageTrials
			}
			return st.endTelling(ctx, old, reported)
		},
	}, err
}

// endTelling looks whether the parent's agent knows once what was reported.
func (s *stage) endTelling(ctx context.Context, old manifest, reported string) error {
	if err := s.parentBack(ctx); err != nil {
		return err
	}
	held, _, err := survey(s.root)
	if err != nil {
		return err
	}
	notes := []string{"notes.txt"}
	if differs := held.without(notes).differs(old.without(notes)); differs != "" {
		return fmt.Errorf("the workspace of the parent is not what it was:\n%s", differs)
	}
	return errors.Join(s.knowsOnce(ctx, reported, true), s.dropForks(ctx), s.whole(ctx))
}

// untelling restores to before the agent was told: it is told again then, and only then.
func untelling(ctx context.Context, w *world) (scene, error) {
	st, reported, err := reporting(ctx, w)
	if err != nil {
		return scene{}, err
	}
	to := st.moments[len(st.moments)-1]
	n, err := st.noted()
	if err != nil {
		return scene{}, err
	}
	if err := st.say(ctx, n+1); err != nil {
		return scene{}, err
	}
	old, _, err := survey(st.root)
	s := scene{
		args: []string{"restore", to.id, "--all"}, umbra: st.umbra, dir: st.root,
		linger: func(dead func() bool) { st.await(ctx, dead) },
		settle: func(ctx context.Context, w *world, f fate) error { return st.endTelling(ctx, old, reported) },
	}
	return s, errors.Join(err, st.umbra.Stop())
}
