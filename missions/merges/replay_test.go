package merges

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/merge"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// TestReplay merges again what people have merged: scripts/replay runs it, on a list of
// repositories, a line each: the language and the directory of a Git repository.
func TestReplay(t *testing.T) {
	list, err := os.ReadFile(os.Getenv("UMBRA_REPLAY"))
	if err != nil {
		t.Skip("UMBRA_REPLAY names no list of repositories: scripts/replay does")
	}
	most, err := strconv.Atoi(os.Getenv("UMBRA_REPLAY_MOST"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(list)) {
		language, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
		t.Run(dir, func(t *testing.T) {
			t.Parallel()
			r := &replay{dir: dir, store: storeBeside(t, dir)}
			merges := strings.Split(r.git(t, "rev-list", "--merges", "--parents", "HEAD"), "\n")
			for _, commits := range merges[:min(most, len(merges))] {
				if ids := strings.Fields(commits); len(ids) == 3 {
					r.again(t, ids[0], ids[1], ids[2])
				}
			}
			t.Logf("| %s | %s | %d | %d | %d | %d | %d |", language, filepath.Base(filepath.Dir(dir)), r.merges, r.cleanByGit, r.clean, r.low, len(r.others))
			for _, other := range r.others {
				t.Log(other)
			}
		})
	}
}

// replay is what came of the merges of a repository.
type replay struct {
	dir                     string
	store                   *shadow.Store
	merges, cleanByGit, low int
	clean                   int
	others                  []string // low paths that people committed otherwise
}

// storeBeside is a store that reads the objects of a repository.
func storeBeside(t *testing.T, dir string) *shadow.Store {
	t.Helper()
	at := filepath.Join(t.TempDir(), "store")
	made, err := shadow.Create(t.Context(), at, shadow.CreateOptions{ProjectID: "0190a0a0-0000-7000-8000-000000000000"})
	if err != nil {
		t.Fatal(err)
	}
	if err := made.Close(); err != nil {
		t.Fatal(err)
	}
	info := filepath.Join(at, "objects", "info")
	if err := os.MkdirAll(info, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(info, "alternates"), []byte(filepath.Join(dir, "objects")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	store, err := shadow.Open(at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func (r *replay) git(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", append([]string{"--git-dir", r.dir}, args...)...).Output()
	if err != nil {
		t.Fatalf("git %v: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// again merges the parents of a merge, and holds what is low against what was committed.
func (r *replay) again(t *testing.T, commit, ours, theirs string) {
	t.Helper()
	bases, err := exec.CommandContext(t.Context(), "git", "--git-dir", r.dir, "merge-base", ours, theirs).Output()
	if err != nil {
		return // histories with nothing in common
	}
	tree := func(commit string) gitstore.ID {
		id, err := gitstore.ParseID(r.git(t, "rev-parse", commit+"^{tree}"))
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	step := merge.Sides{Base: tree(strings.TrimSpace(string(bases))), Ours: tree(ours), Theirs: tree(theirs)}
	p, got, err := judgeTrees(t.Context(), r.store, step)
	if projects.IsObjectLost(err) {
		return // a clone without its largest files
	}
	if err != nil {
		t.Fatalf("%s: %v", commit, err)
	}
	r.merges++
	if exec.CommandContext(t.Context(), "git", "--git-dir", r.dir, "merge-tree", "--write-tree", ours, theirs).Run() == nil {
		r.cleanByGit++
	}
	if len(got.Conflicts) == 0 {
		r.clean++
	}
	committed := tree(commit)
	for path, q := range p.paths {
		if q.Severity != missions.SeverityLow {
			continue
		}
		r.low++
		mine, err := p.entryAt(got.Tree, path)
		if err != nil {
			t.Fatal(err)
		}
		their, err := p.entryAt(committed, path)
		if err != nil {
			t.Fatal(err)
		}
		if mine != their {
			r.others = append(r.others, fmt.Sprintf("%.10s %s: %s", commit, path, q.Reason))
		}
	}
}

// judgeTrees is the fold of one side, of trees that are no mission's.
func judgeTrees(ctx context.Context, store *shadow.Store, step merge.Sides) (*plan, merge.Attempted, error) {
	p := &plan{
		contents: contents{ctx, store}, state: &state{}, into: &projects.Mission{}, ours: step.Ours,
		sides: []side{{mission: &projects.Mission{}, tree: step.Theirs}}, paths: map[string]*question{}, types: map[string]bool{},
	}
	p.into.Name, p.sides[0].mission.Name = "ours", "theirs"
	got, err := merge.Attempt(ctx, store, step, merge.Driver{})
	if err != nil {
		return p, got, err
	}
	if got.Conflicts, err = p.joinParts(step, got.Conflicts); err != nil {
		return p, got, err
	}
	err = p.judge(0, step, got)
	p.dropParts()
	return p, got, err
}
