package call

import (
	"os/exec"

	"github.com/umbra-vcs/umbra/missions"
)

// Edit opens a file in the user's editor, whose setting may hold flags.
func (c *Call) Edit(file string) error {
	editor := c.editor()
	cmd := exec.Command("/bin/sh", "-c", editor+` "$1"`, "sh", file)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Environ(), c.Stdin, c.Stdout, c.Stderr
	if err := c.Run(cmd); err != nil {
		return missions.Errorf(missions.KindFailed, "set VISUAL or EDITOR to an editor", "edit with %s: %w", editor, err)
	}
	return nil
}

// editor is the command that edits a file: $VISUAL, else $EDITOR, else vi.
func (c *Call) editor() string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if v := c.Getenv(name); v != "" {
			return v
		}
	}
	return "vi"
}
