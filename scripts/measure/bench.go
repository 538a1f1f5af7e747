package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

// An experiment measures for one goal, or for several that share their trees.
type experiment struct {
	goals []string
	run   func(context.Context, *bench) error
}

// experiments are in the order in which they run: what needs a tree that is no
// checkout yet comes first.
func experiments() []experiment {
	return []experiment{
		{[]string{"P13"}, measureStart},
		{[]string{"P4", "P5"}, measureFirst},
		{[]string{"P1", "P2", "P3"}, measureHooks},
		{[]string{"P6"}, measureWalk},
		{[]string{"P7"}, measureRestore},
		{[]string{"P8"}, measureFork},
		{[]string{"P9"}, measureConversation},
		{[]string{"P10"}, measureMemory},
		{[]string{"P11"}, measureThousand},
		{[]string{"P12"}, measureMany},
		{[]string{"P14"}, measureCommit},
		{[]string{"P15"}, measureSearch},
		{[]string{"P16"}, measurePruned},
	}
}

// bench is one run: where it happens, and what it has found so far.
type bench struct {
	options
	*lab.Run
	about about
	out   io.Writer
	trees map[string]*tree
	homes []*lab.Umbra
	found map[string]*finding
}

// tree is one of the trees that things are measured in.
type tree struct {
	name     string
	dir      string
	files    *lab.Tree // nil for a tree that was not made from a seed
	count    int       // of files
	checkout bool

	directories int
	version     int // of the file that was edited last
}

// stageSize is the size of the file system, of which only what is used takes
// space.
const stageSize = 40 << 30

func newBench(ctx context.Context, o options, out io.Writer) (*bench, error) {
	r, err := lab.NewRun(ctx, o.dir, stageSize, ".")
	if err != nil {
		return nil, err
	}
	b := &bench{options: o, Run: r, out: out, trees: map[string]*tree{}, found: map[string]*finding{}}
	b.about = describe(ctx, b)
	return b, nil
}

func (b *bench) close() error {
	var errs []error
	for _, u := range b.homes {
		errs = append(errs, u.Stop())
	}
	return errors.Join(append(errs, b.Run.Close())...)
}

// measure runs the experiments that were asked for. One that fails is reported
// as what could not be measured, and the others go on.
func (b *bench) measure(ctx context.Context) []*finding {
	for _, e := range experiments() {
		if ctx.Err() != nil || !slices.ContainsFunc(e.goals, b.wanted) {
			continue
		}
		began := time.Now()
		fmt.Fprintf(b.out, "%v ...\n", e.goals)
		err := e.run(ctx, b)
		for _, goal := range e.goals {
			if f := b.goal(goal); err != nil && b.wanted(goal) {
				f.failed = err
			}
		}
		for _, u := range b.homes { // none that is done with disturbs the next
			if err := u.Stop(); err != nil {
				fmt.Fprintln(b.out, "   stop the daemon:", err)
			}
		}
		b.homes = nil
		fmt.Fprintf(b.out, "%v took %s\n", e.goals, time.Since(began).Round(100*time.Millisecond))
	}
	var all []*finding
	for _, g := range goals {
		if f := b.found[g.id]; f != nil && b.wanted(g.id) {
			all = append(all, f)
		}
	}
	return all
}

func (b *bench) wanted(goal string) bool { return len(b.only) == 0 || slices.Contains(b.only, goal) }

// goal is what is found for one goal.
func (b *bench) goal(id string) *finding {
	if b.found[id] == nil {
		b.found[id] = &finding{goal: goalOf(id)}
	}
	return b.found[id]
}

// home is a new home of Umbra's, stopped at the end.
func (b *bench) home(name string) (*lab.Umbra, error) {
	u, err := lab.NewUmbra(b.Binary, filepath.Join(b.Stage.Dir, "homes", name))
	if err == nil {
		b.homes = append(b.homes, u)
	}
	return u, err
}

// dir is a new directory of the stage.
func (b *bench) dir(name string) (string, error) {
	dir := filepath.Join(b.Stage.Dir, name)
	return dir, os.MkdirAll(dir, 0o755)
}

// sizes are the trees' names and numbers of files.
var sizes = map[string]int{"T1k": 1_000, "T10k": 10_000, "T100k": 100_000}

// tree makes a tree, or finds the one that was made before.
func (b *bench) tree(ctx context.Context, name string) (*tree, error) {
	if t := b.trees[name]; t != nil {
		return t, nil
	}
	dir, err := b.dir(filepath.Join("trees", name))
	if err != nil {
		return nil, err
	}
	t := &tree{name: name, dir: dir}
	if n, ok := sizes[name]; ok {
		t.files = &lab.Tree{Files: n, Seed: uint64(n)}
		err = t.files.Make(dir)
	} else {
		err = copyGoSource(ctx, dir)
	}
	if err == nil {
		err = t.tally()
	}
	if err != nil {
		return nil, fmt.Errorf("make %s: %w", name, err)
	}
	b.trees[name] = t
	return t, b.Stage.Settle(ctx)
}

// tally counts what is in the tree.
func (t *tree) tally() error {
	return filepath.WalkDir(t.dir, func(_ string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.Name() == ".git" && entry.IsDir():
			return fs.SkipDir
		case entry.Name() == ".git": // of a worktree
		case entry.IsDir():
			t.directories++
		default:
			t.count++
		}
		return nil
	})
}

// checkout is the tree as a clean checkout of a Git repository.
func (b *bench) checkout(ctx context.Context, name string) (*tree, error) {
	t, err := b.tree(ctx, name)
	if err != nil || t.checkout {
		return t, err
	}
	if err := lab.Checkout(ctx, t.dir); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	t.checkout = true
	return t, b.Stage.Settle(ctx)
}

// native is a new repository of snapshots for that tree, as peers keep one.
func (b *bench) native(ctx context.Context, name string, t *tree) (*lab.Native, error) {
	dir, err := b.dir("native")
	if err != nil {
		return nil, err
	}
	return lab.NewNative(ctx, filepath.Join(dir, name+".git"), t.dir)
}
