// Package call is one run of a verb: its world, its flags and arguments, where it prints,
// asks and reports progress, and the Service that it reaches. It has what verbs share and
// no verb of its own; what a verb is, and its flags, are here too.
package call

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// Call is one run of a verb: the world, the global flags, the arguments, and
// where results and notices go.
type Call struct {
	Env
	Globals
	Context   context.Context // ends when the user interrupts; its calls report progress
	signals   *interrupts
	Arguments []string // without flags
	After     []string // what followed `--`
	Dashed    bool
	Out, Err  *print.Printer
	progress  *progress
	svc       missions.Service
	closer    io.Closer
	stops     *stops // nil unless Ctrl-Z is taken
	// Unwritten is why nothing can be written in the home that the Service is on; nil
	// if it can.
	Unwritten error
}

// Begin makes what every verb needs: the context, and printers.
func (c *Call) Begin() {
	c.Context, c.signals = listen(c.Env)
	c.Out = c.Globals.Printer(c.Env, c.Stdout)
	c.Err = c.Globals.Printer(c.Env, c.Stderr)
	c.progress = c.newProgress()
}

// Do runs a verb, and closes what that has used.
func (c *Call) Do(run func(*Call) error) error {
	c.Begin()
	defer c.signals.stop()
	err := run(c)
	c.progress.end()
	if cerr := c.Close(); err == nil {
		err = cerr
	}
	if err == nil && c.Unwritten != nil { // else the error says it, or something that counts more
		c.Notice("%s; what was written before can be read", missions.AsError(c.Unwritten).Message)
	}
	if c.signals.came() != nil && errors.Is(err, context.Canceled) {
		return missions.Errorf(missions.KindInterrupted, "", "interrupted")
	}
	return err
}

// Arg is the nth argument, or "".
func (c *Call) Arg(n int) string {
	if n < len(c.Arguments) {
		return c.Arguments[n]
	}
	return ""
}

// Service connects on first use.
func (c *Call) Service() (missions.Service, error) {
	if c.svc != nil {
		return c.svc, nil
	}
	svc, closer, err := c.Connect(c.Context, c.Env, c.Globals)
	if err != nil {
		return nil, err
	}
	c.svc, c.closer = svc, closer
	if dir, err := c.HomeDir(); err == nil {
		c.Unwritten = home.Home{Dir: dir}.CheckWritable()
	}
	return svc, nil
}

// Asking gives what every request needs: the Service, who asks, and a context
// whose calls report their progress.
func (c *Call) Asking() (missions.Service, missions.Caller, context.Context, error) {
	caller, err := c.Caller()
	if err != nil {
		return nil, caller, c.Context, err
	}
	svc, err := c.Service()
	return svc, caller, c.Watched(c.Context), err
}

// Connected is the Service that is in use, nil if none was needed yet.
func (c *Call) Connected() missions.Service { return c.svc }

// Watched is a context whose calls report their progress.
func (c *Call) Watched(ctx context.Context) context.Context {
	return missions.WithNotify(ctx, c.progress.notice)
}

// EndProgress takes a bar off the terminal's line, before something else is written there.
func (c *Call) EndProgress() { c.progress.end() }

// Silence drops progress and notices, as --quiet does.
func (c *Call) Silence() { c.Quiet, c.progress.quiet = true, true }

// ReleaseSignals leaves signals to somebody else: an agent, a pager, or their usual effect.
func (c *Call) ReleaseSignals() { c.signals.stop() }

// Aside runs something that has the terminal for itself.
func (c *Call) Aside(run func() error) error { return c.signals.aside(run) }

// Caller says who asks, and from where.
func (c *Call) Caller() (missions.Caller, error) {
	caller, err := c.Env.Caller()
	caller.Binary = c.Binary()
	return caller, err
}

// Caller says who asks, in a request that names no program.
func (env Env) Caller() (missions.Caller, error) {
	cwd, err := env.Getwd()
	if err != nil {
		return missions.Caller{}, NoDirectory(err)
	}
	caller := missions.Caller{Cwd: cwd, Mission: env.Getenv("UMBRA_MISSION"), Env: map[string]string{}}
	for _, name := range projects.CallerVariables() {
		if v := env.Getenv(name); v != "" {
			caller.Env[name] = v
		}
	}
	return caller, nil
}

// Binary is how hooks name this program: the first umbra on PATH if that is
// this one, unresolved, so that an upgrade in place is followed; else its own
// path; "" for a program that `go run` made and will remove.
func (c *Call) Binary() string {
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

// Print writes v as JSON, or lets text write it for people.
func (c *Call) Print(v any, text func(*print.Printer)) error {
	if c.JSON {
		return c.PrintJSON(v)
	}
	c.progress.end()
	text(c.Out)
	return c.Out.Flush()
}

// TellDone is print for what only says that a command has done what it was asked to:
// --quiet drops it.
func (c *Call) TellDone(v any, text func(*print.Printer)) error {
	if c.Quiet && !c.JSON {
		c.progress.end()
		return nil
	}
	return c.Print(v, text)
}

// PrintJSON writes v as JSON, or what was asked for of it.
func (c *Call) PrintJSON(v any) error {
	c.progress.end()
	return c.writeJSON(func(w io.Writer) error { return c.Fields.Write(w, v) })
}

// PrintJSONLine is PrintJSON on one line.
func (c *Call) PrintJSONLine(v any) error {
	return c.writeJSON(func(w io.Writer) error { return c.Fields.WriteLine(w, v) })
}

// Notice tells the user something beside the result.
func (c *Call) Notice(format string, args ...any) {
	if c.Quiet {
		return
	}
	c.progress.end()
	c.Err.Line("%s", print.Clean(fmt.Sprintf(format, args...)))
	_ = c.Err.Flush() // nobody is left to tell
}

// Listed is never null in JSON.
func Listed[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

func (c *Call) HomeDir() (string, error) { return c.Globals.HomeDir(c.Env) }

// source is that of a command that has asked the Service for something.
func (c *Call) source() *print.Source {
	if c.svc == nil || !c.Out.Color {
		return nil
	}
	caller, err := c.Caller()
	if err != nil {
		return nil
	}
	return &print.Source{Svc: c.svc, Ctx: c.Context, Caller: caller}
}

// Close closes the Service, if the verb used it.
func (c *Call) Close() error {
	if c.stops != nil {
		c.stops.end()
		c.stops = nil
	}
	if c.closer == nil {
		return nil
	}
	closer := c.closer
	c.closer, c.svc = nil, nil
	return closer.Close()
}
