package config

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/settings"
)

func configEditCommand() *call.Verb {
	var o configOptions
	return &call.Verb{
		Name: "edit", Short: "open the configuration in your editor, and check it before it counts",
		Long:  "The editor is $VISUAL, else $EDITOR, else vi.",
		Flags: o.flags(),
		Run:   func(c *call.Call) error { return runConfigEdit(c, o) },
	}
}

// runConfigEdit has a copy edited, which takes the file's place when it makes
// sense: a broken file would be in the way of everything else. The copy goes, unless
// it holds what would be lost with it: that is said.
func runConfigEdit(c *call.Call, o configOptions) error {
	if !o.project {
		if err := makeHome(c); err != nil {
			return err
		}
	}
	file, err := configFile(c, o)
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
	after, err := editUntilValid(c, copied, before, o)
	switch {
	case err != nil:
	case bytes.Equal(before, after):
		c.Notice("nothing was changed")
	default:
		err = whyUnwritten(c, o, settings.Replace(file, there, after))
	}
	if err != nil {
		return keptCopy(c, err, copied, before)
	}
	return os.RemoveAll(dir)
}

// keptCopy adds to an error where the user's work is, if there is any.
func keptCopy(c *call.Call, err error, copied string, before []byte) error {
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

// editUntilValid runs the editor until what it leaves makes sense, or its user gives up.
func editUntilValid(c *call.Call, copied string, before []byte, o configOptions) ([]byte, error) {
	for {
		if err := c.Edit(copied); err != nil {
			return nil, err
		}
		text, err := os.ReadFile(copied)
		if err != nil {
			return nil, missions.Errorf(missions.KindFailed, "", "read what was edited: %w", err)
		}
		wrong := settings.Check(text, o.project)
		if wrong == nil && !o.project {
			wrong = checkPlaces(c, copied, before, text)
		}
		if wrong == nil {
			return text, nil
		}
		again := "n"
		if c.CanAsk() {
			if again, err = c.Ask(wrong.Error(), call.Answer{"e", "edit it again"}, call.Answer{"n", "give up; the copy stays"}); err != nil {
				return nil, err
			}
		}
		if again != "e" {
			return nil, missions.Errorf(missions.KindUsage, "", "nothing was changed: %w", wrong)
		}
	}
}

// checkPlaces refuses a configuration that newly names a place where none of its kind can be.
// One that was named before may be a disk that is away.
func checkPlaces(c *call.Call, file string, before, text []byte) error {
	parsed, err := settings.Parse(file, text)
	if err != nil {
		return err
	}
	if was, err := settings.Parse(file, before); err == nil && was.Fork.Root == parsed.Fork.Root {
		return nil
	}
	return checkForkRoot(c, parsed.Fork.Root)
}
