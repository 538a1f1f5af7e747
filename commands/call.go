package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// call is one run of a verb: the world, the global flags, the arguments, and
// where results and notices go.
type call struct {
	Env
	Globals
	ctx      context.Context // ends when the user interrupts; its calls report progress
	signals  *interrupts
	args     []string
	after    []string // what followed `--`
	dashed   bool
	out, err *printer
	progress *progress
	svc      missions.Service
	closer   io.Closer
	stops    *stops // nil unless Ctrl-Z is taken
	// unwritten is why nothing can be written in the home that the Service is on; nil
	// if it can.
	unwritten error
}

// arg is the nth argument, or "".
func (c *call) arg(n int) string {
	if n < len(c.args) {
		return c.args[n]
	}
	return ""
}

// service connects on first use.
func (c *call) service() (missions.Service, error) {
	if c.svc != nil {
		return c.svc, nil
	}
	svc, closer, err := c.Connect(c.ctx, c.Env, c.Globals)
	if err != nil {
		return nil, err
	}
	c.svc, c.closer = svc, closer
	if dir, err := c.homeDir(c.Env); err == nil {
		c.unwritten = home.Home{Dir: dir}.CheckWritable()
	}
	return svc, nil
}

// asking gives what every request needs: the Service, who asks, and a context
// whose calls report their progress.
func (c *call) asking() (missions.Service, missions.Caller, context.Context, error) {
	caller, err := c.caller()
	if err != nil {
		return nil, caller, c.ctx, err
	}
	svc, err := c.service()
	return svc, caller, missions.WithNotify(c.ctx, c.progress.notice), err
}

// caller says who asks, and from where.
func (c *call) caller() (missions.Caller, error) {
	caller, err := callerOf(c.Env)
	caller.Binary = c.binary()
	return caller, err
}

// callerOf is caller for a request that names no program.
func callerOf(env Env) (missions.Caller, error) {
	cwd, err := env.Getwd()
	if err != nil {
		return missions.Caller{}, noDirectory(err)
	}
	caller := missions.Caller{Cwd: cwd, Mission: env.Getenv("UMBRA_MISSION"), Env: map[string]string{}}
	for _, name := range projects.CallerVariables() {
		if v := env.Getenv(name); v != "" {
			caller.Env[name] = v
		}
	}
	return caller, nil
}

// binary is how hooks name this program: the first umbra on PATH if that is
// this one, unresolved, so that an upgrade in place is followed; else its own
// path; "" for a program that `go run` made and will remove.
func (c *call) binary() string {
	self, err := c.Executable()
	if err != nil {
		return ""
	}
	resolved, err := filepath.EvalSymlinks(self)
	if err != nil {
		resolved = self
	}
	if strings.Contains(filepath.ToSlash(resolved), "/go-build") && strings.Contains(filepath.ToSlash(resolved), "/exe/") {
		return ""
	}
	if first, err := missions.LookPath("umbra", "", c.Getenv("PATH")); err == nil && filepath.IsAbs(first) {
		a, errA := os.Stat(first)
		b, errB := os.Stat(resolved)
		if errA == nil && errB == nil && os.SameFile(a, b) {
			return first
		}
	}
	return self
}

// print writes v as JSON, or lets text write it for people.
func (c *call) print(v any, text func(*printer)) error {
	if c.JSON {
		return c.printJSON(v)
	}
	c.progress.end()
	text(c.out)
	return c.out.flush()
}

// tellDone is print for what only says that a command has done what it was asked to:
// --quiet drops it.
func tellDone(c *call, v any, text func(*printer)) error {
	if c.Quiet && !c.JSON {
		c.progress.end()
		return nil
	}
	return c.print(v, text)
}

func (c *call) printJSON(v any) error {
	p, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("write the result as JSON: %w", err)
	}
	c.progress.end()
	_, err = c.Stdout.Write(append(p, '\n'))
	return err
}

// notice tells the user something beside the result.
func (c *call) notice(format string, args ...any) {
	if c.Quiet {
		return
	}
	c.progress.end()
	c.err.line("%s", clean(fmt.Sprintf(format, args...)))
	_ = c.err.flush() // nobody is left to tell
}

// listed is never null in JSON.
func listed[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}
