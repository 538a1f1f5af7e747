// Package commits makes commits in the user's repository of the work of a mission. It runs
// the user's own git, in the process of the command: with the user's filters, identity,
// hooks and signing keys, as if the user had typed git add and git commit. It moves a
// branch and an index only by git, and puts both back if a commit is refused.
package commits

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
)

// Options say what lands, where, and with whose environment.
type Options struct {
	Groups     []Group
	Branch     string // "" is the one that is checked out in the workspace
	All        bool   // where others changed the same lines, files land as they are
	NoVerify   bool   // without the hooks that may refuse
	NoSign     bool
	NoTrailers bool
	Notes      bool // also who wrote which line, in refs/notes/ai
	Preview    bool // nothing is written into the repository
	Environ    []string
	Stdin      io.Reader
	Stderr     io.Writer // of hooks, and of programs that ask for a key
}

// Result is the commits, and what of the workspace is in none.
type Result struct {
	Branch  string   `json:"branch"`
	Commits []Commit `json:"commits"`
	Left    []string `json:"left"`            // paths that differ from the branch still
	Head    string   `json:"-"`               // the commit that the branch is at then
	Landed  []string `json:"-"`               // ids of the steps that are on the branch
	Below   int      `json:"below,omitempty"` // commits of the agent itself that the branch begins with
}

// Committer lands the work of one mission.
type Committer struct {
	plan    missions.LandingPlan
	options Options
	repo    *repository
	target  target
	scratch string
	gitDir  string // of a branch that is not checked out, "" until it is needed
	index   string // of the branch with the commits so far
	tree    string // of that index
	start   string // the tree that the branch began with
	work    *work
	planned []*Commit // one for each group, nil for what is there

	// reached is told of each step that lasts, in tests: nothing that comes after a kill.
	reached func(step string)
}

// target is the branch that the work lands on.
type target struct {
	ref     string // in full
	branch  string
	here    bool   // it is checked out in the workspace
	isNew   bool   // it does not exist yet
	head    string // the commit that it is at, "" for none
	baseRev string // what is read as its tree
}

// Open looks at the repository, and says why nothing can land there. Close is to be called.
func Open(ctx context.Context, plan missions.LandingPlan, o Options) (*Committer, error) {
	repo, err := openRepository(ctx, plan.Mission, o)
	if err != nil {
		return nil, err
	}
	c := &Committer{plan: plan, options: o, repo: repo, reached: func(string) {}}
	if c.target, err = repo.findTarget(plan, o.Branch); err != nil {
		return nil, err
	}
	if c.scratch, err = os.MkdirTemp("", "umbra-land-"); err != nil {
		return nil, err
	}
	if err := c.prepare(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Close removes what was written beside the repository, and for a while into it.
func (c *Committer) Close() error {
	err := os.RemoveAll(c.scratch)
	if c.gitDir != "" {
		err = errors.Join(err, os.RemoveAll(c.gitDir))
	}
	return err
}

// prepare reads the branch, and plans the commits.
func (c *Committer) prepare() error {
	if c.options.Preview {
		objects := filepath.Join(c.scratch, "objects")
		if err := os.Mkdir(objects, 0o700); err != nil {
			return err
		}
		c.repo.extra = append(c.repo.extra, "GIT_OBJECT_DIRECTORY="+objects,
			"GIT_ALTERNATE_OBJECT_DIRECTORIES="+alternate(filepath.Join(c.repo.user.CommonDir, "objects")))
	}
	c.index = filepath.Join(c.scratch, "work.index")
	base := filepath.Join(c.scratch, "head.index")
	if err := c.readHead(base); err != nil {
		return err
	}
	contents, err := newContents(c.repo, c.plan.Mission.ShadowRepo, c.scratch, base)
	if err != nil {
		return err
	}
	c.work = &work{contents: contents, steps: c.plan.Steps, all: c.options.All}
	return c.planAll(base)
}

// alternate is a directory as Git's list of alternates names it.
func alternate(dir string) string {
	if strings.ContainsAny(dir, `:"`) {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(dir) + `"`
	}
	return dir
}

// readHead reads the branch into an index.
func (c *Committer) readHead(index string) error {
	args := []string{"read-tree", "--empty"}
	if c.target.baseRev != "" {
		args = []string{"read-tree", c.target.baseRev}
	}
	if _, err := c.repo.git(run{args: args, env: []string{"GIT_INDEX_FILE=" + index}}); err != nil {
		return err
	}
	out, err := c.repo.git(run{args: []string{"write-tree"}, env: []string{"GIT_INDEX_FILE=" + index}})
	c.tree = strings.TrimSpace(string(out))
	return err
}

// planAll plans all commits before any is made, so that a conflict in the last one changes
// nothing.
func (c *Committer) planAll(base string) (err error) {
	if err := copyFile(base, c.index); err != nil {
		return err
	}
	if c.work.head, err = c.repo.entries(base); err != nil {
		return err
	}
	if err := c.work.begin(); err != nil {
		return err
	}
	c.start = c.tree
	for _, g := range c.options.Groups {
		commit, err := c.next(g)
		if err != nil {
			return c.explain(err)
		}
		c.planned = append(c.planned, commit)
	}
	c.tree, c.work.now = c.start, map[string]file{}
	return copyFile(base, c.index)
}

// explain says what a conflict means.
func (c *Committer) explain(err error) error {
	paths, ok := errors.AsType[conflicts](err)
	if !ok {
		return err
	}
	return missions.Errorf(missions.KindConflict,
		"git diff, in the workspace, shows them: commit your own changes first, or --all lands what others have changed, too",
		"the branch %s, or the workspace, has lines that are not the mission's in paths that it changed too: %s; nothing was changed",
		c.target.branch, missions.NameSome(paths))
}

// Preview is the commits that would be made.
func (c *Committer) Preview() Result {
	r := Result{Branch: c.target.branch, Commits: []Commit{}, Left: []string{}}
	for _, commit := range c.planned {
		if commit != nil {
			r.Commits = append(r.Commits, *commit)
		}
	}
	return r
}

// findTarget finds the branch, and refuses one that nothing may land on.
func (r *repository) findTarget(plan missions.LandingPlan, asked string) (t target, err error) {
	m := plan.Mission
	current, err := r.line("symbolic-ref", "-q", "HEAD")
	if err != nil && exitCode(err) != 1 {
		return t, err
	}
	here := strings.TrimPrefix(current, "refs/heads/")
	switch {
	case asked == "" && current == "":
		return t, missions.Errorf(missions.KindConflict, "git switch -c NAME first, or --branch NAME", "no branch is checked out in %s", r.user.TopLevel)
	case asked == "" && plan.Branch != "" && plan.Branch != here:
		return t, missions.Errorf(missions.KindConflict,
			fmt.Sprintf("--branch %s lands it there, --branch %s on what is checked out now", home.ShellQuote(plan.Branch), home.ShellQuote(here)),
			"%s has worked on %s, and %s is checked out now", m.Name, plan.Branch, here)
	case asked == "":
		asked = here
	}
	if _, err := r.line("check-ref-format", "refs/heads/"+asked); err != nil || strings.HasPrefix(asked, "-") {
		return t, missions.Errorf(missions.KindUsage, "choose another name, such as login-page", "--branch: %q can't be the name of a branch", asked)
	}
	t = target{ref: "refs/heads/" + asked, branch: asked, here: asked == here && current != ""}
	if t.head, err = r.line("rev-parse", "-q", "--verify", t.ref+"^{commit}"); err != nil && exitCode(err) != 1 {
		return t, err
	}
	if t.baseRev = t.head; t.here {
		return t, nil
	}
	if place := r.checkedOutAt(t.ref); place != "" {
		return t, missions.Errorf(missions.KindConflict, "land on a branch of its own, then git merge it there",
			"%s is checked out in %s, whose files would not follow", t.branch, place)
	}
	if t.head == "" {
		t.isNew = true
		if t.baseRev, err = r.line("rev-parse", "-q", "--verify", "HEAD^{commit}"); err != nil && exitCode(err) != 1 {
			return t, err
		}
	}
	return t, nil
}

// checkedOutAt is the worktree that has a branch, "" if none has.
func (r *repository) checkedOutAt(ref string) string {
	out, _ := r.git(run{args: []string{"worktree", "list", "--porcelain"}}) // git refuses it later
	place := ""
	for line := range strings.SplitSeq(string(out), "\n") {
		if at, ok := strings.CutPrefix(line, "worktree "); ok {
			place = at
		}
		if line == "branch "+ref {
			return place
		}
	}
	return r.rebasedAt(ref)
}

// rebasedAt is the worktree in which a branch is rebased, "" if it is in none: no branch is
// checked out there meanwhile.
func (r *repository) rebasedAt(ref string) string {
	dirs := []string{r.user.CommonDir}
	linked, _ := os.ReadDir(filepath.Join(r.user.CommonDir, "worktrees")) // there are none where it can't be read
	for _, one := range linked {
		dirs = append(dirs, filepath.Join(r.user.CommonDir, "worktrees", one.Name()))
	}
	for _, dir := range dirs {
		for _, kind := range []string{"rebase-merge", "rebase-apply"} {
			name, err := os.ReadFile(filepath.Join(dir, kind, "head-name"))
			if err != nil || strings.TrimSpace(string(name)) != ref {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, "gitdir"))
			at := strings.TrimSpace(string(text))
			switch {
			case err != nil:
				at = dir
			case !filepath.IsAbs(at):
				at = filepath.Join(dir, at)
			}
			return filepath.Dir(at)
		}
	}
	return ""
}
