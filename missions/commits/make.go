package commits

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

// Make makes the commits. If one is refused, the branch and the index are as before, but for
// what others have done to them meanwhile. Killed
// in between, the commits so far are on the branch, and the same call makes the rest.
func (c *Committer) Make() (Result, error) {
	r := Result{Branch: c.target.branch, Commits: []Commit{}, Left: []string{}}
	if err := c.checkIndex(); err != nil {
		return r, err
	}
	if c.target.isNew && !slices.ContainsFunc(c.planned, func(commit *Commit) bool { return commit != nil }) {
		r.Branch, r.Head, r.Landed = "HEAD", c.target.baseRev, c.landed() // no branch is made for nothing
		return r, nil
	}
	if err := c.openBranch(); err != nil {
		return r, err
	}
	head := c.target.baseRev
	rehearsed := true // the plan holds: no hook has changed a commit
	for i, planned := range c.planned {
		if rehearsed && planned == nil {
			continue
		}
		before := c.tree
		commit, err := c.next(c.options.Groups[i])
		if err != nil {
			return r, c.takeBack(head, c.explain(err))
		}
		if commit == nil {
			continue
		}
		id, err := c.commit(*commit, head)
		if err != nil {
			return r, c.takeBack(head, err)
		}
		head, commit.ID = id, id
		c.reached("committed")
		same, err := c.follow(head, commit.tree)
		if err == nil && !same {
			err = c.listAgain(commit, before)
		}
		if err != nil {
			return r, c.takeBack(head, err)
		}
		rehearsed = rehearsed && same
		r.Commits = append(r.Commits, *commit)
	}
	c.target.head, r.Head = head, head
	var err error
	if r.Left, err = c.left(); err != nil {
		return r, err
	}
	r.Landed = c.landed()
	if c.options.Notes {
		err = c.writeNotes(r.Commits)
	}
	return r, err
}

// checkIndex refuses an index with something staged. What is staged may be what the first
// commit is to have: a landing was killed there.
func (c *Committer) checkIndex() error {
	if !c.target.here {
		return nil
	}
	if err := c.checkLock(); err != nil {
		return err
	}
	unmerged, err := c.repo.git(run{args: []string{"ls-files", "-u", "-z"}})
	if err != nil {
		return err
	}
	if len(unmerged) > 0 {
		return missions.Errorf(missions.KindConflict, "git status names them", "there are unmerged files in %s", c.repo.user.TopLevel)
	}
	staged, err := c.repo.line("write-tree")
	if err != nil || staged == c.tree {
		return err
	}
	for _, commit := range c.planned {
		if commit != nil && commit.tree == staged {
			return stage(c.repo, staged, c.tree)
		}
		if commit != nil {
			break
		}
	}
	out, err := c.repo.git(run{args: []string{"diff-tree", "-r", "-z", "--name-only", "--no-renames", c.tree, staged}})
	if err != nil {
		return err
	}
	paths := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	return missions.Errorf(missions.KindConflict, "commit it first, or git restore --staged . leaves it in the files alone",
		"something is staged that is no part of this: %s", missions.NameSome(paths))
}

// checkLock refuses an index that another git holds, or one that was killed, before anything
// is changed. Only the user can tell these apart.
func (c *Committer) checkLock() error {
	name := filepath.Join(c.repo.user.GitDir, "index.lock")
	switch _, err := os.Lstat(name); {
	case err == nil:
		return missions.Errorf(missions.KindConflict, "wait for its end; if no git runs there, one was killed: rm "+home.ShellQuote(name),
			"another git holds the index of %s", c.repo.user.TopLevel)
	case !os.IsNotExist(err):
		return err
	}
	return nil
}

// openBranch has git work on a branch that is not checked out: by a git directory that is
// only here, whose HEAD is the branch. It is below the user's, so that settings for that one
// hold for it too.
func (c *Committer) openBranch() error {
	if c.target.here {
		return nil
	}
	if c.target.isNew && c.target.baseRev != "" {
		if _, err := c.repo.line("update-ref", "-m", "umbra land: created", c.target.ref, c.target.baseRev, ""); err != nil {
			return err
		}
		c.reached("branch created")
	}
	dir, err := os.MkdirTemp(c.repo.user.GitDir, "umbra-land-")
	if err != nil {
		return err
	}
	c.gitDir = dir
	for name, text := range map[string]string{"HEAD": "ref: " + c.target.ref, "commondir": c.repo.user.CommonDir} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o600); err != nil {
			return err
		}
	}
	if err := c.indexBranch(filepath.Join(dir, "index")); err != nil {
		return err
	}
	for _, name := range []string{"config.worktree", filepath.Join("info", "sparse-checkout")} {
		if err := copyFile(filepath.Join(c.repo.user.GitDir, name), filepath.Join(dir, name)); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	c.repo.extra = append(c.repo.extra, "GIT_DIR="+dir, "GIT_WORK_TREE="+c.repo.user.TopLevel)
	return c.skipInIndex()
}

// indexBranch writes an index of a branch that is not checked out. It begins with the user's,
// which knows the files on the disk, so that git need not read them.
func (c *Committer) indexBranch(index string) error {
	_, err := c.repo.git(run{args: []string{"-c", "core.splitIndex=false", "read-tree", "-i", "--reset", "--index-output=" + index, c.tree}})
	if exitCode(err) > 0 { // another git holds it
		return copyFile(c.index, index)
	}
	return err
}

// skipInIndex has git pass over, in the index of a branch that is not checked out, what it
// passes over in the user's.
func (c *Committer) skipInIndex() error {
	for flag, names := range map[string][]string{"--skip-worktree": c.work.outside.skipped, "--assume-unchanged": c.work.outside.assumed} {
		var input bytes.Buffer
		for _, name := range names {
			if _, there := c.work.head[name]; there {
				input.WriteString(name + "\x00")
			}
		}
		if input.Len() == 0 {
			continue
		}
		if _, err := c.repo.git(run{args: []string{"update-index", flag, "-z", "--stdin"}, input: &input}); err != nil {
			return err
		}
	}
	return nil
}

// stage moves the user's index from one tree to another, whatever the files are.
func stage(r *repository, from, to string) error {
	_, err := r.git(run{args: []string{"read-tree", "-i", "-m", from, to}})
	if exitCode(err) > 0 {
		// What git add -N has noted is in the way: nothing else is staged, so it may go.
		_, err = r.git(run{args: []string{"read-tree", "-i", "-m", to}})
	}
	if err != nil {
		return err
	}
	_, _ = r.git(run{args: []string{"update-index", "-q", "--refresh"}}) // else git status does it
	return nil
}

// commit makes one commit on top of head.
func (c *Committer) commit(commit Commit, head string) (id string, err error) {
	if err := c.checkHead(head); err != nil {
		return "", err
	}
	before, err := c.repo.line("write-tree")
	if err != nil {
		return "", err
	}
	if err := stage(c.repo, before, commit.tree); err != nil {
		return "", missions.Errorf(missions.KindConflict, "git status, there", "the index of %s can't take the changes: %w", c.repo.user.TopLevel, err)
	}
	c.reached("staged")
	message := filepath.Join(c.scratch, "message")
	if err := os.WriteFile(message, []byte(commit.Message), 0o600); err != nil {
		return "", err
	}
	args := []string{"commit", "--quiet", "--file=" + message}
	if c.options.NoVerify {
		args = append(args, "--no-verify")
	}
	if c.options.NoSign {
		args = append(args, "--no-gpg-sign")
	}
	if _, err := c.repo.git(run{args: args, shown: true}); err != nil {
		if failed, ok := errors.AsType[*gitError](err); ok {
			err = missions.Errorf(missions.KindConflict, c.refusalHint(),
				"git commit refuses %q: %s", commit.Subject, lastLine(failed.Reason()))
		}
		return "", err
	}
	if id, err = c.repo.line("rev-parse", "HEAD"); err != nil {
		return "", err
	}
	if parent, err := c.repo.line("rev-parse", "-q", "--verify", "HEAD^"); parent != head {
		return "", errors.Join(c.movedError(), ignoreExit(err))
	}
	return id, c.checkPlace(commit.Subject, id)
}

// checkPlace refuses a commit that became one of another branch: HEAD was moved while the
// hooks ran.
func (c *Committer) checkPlace(subject, id string) error {
	on, err := c.repo.line("symbolic-ref", "-q", "HEAD")
	if err = ignoreExit(err); err != nil {
		return err
	}
	at, err := c.repo.line("rev-parse", "-q", "--verify", c.target.ref)
	if err = ignoreExit(err); err != nil {
		return err
	}
	if on == c.target.ref {
		if at != id {
			return c.movedError()
		}
		return nil
	}
	place := "on " + strings.TrimPrefix(on, "refs/heads/")
	if on == "" {
		place = "on no branch"
	}
	return missions.Errorf(missions.KindConflict, fmt.Sprintf("git switch %s, then the same again lands there", home.ShellQuote(c.target.branch)),
		"HEAD left %s meanwhile, and the commit %q is %s: %s", c.target.branch, subject, place, id)
}

func (c *Committer) refusalHint() string {
	if c.options.NoVerify {
		return "mend that, then type the same again; --no-sign commits without a key"
	}
	return "mend that, then type the same again; --no-verify commits without hooks, --no-sign without a key"
}

// ignoreExit drops git's own refusal.
func ignoreExit(err error) error {
	if exitCode(err) >= 0 {
		return nil
	}
	return err
}

// lastLine is the last line of a text that is not empty.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// checkHead refuses a branch that moved, or was left, while its commits were made.
func (c *Committer) checkHead(head string) error {
	ref, err := c.repo.line("symbolic-ref", "-q", "HEAD")
	if err = ignoreExit(err); err != nil {
		return err
	}
	at, err := c.repo.line("rev-parse", "-q", "--verify", "HEAD^{commit}")
	if err = ignoreExit(err); err != nil {
		return err
	}
	if ref != c.target.ref || at != head {
		return c.movedError()
	}
	return nil
}

func (c *Committer) movedError() error {
	return missions.Errorf(missions.KindConflict, "the same again lands on what is there now", "%s moved meanwhile", c.target.branch)
}

// follow takes over what a commit has, which hooks may have changed. same is whether it is
// what was planned.
func (c *Committer) follow(head, tree string) (same bool, err error) {
	actual, err := c.repo.line("rev-parse", head+"^{tree}")
	if err != nil || actual == tree {
		return true, err
	}
	if _, err := c.repo.git(run{args: []string{"read-tree", head}, env: []string{"GIT_INDEX_FILE=" + c.index}}); err != nil {
		return false, err
	}
	entries, err := c.repo.entries(c.index)
	if err != nil {
		return false, err
	}
	c.tree, c.work.head, c.work.now = actual, entries, map[string]file{}
	return false, nil
}

// listAgain lists what a commit has since hooks changed it, and what these changed.
func (c *Committer) listAgain(commit *Commit, before string) (err error) {
	hooked, err := c.filesOf(commit.tree, c.tree)
	if err != nil {
		return err
	}
	for _, f := range hooked {
		commit.Hooked = append(commit.Hooked, f.Path)
	}
	commit.Files, err = c.filesOf(before, c.tree)
	return err
}

// takeBack puts the branch and the index back to where they were. What somebody else has put
// on the branch meanwhile stays, and the index is then as HEAD has it.
func (c *Committer) takeBack(head string, why error) error {
	r := c.repo.detached()
	at, err := c.moveBack(r, head)
	if err == nil && c.target.here {
		err = c.unstage(r)
	}
	if err != nil {
		return errors.Join(why, fmt.Errorf("and %s can't be put back: %w", c.target.branch, err))
	}
	e := missions.AsError(why)
	if at != c.target.head {
		stay, err := c.commitsSince(r, at)
		return errors.Join(missions.Errorf(e.Kind, e.Hint, "%w; %s has %s now", why, c.target.branch, stay), err)
	}
	if errors.Is(why, context.Canceled) {
		return why
	}
	return missions.Errorf(e.Kind, e.Hint, "%w; %s is as before", why, c.target.branch)
}

// moveBack moves the branch from head to where it was, unless it has left head. It gives
// the commit that the branch is at then.
func (c *Committer) moveBack(r *repository, head string) (at string, err error) {
	var failed error
	if was := c.target.head; was != head {
		args := []string{"update-ref", "-m", "umbra land: taken back", c.target.ref, was, head}
		if was == "" {
			args = []string{"update-ref", "-d", c.target.ref, head}
		}
		_, failed = r.git(run{args: args})
	}
	at, err = r.line("rev-parse", "-q", "--verify", c.target.ref+"^{commit}")
	if err = ignoreExit(err); err == nil && at == head {
		err = failed
	}
	return at, err
}

// unstage makes the user's index what HEAD has.
func (c *Committer) unstage(r *repository) error {
	staged, err := r.line("write-tree")
	if err != nil {
		return err
	}
	to, err := r.line("rev-parse", "-q", "--verify", "HEAD^{tree}")
	if to == "" && ignoreExit(err) == nil {
		to, err = r.line("hash-object", "-t", "tree", "-w", os.DevNull) // no commit yet
	}
	if err != nil || to == staged {
		return err
	}
	return stage(r, staged, to)
}

// commitsSince names the commits that the branch has at a commit, and did not have before.
func (c *Committer) commitsSince(r *repository, at string) (string, error) {
	if at == "" {
		return "no commit", nil
	}
	args := []string{"log", "-z", "--format=%h %s", at}
	if c.target.baseRev != "" {
		args = append(args, "^"+c.target.baseRev)
	}
	out, err := r.git(run{args: args})
	if list := strings.TrimSuffix(string(out), "\x00"); list != "" || err != nil {
		return missions.NameSome(strings.Split(list, "\x00")), err
	}
	return "its end at " + at, nil
}

// left lists what of the workspace differs from the branch still.
func (c *Committer) left() ([]string, error) {
	args := []string{"status", "--porcelain", "-z", "--no-renames", "--"}
	if c.repo.prefix != "" {
		args = append(args, c.repo.prefix)
	} else {
		args = append(args, ".")
	}
	out, err := c.repo.git(run{args: args, env: []string{"GIT_OPTIONAL_LOCKS=0"}})
	if err != nil {
		return nil, err
	}
	list := []string{}
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if len(entry) > 3 {
			list = append(list, entry[3:])
		}
	}
	return list, nil
}

// landed are the ids of the steps that the branch has now.
func (c *Committer) landed() (ids []string) {
	chosen := map[string]bool{}
	for _, g := range c.options.Groups {
		for _, key := range g.Keys {
			chosen[key] = true
		}
	}
	for i, s := range c.plan.Steps {
		if !s.IsOwn() {
			continue
		}
		there, kept := true, false
		for _, change := range s.Changes {
			from, open := c.work.from[change.Path]
			there = there && (!open || i < from)
			kept = kept || c.work.kept[change.Path]
		}
		if (there || chosen[s.Key]) && !kept {
			ids = append(ids, s.ID())
		}
	}
	return ids
}
