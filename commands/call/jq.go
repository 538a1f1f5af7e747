package call

import (
	"bytes"
	"errors"
	"io"
	"os/exec"
	"strings"
	"syscall"

	"github.com/umbra-vcs/umbra/missions"
)

// findJQ finds the program that filters JSON for --jq, which is the user's own: a library
// for it would cost each hook some two thousand allocations at its start.
func (g *Globals) findJQ(env Env) (err error) {
	if g.jq == "" {
		return nil
	}
	g.JSON = true
	if g.jqProgram, err = missions.LookPath("jq", "", env.Getenv("PATH")); err != nil {
		return missions.Errorf(missions.KindNotFound, "install it (https://jqlang.org), or print all with --json", "--jq needs the program jq, which is not in PATH")
	}
	return g.compileFilter(env)
}

// exitNotCompiled is how jq ends where it can't read its filter.
const exitNotCompiled = 3

// compileFilter refuses a filter that can't be read, before anything is done: behind `empty`
// it runs on nothing. A module's directives have to come first, so such a filter is tried on
// the result alone.
func (g *Globals) compileFilter(env Env) error {
	for _, directive := range [...]string{"import", "include", "module"} {
		if strings.HasPrefix(strings.TrimSpace(g.jq), directive) {
			return nil
		}
	}
	cmd := exec.Command(g.jqProgram, "-n", "empty | "+g.jq)
	var said bytes.Buffer
	cmd.Env, cmd.Stderr = env.Environ(), &said
	err := env.Run(cmd)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == exitNotCompiled {
		return missions.Errorf(missions.KindUsage, "nothing was done", "--jq %q: %s", g.jq, bytes.TrimSpace(said.Bytes()))
	}
	return nil // what else is wrong shows when it runs
}

// writeJSON has write print JSON: through jq, where the user wants it filtered. A filter that
// fails takes nothing back of what the command has done.
func (c *Call) writeJSON(write func(io.Writer) error) error {
	if c.jq == "" {
		return write(c.Stdout)
	}
	var text, said bytes.Buffer
	wrong := write(&text)
	cmd := exec.Command(c.jqProgram, "-r", map[bool]string{false: "-M", true: "-C"}[c.Out.Color], " "+c.jq) // a filter may begin with -
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Environ(), &text, c.Stdout, &said
	err := c.Run(cmd)
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE), errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGPIPE:
		return wrong // who reads has enough
	case errors.As(err, &exit):
		said := bytes.TrimSpace(said.Bytes())
		err = missions.Errorf(missions.KindUsage, "the command itself is done; try the filter on what --json prints", "--jq %q: %s", c.jq, said)
	default:
		err = missions.Errorf(missions.KindFailed, "", "run jq: %w", err)
	}
	return errors.Join(wrong, err)
}
