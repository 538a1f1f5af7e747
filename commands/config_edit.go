package commands

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/settings"
)

func configEditCommand() *verb {
	var o configOptions
	return &verb{
		name: "edit", short: "open the configuration in your editor, and check it before it counts",
		long:  "The editor is $VISUAL, else $EDITOR, else vi.",
		flags: o.flags(),
		run:   func(c *call) error { return runConfigEdit(c, o) },
	}
}

// runConfigEdit has a copy edited, which takes the file's place when it makes
// sense: a broken file would be in the way of everything else. The copy goes, unless
// it holds what would be lost with it: that is said.
func runConfigEdit(c *call, o configOptions) error {
	if !o.project {
		if err := c.makeHome(); err != nil {
			return err
		}
	}
	file, err := c.configFile(o)
	if err != nil {
		return err
	}
	there, err := settings.Read(file)
	if err != nil {
		return err
	}
	before := there
	if there == nil {
		before = []byte(settings.Template(o.project))
	}
	dir, err := os.MkdirTemp("", "umbra-config-")
	if err != nil {
		return missions.Errorf(missions.KindFailed, "", "make a copy to edit: %w", err)
	}
	copied := filepath.Join(dir, filepath.Base(file))
	if err := os.WriteFile(copied, before, 0o600); err != nil {
		return errors.Join(missions.Errorf(missions.KindFailed, "", "make a copy to edit: %w", err), os.RemoveAll(dir))
	}
	after, err := c.edited(copied, o)
	switch {
	case err != nil:
	case bytes.Equal(before, after):
		c.notice("nothing was changed")
	default:
		err = c.whyUnwritten(o, settings.Replace(file, there, after))
	}
	if err != nil {
		return c.keptCopy(err, copied, before)
	}
	return os.RemoveAll(dir)
}

// keptCopy adds to an error where the user's work is, if there is any.
func (c *call) keptCopy(err error, copied string, before []byte) error {
	if text, rerr := os.ReadFile(copied); rerr == nil && bytes.Equal(text, before) {
		return errors.Join(err, os.RemoveAll(filepath.Dir(copied)))
	}
	e := missions.AsError(err)
	hint := "what you wrote is in " + copied
	if e.Hint != "" {
		hint += "\n" + e.Hint
	}
	return missions.Errorf(e.Kind, hint, "%w", err)
}

// edited runs the editor until what it leaves makes sense, or its user gives up.
func (c *call) edited(copied string, o configOptions) ([]byte, error) {
	for {
		if err := c.runEditor(copied); err != nil {
			return nil, err
		}
		text, err := os.ReadFile(copied)
		if err != nil {
			return nil, missions.Errorf(missions.KindFailed, "", "read what was edited: %w", err)
		}
		wrong := settings.Check(text, o.project)
		if wrong == nil {
			return text, nil
		}
		again := "n"
		if c.canAsk() {
			if again, err = c.ask(wrong.Error(), answer{"e", "edit it again"}, answer{"n", "give up; the copy stays"}); err != nil {
				return nil, err
			}
		}
		if again != "e" {
			return nil, missions.Errorf(missions.KindUsage, "", "nothing was changed: %w", wrong)
		}
	}
}

// runEditor opens a file in the user's editor, whose setting may hold flags.
func (c *call) runEditor(file string) error {
	editor := c.editor()
	cmd := exec.Command("/bin/sh", "-c", editor+` "$1"`, "sh", file)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Environ(), c.Stdin, c.Stdout, c.Stderr
	if err := c.Run(cmd); err != nil {
		return missions.Errorf(missions.KindFailed, "set VISUAL or EDITOR to an editor", "edit with %s: %w", editor, err)
	}
	return nil
}

// editor is the command that edits a file: $VISUAL, else $EDITOR, else vi.
func (c *call) editor() string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if v := c.Getenv(name); v != "" {
			return v
		}
	}
	return "vi"
}
