package contests

import (
	"context"
	"encoding/json"
	"errors"
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

// checker runs the user's check in workspaces, in as many at a time as there are processors.
type checker struct {
	c       *call.Call
	home    home.Home
	command string
	limit   time.Duration
	reuses  bool // takes what the same check has said of the same snapshot
	room    chan struct{}
}

// checkResult is what a check has said, as it is kept beside what it printed.
type checkResult struct {
	Command  string         `json:"command"`
	Snapshot string         `json:"snapshot"` // the newest before the check
	Check    missions.Check `json:"check"`
}

func newChecker(c *call.Call, command string, reuses bool) (*checker, error) {
	if c.Unwritten != nil {
		return nil, c.Unwritten // there is no place for the output
	}
	dir, err := c.HomeDir()
	if err != nil {
		return nil, err
	}
	k := &checker{c: c, home: home.Home{Dir: dir}, command: command, reuses: reuses, room: make(chan struct{}, runtime.GOMAXPROCS(0))}
	k.limit, err = checks.Limit(k.home, c.Getenv)
	return k, err
}

// checkAll runs the check in the workspaces of all forks. whole is false where it could not
// be run in one of them.
func checkAll(c *call.Call, command string, forks []missions.ComparedFork) (whole bool, err error) {
	k, err := newChecker(c, command, false)
	if err != nil {
		return false, err
	}
	var (
		all  sync.WaitGroup
		mu   sync.Mutex // what is below, and the notices
		done int
	)
	c.Notice("the check runs in %s", print.Count(len(forks), "workspace"))
	whole = true
	for i := range forks {
		f := &forks[i]
		all.Go(func() {
			v := k.judge(c.Context, f.Fork)
			mu.Lock()
			defer mu.Unlock()
			if c.Context.Err() != nil {
				return
			}
			f.Check = &v.check
			done++
			whole = whole && v.err == nil
			c.Notice("%s", v.line(f.Mission))
		})
	}
	all.Wait()
	if c.Context.Err() != nil {
		return false, missions.Errorf(missions.KindInterrupted, "the same command checks all again",
			"interrupted: %d of %s checked", done, print.Count(len(forks), "fork"))
	}
	return whole, nil
}

// verdict is what the check says of a fork.
type verdict struct {
	check missions.Check
	said  string // in words, behind the fork's name
	notes string // what could not be done beside it, behind that
	last  string // the last line that the check has printed
	known bool   // from an earlier command
	err   error  // why it could not be run
}

// line says it of a fork with this name.
func (v verdict) line(name string) string {
	if v.err != nil {
		return "note: " + name + ": " + v.said + v.notes
	}
	return name + " " + v.said + v.notes
}

// judge is what the check says of a fork, once there is room to run it.
func (k *checker) judge(ctx context.Context, m missions.Mission) (v verdict) {
	if check, known := k.known(m); known {
		return verdict{check: check, said: "is " + string(check.State) + ", as it was", last: checks.LastLine(k.home.CheckOutputFile(m.ID)), known: true}
	}
	k.room <- struct{}{}
	defer func() { <-k.room }()
	began := k.c.Now()
	if v.check, v.err = k.run(ctx, m); v.err != nil {
		v.said = "the check can't be run: " + v.err.Error()
		return v
	}
	if ctx.Err() != nil {
		return v
	}
	v.last = checks.LastLine(k.home.CheckOutputFile(m.ID))
	v.said = v.words(m, k.c.Now().Sub(began))
	if err := k.keep(m, v.check); err != nil {
		v.notes = "; that is not kept: " + err.Error() // so the check is run again
	}
	return v
}

// words are what the check says and, if that is not good, what it printed last.
func (v verdict) words(m missions.Mission, took time.Duration) string {
	text := "is " + string(v.check.State)
	if v.check.State == missions.CheckUnknown {
		text = "can't be judged"
	}
	text += ", after " + took.Round(100*time.Millisecond).String()
	if v.check.State == missions.CheckGood {
		return text
	}
	if v.last != "" {
		text += ": " + v.last
	}
	return text + " (umbra mission output " + m.Name + " --check)"
}

// known is what the same check has said of the same snapshot, if that may be taken.
func (k *checker) known(m missions.Mission) (check missions.Check, known bool) {
	text, err := os.ReadFile(k.home.CheckResultFile(m.ID))
	var r checkResult
	if !k.reuses || err != nil || json.Unmarshal(text, &r) != nil {
		return check, false
	}
	return r.Check, r.Command == k.command && r.Snapshot == m.Head && r.Check.ExitCode != nil
}

// Kept is what the check of its contest has said of a fork as it is now; nil where none has.
func Kept(c *call.Call, m missions.Mission) *missions.Check {
	dir, err := c.HomeDir()
	if err != nil || m.Contest == nil {
		return nil
	}
	k := checker{c: c, home: home.Home{Dir: dir}, command: m.Contest.Check, reuses: true}
	if check, isKnown := k.known(m); isKnown {
		return &check
	}
	return nil
}

// keep keeps what the check has said.
func (k *checker) keep(m missions.Mission, check missions.Check) error {
	text, err := json.Marshal(checkResult{Command: k.command, Snapshot: m.Head, Check: check})
	if err != nil {
		return err
	}
	return os.WriteFile(k.home.CheckResultFile(m.ID), text, 0o600)
}

// run runs the check in one workspace. The error says why it could not be begun.
func (k *checker) run(ctx context.Context, m missions.Mission) (check missions.Check, err error) {
	if err := os.Remove(k.home.CheckResultFile(m.ID)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return missions.NewCheck(-1), err
	}
	running, err := checks.Begin(ctx, k.home, m.ID)
	if err != nil {
		return missions.NewCheck(-1), err
	}
	defer func() { err = errors.Join(err, running.End()) }()
	return checks.Command{
		Line: k.command, Workspace: m.Workspace, Output: k.home.CheckOutputFile(m.ID), Limit: k.limit,
		Environ: k.c.Environ(), More: []string{"UMBRA_MISSION=" + m.ID}, Running: running,
	}.Run(ctx)
}
