// Package uninstall takes Umbra out of everything it was put into.
package uninstall

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/connect"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/commands/reference"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/watcher/client"
)

type uninstallOptions struct{ data, dryRun, force bool }

func Command(all func() []*call.Verb) *call.Verb {
	var o uninstallOptions
	return &call.Verb{
		Name: "uninstall", Short: "take Umbra out of everything it was put into",
		Long: `Takes out the hooks of agents, editors and Git, yours and those of projects that
Umbra knows, and the unit, completions and manual pages where they are Umbra's as
they stand; stops the daemon; says what is left, the program itself among it. What
it keeps of your work stays, unless --data is given: then it says what is lost, and
asks.`,
		Flags: []flags.Flag{
			flags.Bool("data", "also every snapshot, conversation and setting that Umbra keeps: they are lost", &o.data),
			flags.Bool("dry-run", "only say what would be done", &o.dryRun),
			flags.Bool("force", "also while agents are at work: they go on, and so does what Umbra does for them; "+
				"with --data where missions can't be read instead", &o.force),
		},
		Run: func(c *call.Call) error { return runUninstall(c, o, reference.ManPages(all())) },
	}
}

// uninstalled is what umbra uninstall prints.
type uninstalled struct {
	DryRun   bool               `json:"dry_run"`
	Removed  []part             `json:"removed"`
	Left     []part             `json:"left"`
	Problems []missions.Problem `json:"problems"`
}

// part is something of Umbra's outside its home, or the home.
type part struct {
	What string `json:"what"`
	Path string `json:"path,omitempty"`
	Fix  string `json:"fix,omitempty"` // what removes it
}

// uninstalling is one run of umbra uninstall.
type uninstalling struct {
	*call.Call
	uninstallOptions
	svc      missions.Service
	asks     missions.Caller
	at       client.Options
	missions []missions.Mission  // of every project
	live     []missions.Mission  // those that have an agent, or are about to
	unread   []string            // what is said of those that can't be read
	homeless bool                // there was no home before this
	pages    []reference.ManPage // what umbra man --dir writes
	done     uninstalled
}

func runUninstall(c *call.Call, o uninstallOptions, pages []reference.ManPage) error {
	c.NoDaemon, c.Heeded = true, true // none is started for this, and a broken configuration keeps nobody
	dir, err := c.HomeDir()
	if err != nil {
		return err
	}
	_, none := os.Lstat(dir)
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	u := &uninstalling{Call: c, uninstallOptions: o, svc: svc, asks: caller, pages: pages, homeless: errors.Is(none, fs.ErrNotExist)}
	u.done = uninstalled{DryRun: o.dryRun, Removed: []part{}, Left: []part{}, Problems: []missions.Problem{}}
	if u.at, err = connect.Options(c.Env, c.Globals); err != nil {
		return err
	}
	watched := missions.WithNotify(ctx, func(n missions.Notice) {
		u.unread = append(u.unread, n.Text)
		missions.Notify(ctx, n)
	})
	if u.missions, err = svc.Missions(watched, missions.MissionsRequest{Caller: caller, All: true}); err != nil {
		return err
	}
	u.live = slices.DeleteFunc(slices.Clone(u.missions), missions.Mission.IsUnmanned)
	if err := u.mayGo(); err != nil {
		return err
	}
	if o.data && !o.dryRun && !u.homeless {
		if err := u.confirmLoss(ctx); err != nil {
			return err
		}
	}
	err = u.everything(ctx)
	if err := errors.Join(err, c.Print(u.done, u.describe)); err != nil {
		return err
	}
	if len(u.done.Problems) > 0 {
		return call.Partly
	}
	return nil
}

// mayGo refuses while agents are at work: what they do from now on may be in no
// snapshot, and nobody has told them.
func (u *uninstalling) mayGo() error {
	var live []string
	for _, m := range u.live {
		live = append(live, m.Name)
	}
	if len(live) == 0 || u.dryRun || u.force && !u.data {
		return u.mayErase()
	}
	hint := "umbra mission stop " + strings.Join(live, " ")
	if !u.data {
		hint += "; or umbra uninstall --force, which leaves them running"
	}
	return missions.Errorf(missions.KindBusy, hint, "agents are at work in %s: nothing was done", strings.Join(live, ", "))
}

// mayErase refuses before anything else goes. A mission that can't be read may have
// an agent at work, and is in no count of what is lost.
func (u *uninstalling) mayErase() error {
	if !u.data {
		return nil
	}
	if err := u.at.Home.CheckErasable(); err != nil {
		return err
	}
	if len(u.unread) > 0 && !u.force {
		return missions.Errorf(missions.KindDamaged, "umbra doctor --fix; or umbra uninstall --data --force, which removes it unread",
			"what would be lost can't be told: %s", strings.Join(u.unread, "; "))
	}
	return nil
}

// everything does it, in an order that leaves nothing running which would be
// started again.
func (u *uninstalling) everything(ctx context.Context) error {
	u.hooks(ctx)
	u.unit()
	u.shellFiles()
	if err := u.stopDaemon(ctx); err != nil {
		return err
	}
	u.workspaces()
	if err := u.home(); err != nil {
		return err
	}
	if binary := u.Binary(); binary != "" {
		u.left("this program", binary, "rm "+home.ShellQuote(binary))
	}
	return nil
}

func (u *uninstalling) removed(what, path string) {
	u.done.Removed = append(u.done.Removed, part{What: what, Path: path})
}

func (u *uninstalling) left(what, path, fix string) {
	u.done.Left = append(u.done.Left, part{What: what, Path: path, Fix: fix})
}

// failed notes what could not be done; the rest is done all the same.
func (u *uninstalling) failed(err error) {
	e := missions.AsError(err)
	u.done.Problems = append(u.done.Problems, missions.Problem{Message: e.Message, Fix: e.Hint})
}

func (u *uninstalling) stopDaemon(ctx context.Context) error {
	holder, _, held := u.at.Home.LockHolder()
	switch {
	case !held:
		return nil
	case len(u.live) > 0:
		u.left("what the agents at work tell of themselves, "+holder, "", "umbra daemon stop, when they have ended")
		return nil
	case !u.dryRun:
		socket := u.at.Home.Socket()
		limited, cancel := context.WithTimeout(ctx, connect.Patience)
		defer cancel()
		if _, err := client.Leave(limited, u.at); err != nil {
			return err
		}
		if socket != "" {
			_ = os.Remove(filepath.Dir(socket)) // where it was made for the socket alone
		}
	}
	u.removed("the daemon, "+holder, "")
	return nil
}

// workspaces names those of forks: they are the user's own worktrees by now. With
// the data goes what umbra mission rm would know of them.
func (u *uninstalling) workspaces() {
	for _, m := range u.missions {
		if _, err := os.Lstat(m.Workspace); !m.MadeByUmbra || err != nil {
			continue
		}
		fix := "umbra mission rm " + m.Name + " --workspace, before it is uninstalled with --data"
		if u.data && !u.dryRun {
			fix = "rm -r " + home.ShellQuote(m.Workspace)
			dir := m.Workspace
			if m.Branch != "" { // a worktree, which is locked
				dir = worktreeOf(dir)
				fix = "git -C " + home.ShellQuote(dir) + " worktree remove -f -f ."
			}
			fix = home.RemovalCommand(dir, fix)
		}
		u.left("the workspace of "+m.Name, m.Workspace, fix)
	}
}

// worktreeOf is the worktree that a fork's workspace is in: itself, or a directory above
// it, where its mission works in a directory of a repository.
func worktreeOf(workspace string) string {
	for dir := workspace; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if home.IsThere(filepath.Join(dir, ".git")) {
			return dir
		}
	}
	return workspace
}

// home removes the home, or says what it takes.
func (u *uninstalling) home() error {
	dir := u.at.Home.Dir
	switch {
	case u.homeless:
		return u.unmake()
	case !u.data:
		u.left("your missions, with all their snapshots and conversations", dir, "umbra uninstall --data")
		return nil
	case u.dryRun:
		u.removed("your missions, with all their snapshots and conversations", dir)
		return nil
	}
	if err := u.Close(); err != nil { // the Service works in the home
		return err
	}
	stays, err := u.at.Home.Erase()
	if err != nil {
		return err
	}
	u.removed("your missions, with all their snapshots and conversations", dir)
	for _, path := range stays {
		what := "not Umbra's, in its home"
		if filepath.Dir(path) != dir {
			what = "what a link in its home led to"
		}
		u.left(what, path, "")
	}
	return nil
}

// unmake removes a home that was made for asking alone, unless somebody else has
// begun to use it.
func (u *uninstalling) unmake() error {
	if err := u.Close(); err != nil {
		return err
	}
	if os.Remove(u.at.Home.ProjectsDir()) != nil {
		return nil // it holds a project by now
	}
	_, err := u.at.Home.Erase()
	return err
}

// confirmLoss says what goes with the data, and asks.
func (u *uninstalling) confirmLoss(ctx context.Context) error {
	if u.Yes {
		return nil
	}
	snapshots := 0
	for _, m := range u.missions {
		list, err := u.svc.Log(ctx, missions.LogRequest{Caller: u.asks, Mission: m.ID})
		if err != nil {
			return fmt.Errorf("count the snapshots of %s: %w", m.Name, err)
		}
		snapshots += len(list)
	}
	u.Err.Line("%s, %s, what is in the trash, and your configuration in %s are removed for good:",
		print.Count(len(u.missions), "mission"), print.Count(snapshots, "snapshot"), print.Clean(u.at.Home.Dir))
	u.Err.Line("nothing can be restored after that. Your repositories and workspaces stay as they are.")
	_ = u.Err.Flush()
	if !u.CanAsk() {
		return missions.Errorf(missions.KindConflict, "umbra uninstall --data --yes removes it; without --data everything is kept",
			"nobody can be asked: nothing was done")
	}
	yes, err := u.Confirm("Remove all of it?")
	if err == nil && !yes {
		err = missions.Errorf(missions.KindConflict, "", "nothing was done")
	}
	return err
}

func (u *uninstalling) describe(p *print.Printer) {
	verb := "removed"
	if u.dryRun {
		verb = "would be removed"
	}
	if len(u.done.Removed) == 0 {
		p.Line("nothing of Umbra's was found to remove")
	}
	for _, r := range u.done.Removed {
		p.Line("%s: %s", verb, print.Clean(r.say()))
	}
	for _, l := range u.done.Left {
		p.Line("left: %s", print.Clean(l.say()))
		if l.Fix != "" {
			p.Line("  to remove it: %s", print.Clean(l.Fix))
		}
	}
	for _, problem := range u.done.Problems {
		p.Line("%s %s", p.Paint(print.Red, "problem:"), print.Clean(problem.Message))
		if problem.Fix != "" {
			p.Line("  to mend it: %s", print.Clean(problem.Fix))
		}
	}
}

func (r part) say() string {
	if r.Path == "" {
		return r.What
	}
	return r.What + " in " + r.Path
}
