package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// A log of a file goes on with the names that it had, as git log --follow does.
func TestTrail(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	text := strings.Repeat("a line of some length\n", 5) + "one\n" + strings.Repeat("and another one\n", 5)
	b.write("old.go", text)
	b.write("other.go", strings.Repeat("nothing alike\n", 20))
	b.write("empty", "")
	m := b.mission("work")
	move := func(from, to string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(b.dir, filepath.Dir(to)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(b.dir, from), filepath.Join(b.dir, to)); err != nil {
			t.Fatal(err)
		}
	}
	b.write("old.go", text+"two\n")
	b.snapshot("edit")
	move("old.go", "new.go")
	move("empty", "void")
	b.snapshot("move")
	b.write("new.go", text+"three\n")
	edited := b.snapshot("edit again")
	move("new.go", "dir/newer.go")
	b.write("dir/newer.go", text+"four\n")
	if err := os.Remove(filepath.Join(b.dir, "other.go")); err != nil {
		t.Fatal(err)
	}
	moved := b.snapshot("move and edit")
	b.write("void", "no longer\n")
	b.snapshot("something else")

	follow := func(r missions.LogRequest) []missions.Entry {
		t.Helper()
		r.Caller = b.caller()
		list, err := b.local.Log(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	list := follow(missions.LogRequest{Path: "dir/newer.go", Patch: true})
	ids, names := []string{}, []string{}
	for _, e := range list {
		ids, names = append(ids, e.ID), append(names, e.RenamedFrom)
	}
	if want := strings.Fields(b.git("--git-dir="+m.ShadowRepo, "log", "--follow", "--format=%H", "work", "--", "dir/newer.go")); !slices.Equal(ids, want) {
		t.Errorf("umbra log lists %v, git log --follow %v", ids, want)
	}
	if want := []string{"new.go", "", "old.go", "", ""}; !slices.Equal(names, want) {
		t.Errorf("it was renamed from %q, want %q", names, want)
	}
	if e := list[len(list)-2]; !strings.Contains(e.Patch, "--- a/old.go") || len(e.Changed) != 1 {
		t.Errorf("what changed by its first name is\n%s", e.Patch)
	}

	// from an older snapshot on, as the timeline reads; what is new, and is empty
	if got := follow(missions.LogRequest{Mission: edited.ID, Path: "dir/newer.go"}); len(got) != 4 || got[0].ID != edited.ID {
		t.Errorf("from %s on it lists %d", edited.Address, len(got))
	}
	if got := follow(missions.LogRequest{Path: "void"}); len(got) != 2 || got[1].RenamedFrom != "" {
		t.Errorf("of a file that was empty it lists %d", len(got))
	}
	if got := follow(missions.LogRequest{Path: "dir"}); len(got) != 1 || got[0].ID != moved.ID || got[0].RenamedFrom != "" {
		t.Errorf("of a directory it lists %d", len(got))
	}

	// of paths both names are to be among them, as for git
	d, err := b.local.Diff(context.Background(), missions.DiffRequest{Caller: b.caller(), From: "work@0.1", To: "work@0.2", Paths: []string{"old.go", "new.go"}, Patch: true})
	if err != nil || len(d.Files) != 1 || d.Files[0].OldPath != "old.go" || !strings.Contains(d.Patch, "rename to new.go") {
		t.Errorf("%v %+v\n%s", err, d.Files, d.Patch)
	}
	s, err := b.local.Show(context.Background(), missions.ShowRequest{Caller: b.caller(), Moment: moved.ID, Paths: []string{"other.go"}})
	if err != nil || len(s.Files) != 1 || s.Files[0].Type != "deleted" {
		t.Errorf("show of one path: %v %+v", err, s.Files)
	}
	if _, err := b.local.Show(context.Background(), missions.ShowRequest{Caller: b.caller(), Moment: moved.ID, Paths: []string{"/elsewhere"}}); missions.AsError(err).Kind != missions.KindUsage {
		t.Errorf("show of a path elsewhere: %v", err)
	}
}

// A path is what had that name at the moment that is asked for, whatever was given
// the name since.
func TestTrailOfNameTakenSince(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("b", "B\n")
	first := b.mission("work")
	start, err := b.local.Log(context.Background(), missions.LogRequest{Caller: b.caller(), Mission: first.ID})
	if err != nil || len(start) != 1 {
		t.Fatal(err, start)
	}
	b.write("b", "B\nmore\n")
	edited := b.snapshot("b is edited")
	if err := os.Remove(filepath.Join(b.dir, "b")); err != nil {
		t.Fatal(err)
	}
	removed := b.snapshot("b is removed")
	b.write("c", strings.Repeat("another file\n", 5))
	added := b.snapshot("c is added")
	if err := os.Rename(filepath.Join(b.dir, "c"), filepath.Join(b.dir, "b")); err != nil {
		t.Fatal(err)
	}
	moved := b.snapshot("c is b now")

	of := func(at, path, since string) (ids []string) {
		t.Helper()
		list, err := b.local.Log(context.Background(), missions.LogRequest{Caller: b.caller(), Mission: at, Path: path, Since: since})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			ids = append(ids, e.ID)
		}
		return ids
	}
	old := []string{removed.ID, edited.ID, start[0].ID}
	for _, tt := range []struct {
		at, path string
		want     []string
	}{
		{moved.ID, "b", []string{moved.ID, added.ID}},
		{added.ID, "b", old},
		{removed.ID, "b", old},
		{edited.ID, "b", old[1:]},
		{added.ID, "c", []string{added.ID}},
		{edited.ID, "c", nil},
		{added.ID, "never", nil},
	} {
		if got := of(tt.at, tt.path, ""); !slices.Equal(got, tt.want) {
			t.Errorf("from %s on, of %s it lists %v, want %v", tt.at, tt.path, got, tt.want)
		}
	}
	if got := of(added.ID, "b", "2999-01-01"); got != nil {
		t.Errorf("since a time to come it lists %v", got)
	}
}

// TestPathAsDiffNamesIt: a path is followed to where show says that it came from, also
// in a file of one long line, of which no line stayed as it was.
func TestPathAsDiffNamesIt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	line := func(n int) (text string) {
		for i := range n {
			text += fmt.Sprintf("%064d", i*i)
		}
		return text
	}
	b.write("old.json", line(60)+"end")
	b.mission("work")
	if err := os.Remove(filepath.Join(b.dir, "old.json")); err != nil {
		t.Fatal(err)
	}
	b.write("new.json", line(60)+"another end")
	moved := b.snapshot("moved and edited")
	shown, err := b.local.Show(context.Background(), missions.ShowRequest{Caller: b.caller(), Moment: moved.ID})
	if err != nil || len(shown.Files) != 1 || shown.Files[0].OldPath != "old.json" {
		t.Fatalf("shown is %+v, %v", shown.Files, err)
	}
	list, err := b.local.Log(context.Background(), missions.LogRequest{Caller: b.caller(), Mission: "work", Path: "new.json"})
	if err != nil || len(list) != 2 || list[0].ID != moved.ID {
		t.Errorf("of new.json it lists %+v, %v", list, err)
	}
}
