package capture

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/documents"
)

func TestBudget(t *testing.T) {
	l := newLab(t, Settings{FileBudget: 3, ByteBudget: 100})
	for i := range 4 {
		l.write(fmt.Sprint(i), "x")
	}
	var over *BudgetError
	if _, err := l.try(Dirty{All: true}, Options{}); !errors.As(err, &over) || over.Files != 4 {
		t.Fatalf("got %v", err)
	}
	if len(l.batch.objects) > 0 {
		t.Error("something was written")
	}
	l.must(os.Remove(l.path("0")))
	l.walk()
	l.write("d/new", "x")
	l.write("1", "changed")
	r := l.paths("1", "d")
	l.wantFiles(r, map[string]string{"1": "changed", "2": "x", "3": "x"})
	if want := []documents.Skipped{{Path: "d/new", Reason: documents.ReasonBudget, Size: 1}}; !reflect.DeepEqual(withoutTimes(r.Skipped), want) {
		t.Errorf("skipped %v", r.Skipped)
	}
	l.must(os.Remove(l.path("2")))
	l.wantFiles(l.paths("2"), map[string]string{"1": "changed", "3": "x", "d/new": "x"})
}

// TestBudgetWithoutCache: a Scanner that knows nothing of a workspace of which a
// snapshot exists drops nothing that it holds, and takes what is new as far as
// the budget goes.
func TestBudgetWithoutCache(t *testing.T) {
	l := newLab(t, Settings{FileBudget: 3, ByteBudget: -1})
	for _, name := range []string{"a", "d/b", "z"} {
		l.write(name, name)
	}
	l.walk()
	for _, name := range []string{"c", "d/a", "y"} {
		l.write(name, name)
	}
	l.scanner = l.newScanner()
	held := NewHeld([]string{"a", "d/b", "z"})
	r := l.capture(Dirty{All: true}, Options{Held: held})
	l.wantFiles(r, map[string]string{"a": "a", "d/b": "d/b", "z": "z"})
	if want := []documents.Skipped{{Path: "c", Reason: documents.ReasonBudget, Size: 1}, {Path: "d/a", Reason: documents.ReasonBudget, Size: 3}, {Path: "y", Reason: documents.ReasonBudget, Size: 1}}; !reflect.DeepEqual(withoutTimes(r.Skipped), want) {
		t.Errorf("skipped %v", r.Skipped)
	}
}

// TestNarrowed: limits for what is new leave out nothing that is held: by this
// Scanner, by one whose cache it has read, or by a snapshot of others; and what
// was left out once is not held.
func TestNarrowed(t *testing.T) {
	l := newLab(t, Settings{})
	l.write("big", "more than ten bytes")
	l.write("d/x.token", "1")
	wide := map[string]string{"big": "more than ten bytes", "d/x.token": "1"}
	l.wantFiles(l.walk(), wide)
	cache := filepath.Join(l.home, "cache")
	save := func() {
		l.must(l.scanner.Save(1, func(data []byte) error { return os.WriteFile(cache, data, 0o600) }))
	}
	save()
	l.sources.Settings = Settings{NewSizeCap: 10, NewSecrets: []string{"*.token"}}
	l.rules = nil
	l.write("d/y.token", "2")
	l.write("bigger", "as many as that")
	left := []documents.Skipped{{Path: "bigger", Reason: documents.ReasonSize, Size: 15}, {Path: "d/y.token", Reason: documents.ReasonSecret, Size: 1}}
	want := func(name string, r *Result) {
		t.Helper()
		l.wantFiles(r, wide)
		if !reflect.DeepEqual(withoutTimes(r.Skipped), left) {
			t.Errorf("%s: skipped %v", name, r.Skipped)
		}
		recorded := l.recorded(r)
		for path, want := range map[string]documents.Reason{"d/z.token": documents.ReasonSecret, "new": documents.ReasonSize} {
			if ok, reason, err := recorded.Eligible(path, documents.Candidate{Mode: gitstore.ModeFile, Size: 11}); ok || reason != want || err != nil {
				t.Errorf("%s: %s: %v %s %v", name, path, ok, reason, err)
			}
		}
	}
	want("by the same scanner", l.walk())
	l.write("big", "other twenty bytes..")
	wide["big"] = "other twenty bytes.."
	want("changed", l.paths("big"))
	held := NewHeld(slices.Collect(maps.Keys(wide)))
	workspace := l.scanner.workspace
	var err error
	l.scanner, err = OpenScanner(workspace, cache, 1)
	l.must(err)
	want("by a cache", l.capture(Dirty{All: true}, Options{Held: held}))
	l.scanner = l.newScanner()
	want("by others", l.capture(Dirty{All: true}, Options{Held: held}))
	l.sources.Settings, l.rules = Settings{SizeCap: 10}, nil
	l.scanner = l.newScanner()
	r := l.capture(Dirty{All: true}, Options{Held: held})
	l.wantFiles(r, map[string]string{"d/x.token": "1", "d/y.token": "2"})
}

// TestBudgetEndsTheWalk: what is far over the budget is refused before much more
// of it was listed than the budget holds; what is in it does not count twice.
func TestBudgetEndsTheWalk(t *testing.T) {
	l := newLab(t, Settings{FileBudget: 50, ByteBudget: -1})
	for d := range 40 {
		for f := range 10 {
			l.write(fmt.Sprintf("d%02d/%d", d, f), "x")
		}
	}
	var visited atomic.Int64
	l.scanner.hooks.beforeDirectory = func(string) { visited.Add(1) }
	var over *BudgetError
	_, err := l.try(Dirty{All: true}, Options{})
	if !errors.As(err, &over) || over.Files <= 50 || over.Files == 400 {
		t.Errorf("got %v", err)
	}
	if n := visited.Load(); n < 6 || n > 30 {
		t.Errorf("%d of 40 directories were visited", n)
	}
	for d := range 35 {
		l.must(os.RemoveAll(l.path(fmt.Sprintf("d%02d", d))))
	}
	if r := l.walk(); r.Stats.Files != 50 {
		t.Errorf("%d files", r.Stats.Files)
	}
}
