package upkeep

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/flock"
	"github.com/umbra-vcs/umbra/gitstore/git"
)

// objects checks that everything reachable is there and whole, by git fsck, and
// if that finds anything, or there is no git, by reading all of it: what fsck
// says is said again in words.
func (c *checker) objects() error {
	// A repack moves objects, which fsck takes for damage.
	switch held, err := awaitRepack(c.ctx, c.store); {
	case c.ctx.Err() != nil:
		return c.ctx.Err()
	case err == nil: // else nobody can repack here
		defer func() { _ = flock.Release(held) }()
	}
	lines, err := c.fsck()
	if err == nil && len(lines) > 0 {
		// fsck lists what is stored before it reads the refs: what agents wrote
		// meanwhile is missing to it. What it says twice is so.
		var again []string
		again, err = c.fsck()
		lines = slices.DeleteFunc(lines, func(line string) bool { return !slices.Contains(again, line) })
	}
	withoutGit := errors.Is(err, git.ErrNotInstalled)
	if err != nil && !withoutGit {
		return err
	}
	if len(lines) == 0 && !withoutGit {
		return c.indexes()
	}
	return c.explain(lines)
}

// fsck gives what git fsck finds wrong.
func (c *checker) fsck() ([]string, error) {
	out, err := c.store.Git(c.ctx, "fsck", "--full", "--no-dangling", "--no-progress")
	var failed *git.Error
	if !errors.As(err, &failed) {
		return nil, err
	}
	var found []string
	for line := range strings.SplitSeq(string(out)+failed.Stderr, "\n") {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "notice:") && !strings.HasPrefix(line, "warning") {
			found = append(found, line)
		}
	}
	if len(found) == 0 {
		found = []string{fmt.Sprintf("git fsck ended with %d", failed.ExitCode)}
	}
	return found, nil
}

// indexes reports what fsck does not look at: an index or a pack without the
// other, which is as good as nothing, until somebody needs what is in it.
func (c *checker) indexes() error {
	files, err := unpaired(c.store)
	c.rotten(files)
	return err
}

// explain says in words what is wrong with the objects: which files are damaged, and
// what snapshots have lost. What fsck said is told only where that explains nothing.
func (c *checker) explain(lines []string) error {
	files, err := RottenFiles(c.ctx, c.store)
	if err != nil {
		return err
	}
	lost, err := Losses(c.ctx, c.store, c.roots...)
	if err != nil {
		return err
	}
	c.rotten(files)
	c.lost = map[gitstore.ID]bool{}
	for _, l := range lost {
		c.lost[l.ID] = true
	}
	if len(lost) > 0 {
		c.add(Problem{Invariant: "I1", Message: things(len(lost), "object") + " that snapshots hold can't be read", Fix: fixCommand, Lost: lost})
	}
	if len(lines) > 0 && len(c.problems) == 0 {
		c.add(Problem{Invariant: "I1", Message: "git finds something wrong here that umbra can't tell more of",
			Fix: "umbra doctor --json, for git's own words", Details: lines})
	}
	return nil
}

// rotten reports files, those of a pack and its index as one.
func (c *checker) rotten(files []RottenFile) {
	if len(files) == 0 {
		return
	}
	loose := 0
	var what []string
	for _, f := range files {
		name := filepath.Base(f.Path)
		ext := filepath.Ext(name)
		text := "the pack " + strings.TrimSuffix(name, ext) + ": " + f.Why
		switch {
		case filepath.Dir(f.Path) != c.store.PackDir():
			loose++
		case ext == ".idx":
			what = append(what, "the index of "+text)
		default:
			what = append(what, text)
		}
	}
	if loose > 0 {
		what = append(what, things(loose, "file")+" of one object each: damaged")
	}
	c.add(Problem{Invariant: "I1", Message: strings.Join(what, "; "), Fix: fixCommand, Rotten: files})
}

// isLost tells of an error about an object that was reported already.
func (c *checker) isLost(err error) bool {
	var object *gitstore.ObjectError
	return errors.As(err, &object) && c.lost[object.ID]
}

// things counts.
func things(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
