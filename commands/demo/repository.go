package demo

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/missions"
)

// demoModule is the module whose clones the demo takes for its repository.
const demoModule = "github.com/umbra-vcs/umbra"

// makeRepository makes the workspace: a clone of Umbra's own repository if the
// demo is run in one and a small one is not asked for, else a sample.
func (d *demoHome) makeRepository(c *call.Call, small bool) error {
	if top, ok := d.ownClone(c); ok && !small {
		// Another user's repository may be cloned: the person asked for it here.
		trust := fmt.Sprintf("[safe]\n\tdirectory = %q\n", top)
		if err := os.WriteFile(filepath.Join(d.dir, "home", ".gitconfig"), []byte(trust), 0o600); err != nil {
			return fmt.Errorf("write the demo's files: %w", err)
		}
		d.origin = "a clone of " + top
		return d.git(c,
			[]string{"clone", "--quiet", "--local", "--no-hardlinks", top, d.workspace},
			[]string{"-C", d.workspace, "remote", "remove", "origin"})
	}
	d.origin = "a small repository"
	if err := d.writeSample(); err != nil {
		return fmt.Errorf("write the sample: %w", err)
	}
	return d.git(c,
		[]string{"init", "--quiet", "--initial-branch=main", d.workspace},
		[]string{"-C", d.workspace, "add", "."},
		[]string{"-C", d.workspace, "-c", "user.name=Umbra", "-c", "user.email=umbra@localhost", "commit", "--quiet", "--message=Begin"})
}

// ownClone finds the repository around the current directory, if it is one of
// this project with at least one commit.
func (d *demoHome) ownClone(c *call.Call) (top string, ok bool) {
	cwd, err := c.Getwd()
	if err != nil {
		return "", false
	}
	for dir := cwd; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			top = dir
			break
		}
		if dir == filepath.Dir(dir) {
			return "", false
		}
	}
	module, err := os.ReadFile(filepath.Join(top, "go.mod"))
	if err != nil || !strings.HasPrefix(string(module), "module "+demoModule+"\n") {
		return "", false
	}
	return top, d.git(c, []string{"-c", "safe.directory=*", "-C", top, "rev-parse", "--quiet", "--verify", "HEAD"}) == nil
}

// git runs git in the demo's own environment: nothing of the user's
// configuration has a say.
func (d *demoHome) git(c *call.Call, commands ...[]string) error {
	for _, args := range commands {
		cmd := exec.CommandContext(c.Context, "git", args...)
		var said bytes.Buffer
		cmd.Dir, cmd.Env, cmd.Stderr = d.dir, d.env, &said
		err := c.Run(cmd)
		if c.Context.Err() != nil {
			return context.Canceled
		}
		if err != nil {
			return missions.Errorf(missions.KindFailed, "", "git %s: %w: %s", args[0], err, strings.TrimSpace(said.String()))
		}
	}
	return nil
}

// writeSample writes the files of a small repository.
func (d *demoHome) writeSample() error {
	for name, text := range map[string]string{
		".gitignore": "*.log\n/build/\n",
		"README.md": "# A small repository\n\nIt is here for an agent to work in. Words, counted:\n\n" +
			"    sh count.sh README.md\n",
		"count.sh":       "#!/bin/sh\n# Counts the words of files.\nwc -w \"$@\"\n",
		"text/umbra.txt": "The umbra is the innermost and darkest part of a shadow,\nwhere the source of light is wholly hidden.\n",
	} {
		path := filepath.Join(d.workspace, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
