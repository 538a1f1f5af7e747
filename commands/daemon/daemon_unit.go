package daemon

import (
	"runtime"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/connect"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// unitResult is what daemon install and uninstall print.
type unitResult struct {
	File    string `json:"file"`
	Changed bool   `json:"changed"`
	Problem string `json:"problem,omitempty"` // why the system was not told
	Fix     string `json:"fix,omitempty"`
}

func daemonUnitVerbs() []*call.Verb {
	return []*call.Verb{
		{
			Name: "install", Short: "have it started when you log in",
			Long: `Nobody needs this: the first command that wants a daemon starts one. It spares
that command the start, and what changes between login and then is known at once.
On Linux this is a user unit of systemd, on macOS an agent of launchd. It keeps the
program's path and your PATH as they are now: install again when they change.
Elsewhere, have umbra daemon run --stay started.`,
			Run: runDaemonInstall,
		},
		{Name: "uninstall", Short: "take that back, and stop the daemon that was started so", Run: runDaemonUninstall},
	}
}

func runDaemonInstall(c *call.Call) error {
	binary := c.Binary()
	if binary == "" {
		return missions.Errorf(missions.KindConflict, "install umbra, then umbra daemon install",
			"a unit needs an umbra that stays where it is; this one was started by `go run`")
	}
	o, err := connect.Options(c.Env, c.Globals)
	if err != nil {
		return err
	}
	u, err := unitOf(c, runtime.GOOS, []string{binary, "daemon", "run", "--stay", "--home", o.Home.Dir})
	if err != nil {
		return err
	}
	r := unitResult{File: u.File}
	if r.Changed, err = u.write(); err != nil {
		return err
	}
	return printUnit(c, r, "installed", tell(c, u, u.enable))
}

func runDaemonUninstall(c *call.Call) error {
	u, installed, err := OurUnit(c)
	if err != nil {
		return err
	}
	var told error
	if installed {
		told, err = DropUnit(c, u)
	}
	if err != nil {
		return err
	}
	if err := printUnit(c, unitResult{File: u.File, Changed: installed}, "uninstalled", nil); err != nil || told == nil {
		return err
	}
	return goesOn(c, told)
}

// DropUnit removes a unit. A manager that can't be told, as where nobody is logged
// in, has made nothing then that is still there at the next login: told says so for
// who wants the daemon to end.
func DropUnit(c *call.Call, u unit) (told, err error) {
	told = tell(c, u, u.disable)
	if err := u.erase(); err != nil {
		return told, err
	}
	if told == nil {
		_ = tell(c, u, u.after) // the same holds
	}
	return told, nil
}

// goesOn is the error where the manager could not be told to stop a daemon that
// runs.
func goesOn(c *call.Call, told error) error {
	o, err := connect.Options(c.Env, c.Globals)
	if err != nil || !connect.Held(o.Home) {
		return err
	}
	return missions.Errorf(missions.KindFailed, "umbra daemon stop", "the daemon goes on: %w", told)
}

// printUnit says what became of a unit; done in part where the system could not
// be told.
func printUnit(c *call.Call, r unitResult, did string, told error) error {
	if told != nil {
		e := missions.AsError(told)
		r.Problem, r.Fix = e.Message, e.Hint
	}
	err := c.Print(r, func(p *print.Printer) {
		if r.Changed {
			p.Line("%s: %s", did, print.Clean(r.File))
		} else {
			p.Line("nothing to change in %s", print.Clean(r.File))
		}
		if r.Problem != "" {
			p.Line("%s %s", p.Paint(print.Red, "problem:"), print.Clean(r.Problem))
			p.Line("  to type where you log in: %s", print.Clean(r.Fix))
		}
	})
	if err == nil && told != nil {
		return call.Partly
	}
	return err
}
