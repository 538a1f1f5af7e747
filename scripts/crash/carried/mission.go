// Package carried has a mission that is carried from a home to another, by a remote and by files, so
// that what carries it can be killed. It is small: the worlds of scripts/crash are too large to be
// pushed again and again.
package carried

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

// A Mission is one of two files, and the homes that it is carried between.
type Mission struct {
	// Top has all of it.
	Top   string
	ours  *lab.Umbra
	other *lab.Umbra
	work  string // the mission's workspace
	there string // where the other home's user is
	text  string // what is in the mission's file now
	trips int
}

// mostTrips is how often one mission is carried: its history grows.
const mostTrips = 40

// IsWorn reports whether it has been carried often enough.
func (c *Mission) IsWorn() bool { return c.trips >= mostTrips }

// Homes are the directories of both homes' projects.
func (c *Mission) Homes() []string {
	return []string{filepath.Join(c.ours.Base, "umbra", "projects"), filepath.Join(c.other.Base, "umbra", "projects")}
}

// A Way is a way of carrying it: what is done before without a kill, and what dies.
type Way struct {
	before [][]string // of our home
	Args   []string
	theirs bool // it is the other home's
}

func (c *Mission) remote() string { return filepath.Join(c.Top, "remote.git") }
func (c *Mission) file() string   { return filepath.Join(c.Top, "mail", "carried.umbra") }

// Pushing sends it to the remote.
func (c *Mission) Pushing() Way { return Way{Args: []string{"push", "r"}} }

// Fetching brings it from there.
func (c *Mission) Fetching() Way {
	return Way{before: [][]string{{"push", "r"}}, Args: []string{"fetch", "r"}, theirs: true}
}

// Exporting writes it to a file.
func (c *Mission) Exporting() Way {
	return Way{Args: []string{"export", "carried", "-o", c.file()}}
}

// Importing reads the file.
func (c *Mission) Importing() Way {
	return Way{before: [][]string{{"export", "carried", "-o", c.file()}}, Args: []string{"import", c.file()}, theirs: true}
}

// Prepare has the mission go on to a text, and does what comes before. It says which home the
// command is of, and where it is run.
func (c *Mission) Prepare(ctx context.Context, way Way, text string) (u *lab.Umbra, dir string, err error) {
	c.text = text
	if err := write(filepath.Join(c.work, "d", "b"), text); err != nil {
		return nil, "", err
	}
	for _, args := range append([][]string{{"snapshot"}}, way.before...) {
		if err := c.run(ctx, false, args...); err != nil {
			return nil, "", err
		}
	}
	if way.theirs {
		return c.other, c.there, nil
	}
	return c.ours, c.work, nil
}

func write(path, text string) error {
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
}

func (c *Mission) git(ctx context.Context, dir string, args ...string) (string, error) {
	_, out, err := lab.Command{Args: append([]string{"git"}, args...), Dir: dir, Env: lab.GitEnv(c.Top)}.Run(ctx)
	return string(out), err
}

// fsck is the error of a repository in which git finds something wrong.
func (c *Mission) fsck(ctx context.Context, dir string) error {
	said, err := c.git(ctx, dir, "fsck", "--full", "--no-progress", "--no-dangling")
	if err != nil || strings.TrimSpace(said) != "" {
		return fmt.Errorf("git fsck of %s: %w %s", dir, err, said)
	}
	return nil
}

// New makes the mission and both homes below top, with that umbra program.
func New(ctx context.Context, binary, top string) (*Mission, error) {
	c := &Mission{Top: top, work: filepath.Join(top, "work"), there: filepath.Join(top, "there")}
	for name, text := range map[string]string{"work/a": "a\n", "work/d/b": "b\n", "there/c": "c\n", "mail/letter": "none\n"} {
		if err := write(filepath.Join(top, name), text); err != nil {
			return nil, err
		}
	}
	var ours, other, bare error
	c.ours, ours = lab.NewUmbra(binary, filepath.Join(top, "ours"))
	c.other, other = lab.NewUmbra(binary, filepath.Join(top, "other"))
	_, bare = c.git(ctx, top, "init", "-q", "--bare", c.remote())
	if err := errors.Join(ours, other, bare); err != nil {
		return nil, err
	}
	add := []string{"remote", "add", "r", c.remote(), "--project", "carried"}
	return c, errors.Join(c.run(ctx, false, "mission", "new", "--no-launch", "--name", "carried", "--", "true"), c.run(ctx, false, add...), c.run(ctx, true, add...))
}

// run runs a command of either home that nobody kills.
func (c *Mission) run(ctx context.Context, theirs bool, args ...string) error {
	u, dir := c.ours, c.work
	if theirs {
		u, dir = c.other, c.there
	}
	_, said, err := u.Run(ctx, dir, append([]string{"--no-daemon"}, args...)...)
	if err != nil {
		return fmt.Errorf("umbra %s: %w %s", strings.Join(args, " "), err, said)
	}
	return nil
}

// again runs a command that was killed until it is done: a git that outlives its umbra holds the
// refs of the remote for a moment.
func (c *Mission) again(ctx context.Context, theirs bool, args ...string) (err error) {
	const most = 20
	for range most {
		if err = c.run(ctx, theirs, args...); err == nil || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// Settle checks that nothing was lost after a kill, does it again, and checks that all has come.
func (c *Mission) Settle(ctx context.Context, way Way) error {
	if _, err := os.Stat(c.file()); err == nil { // whatever was killed, a file that is there is whole
		if _, err := c.git(ctx, c.remote(), "bundle", "list-heads", c.file()); err != nil {
			return fmt.Errorf("half of an export is in its place: %w", err)
		}
	}
	if err := c.again(ctx, way.theirs, way.Args...); err != nil {
		return err
	}
	at, err := "r/carried", error(nil)
	switch way.Args[0] {
	case "push":
		err = c.run(ctx, true, "fetch", "r")
	case "export":
		at, err = "carried/carried", c.run(ctx, true, "import", c.file())
	case "import":
		at = "carried/carried"
	}
	if err != nil {
		return err
	}
	if _, said, err := c.other.Run(ctx, c.there, "--no-daemon", "cat", at, "d/b"); err != nil || said != strings.TrimSpace(c.text) {
		return fmt.Errorf("%s has %q, and should have %q: %w", at, said, c.text, err)
	}
	left, err := os.ReadDir(filepath.Join(c.Top, "mail"))
	for _, e := range left {
		if strings.HasPrefix(e.Name(), ".") {
			err = errors.Join(err, fmt.Errorf("left over: %s", e.Name()))
		}
	}
	err = errors.Join(err, c.fsck(ctx, c.remote()))
	for _, theirs := range []bool{false, true} {
		err = errors.Join(err, c.run(ctx, theirs, "doctor", "--fix"), c.run(ctx, theirs, "doctor"))
	}
	for _, projects := range c.Homes() {
		shadows, _ := filepath.Glob(filepath.Join(projects, "*", "shadow.git"))
		for _, shadow := range shadows {
			err = errors.Join(err, c.fsck(ctx, shadow))
		}
	}
	c.trips++
	return err
}
