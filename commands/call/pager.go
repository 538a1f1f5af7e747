package call

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"syscall"

	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// Paged writes the long text of a command: on a terminal through a pager, which and
// in what colour as Git is told, else straight to stdout. The text is made first, so that the Service is done with
// when the user begins to read.
func (c *Call) Paged(command string, text func(*print.Printer)) error {
	c.progress.end()
	habits := c.gitHabits(command)
	c.heedColor(habits)
	var b bytes.Buffer
	p := c.Out.Into(&b)
	p.Source = c.source()
	text(p)
	if err := p.Flush(); err != nil {
		return err
	}
	pager := c.pagerOf(habits)
	if pager == "" || b.Len() == 0 {
		_, err := c.Stdout.Write(b.Bytes())
		return err
	}
	if err := c.Close(); err != nil { // a reader must not hold what others wait for
		return err
	}
	return c.page(pager, &b)
}

// Pager is the command to page with, whatever Git is told, or "" for none.
func (c *Call) Pager() string { return c.pagerOf(gitHabits{}) }

// pagerOf is the command to page with, or "" for none. The order is git-var(1)'s, for
// GIT_PAGER, behind a variable of Umbra's own.
func (c *Call) pagerOf(h gitHabits) string {
	if !c.Out.Terminal || !c.IsTerminal(c.Stdin) || h.unpaged {
		return ""
	}
	for _, name := range []string{"UMBRA_PAGER", "GIT_PAGER", "", "PAGER"} {
		pager, set := h.pager, h.pager != ""
		if name != "" {
			pager, set = c.LookupEnv(name)
		}
		switch {
		case set && pager == noPager:
			return ""
		case set:
			return pager
		}
	}
	if _, err := missions.LookPath("less", "", c.Getenv("PATH")); err != nil {
		return ""
	}
	return "less"
}

func (c *Call) LookupEnv(name string) (string, bool) {
	for _, kv := range c.Environ() {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v, true
		}
	}
	return "", false
}

// page runs the pager with the text on its stdin. Ctrl-C is the pager's; the command may go on
// to ask its user when that has ended.
func (c *Call) page(pager string, text *bytes.Buffer) error {
	whole := bytes.Clone(text.Bytes())
	cmd := exec.Command("/bin/sh", "-c", pager)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = text, c.Stdout, c.Stderr
	cmd.Env = c.Environ()
	if _, set := c.LookupEnv("LESS"); !set {
		cmd.Env = append(cmd.Env, "LESS=FRX")
	}
	if _, set := c.LookupEnv("LESSCHARSET"); !set { // what is printed is UTF-8 whatever the locale
		cmd.Env = append(cmd.Env, "LESSCHARSET=utf-8")
	}
	err := c.Aside(func() error { return c.Run(cmd) })
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE): // left before the end
		return nil
	case errors.As(err, &exit) && exit.ExitCode() != 127 && exit.ExitCode() != 126:
		return nil
	}
	_, err = c.Stdout.Write(whole) // no pager: the text all the same
	return err
}
