package contests

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/checks"
	"github.com/umbra-vcs/umbra/missions/home"
)

// checker runs the user's check in workspaces.
type checker struct {
	c       *call.Call
	home    home.Home
	command string
	limit   time.Duration
	reuses  bool // takes what the same check has said of the same snapshot
}

// checkResult is what a check has said, as it is kept beside what it printed.
type checkResult struct {
	Command  string         `json:"command"`
	Snapshot string         `json:"snapshot"` // the newest before the check
	Check    missions.Check `json:"check"`
}

// checkAll runs the check in the workspaces of all forks, as many at a time as there are
// processors. whole is false where it could not be run in one of them.
func checkAll(c *call.Call, command string, reuses bool, forks []missions.ComparedFork) (whole bool, err error) {
	if c.Unwritten != nil {
		return false, c.Unwritten // there is no place for the output
	}
	dir, err := c.HomeDir()
	if err != nil {
		return false, err
	}
	k := checker{c: c, home: home.Home{Dir: dir}, command: command, reuses: reuses}
	if k.limit, err = checks.Limit(k.home, c.Getenv); err != nil {
		return false, err
	}
	var (
		all  sync.WaitGroup
		mu   sync.Mutex // what is below, and the notices
		room = make(chan struct{}, runtime.GOMAXPROCS(0))
		done int
		todo []*missions.ComparedFork
	)
	for i := range forks {
		f := &forks[i]
		if check, known := k.known(f.Fork); known {
			f.Check = &check
			done++
		} else {
			todo = append(todo, f)
		}
	}
	if len(todo) > 0 {
		c.Notice("the check runs in %s", print.Count(len(todo), "workspace"))
	}
	whole = true
	for _, f := range todo {
		all.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			began := c.Now()
			check, err := k.run(c.Context, f.Fork)
			mu.Lock()
			defer mu.Unlock()
			if c.Context.Err() != nil {
				return
			}
			f.Check = &check
			done++
			if err != nil {
				whole = false
				c.Notice("note: the check can't be run in %s: %v", f.Mission, err)
				return
			}
			k.keep(f.Fork, check)
			k.say(f.Fork, check, c.Now().Sub(began))
		})
	}
	all.Wait()
	if c.Context.Err() != nil {
		hint := "the same command checks all again"
		if reuses {
			hint = "umbra contest --continue checks the rest"
		}
		return false, missions.Errorf(missions.KindInterrupted, hint, "interrupted: %d of %s checked", done, print.Count(len(forks), "fork"))
	}
	return whole, nil
}

// known is what the same check has said of the same snapshot, if that may be taken.
func (k checker) known(m missions.Mission) (check missions.Check, known bool) {
	text, err := os.ReadFile(k.home.CheckResultFile(m.ID))
	var r checkResult
	if !k.reuses || err != nil || json.Unmarshal(text, &r) != nil {
		return check, false
	}
	return r.Check, r.Command == k.command && r.Snapshot == m.Head && r.Check.ExitCode != nil
}

// keep keeps what the check has said. One that can't be kept is run again.
func (k checker) keep(m missions.Mission, check missions.Check) {
	text, err := json.Marshal(checkResult{Command: k.command, Snapshot: m.Head, Check: check})
	if err == nil {
		err = os.WriteFile(k.home.CheckResultFile(m.ID), text, 0o600)
	}
	if err != nil {
		k.c.Notice("note: what the check says of %s is not kept: %v", m.Name, err)
	}
}

// say says what the check says of a fork and, if that is not good, what it printed last.
func (k checker) say(m missions.Mission, check missions.Check, took time.Duration) {
	text := fmt.Sprintf("%s is %s, after %s", m.Name, check.State, took.Round(100*time.Millisecond))
	if check.State == missions.CheckUnknown {
		text = fmt.Sprintf("%s: it can't be told, after %s", m.Name, took.Round(100*time.Millisecond))
	}
	if check.State != missions.CheckGood {
		if last := checks.LastLine(k.home.CheckOutputFile(m.ID)); last != "" {
			text += ": " + last
		}
		text += " (umbra mission output " + m.Name + " --check)"
	}
	k.c.Notice("%s", text)
}

// run runs the check in one workspace. The error says why it could not be begun.
func (k checker) run(ctx context.Context, m missions.Mission) (check missions.Check, err error) {
	if err := os.Remove(k.home.CheckResultFile(m.ID)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return missions.NewCheck(-1), err
	}
	return checks.Command{
		Line: k.command, Workspace: m.Workspace, Output: k.home.CheckOutputFile(m.ID), Limit: k.limit,
		Environ: k.c.Environ(), More: []string{"UMBRA_MISSION=" + m.ID},
	}.Run(ctx)
}
