package commands

import (
	"runtime"

	"github.com/umbra-vcs/umbra/missions"
)

// unitResult is what daemon install and uninstall print.
type unitResult struct {
	File    string `json:"file"`
	Changed bool   `json:"changed"`
	Problem string `json:"problem,omitempty"` // why the system was not told
	Fix     string `json:"fix,omitempty"`
}

func daemonUnitVerbs() []*verb {
	return []*verb{
		{
			name: "install", short: "have it started when you log in",
			long: `Nobody needs this: the first command that wants a daemon starts one. It spares
that command the start, and what changes between login and then is known at once.
On Linux this is a user unit of systemd, on macOS an agent of launchd. It keeps the
program's path and your PATH as they are now: install again when they change.
Elsewhere, have umbra daemon run --stay started.`,
			run: runDaemonInstall,
		},
		{name: "uninstall", short: "take that back, and stop the daemon that was started so", run: runDaemonUninstall},
	}
}

func runDaemonInstall(c *call) error {
	binary := c.binary()
	if binary == "" {
		return missions.Errorf(missions.KindConflict, "install umbra, then umbra daemon install",
			"a unit needs an umbra that stays where it is; this one was started by `go run`")
	}
	o, err := clientOptions(c.Env, c.Globals)
	if err != nil {
		return err
	}
	u, err := c.unitOf(runtime.GOOS, []string{binary, "daemon", "run", "--stay", "--home", o.Home.Dir})
	if err != nil {
		return err
	}
	r := unitResult{File: u.file}
	if r.Changed, err = u.write(); err != nil {
		return err
	}
	return c.printUnit(r, "installed", c.tell(u, u.enable))
}

func runDaemonUninstall(c *call) error {
	u, installed, err := c.ourUnit()
	if err != nil {
		return err
	}
	var told error
	if installed {
		told, err = c.dropUnit(u)
	}
	if err != nil {
		return err
	}
	if err := c.printUnit(unitResult{File: u.file, Changed: installed}, "uninstalled", nil); err != nil || told == nil {
		return err
	}
	return c.goesOn(told)
}

// dropUnit removes a unit. A manager that can't be told, as where nobody is logged
// in, has made nothing then that is still there at the next login: told says so for
// who wants the daemon to end.
func (c *call) dropUnit(u unit) (told, err error) {
	told = c.tell(u, u.disable)
	if err := u.erase(); err != nil {
		return told, err
	}
	if told == nil {
		_ = c.tell(u, u.after) // the same holds
	}
	return told, nil
}

// goesOn is the error where the manager could not be told to stop a daemon that
// runs.
func (c *call) goesOn(told error) error {
	o, err := clientOptions(c.Env, c.Globals)
	if err != nil || !held(o.Home) {
		return err
	}
	return missions.Errorf(missions.KindFailed, "umbra daemon stop", "the daemon goes on: %w", told)
}

// printUnit says what became of a unit; done in part where the system could not
// be told.
func (c *call) printUnit(r unitResult, did string, told error) error {
	if told != nil {
		e := missions.AsError(told)
		r.Problem, r.Fix = e.Message, e.Hint
	}
	err := c.print(r, func(p *printer) {
		if r.Changed {
			p.line("%s: %s", did, clean(r.File))
		} else {
			p.line("nothing to change in %s", clean(r.File))
		}
		if r.Problem != "" {
			p.line("%s %s", p.paint(red, "problem:"), clean(r.Problem))
			p.line("  to type where you log in: %s", clean(r.Fix))
		}
	})
	if err == nil && told != nil {
		return partly
	}
	return err
}
