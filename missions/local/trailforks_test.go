package local

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestTrailOverForks: the log of a file with the forks has what each did to it,
// whatever they call it since they parted.
func TestTrailOverForks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	text := strings.Repeat("a line of some length\n", 10)
	b.write("first.go", text)
	b.write("other.go", strings.Repeat("nothing alike\n", 20))
	work := b.mission("work")
	fork := func(from, name string) missions.Mission {
		t.Helper()
		r, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: from, Name: name})
		if err != nil {
			t.Fatal(err)
		}
		return r.Missions[0]
	}
	// change writes a file of a workspace by another name, or removes it, and takes a
	// snapshot.
	change := func(m missions.Mission, old, now, content, said string) {
		t.Helper()
		if err := os.Remove(filepath.Join(m.Workspace, old)); err != nil {
			t.Fatal(err)
		}
		if now != "" {
			if err := os.WriteFile(filepath.Join(m.Workspace, now), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := b.local.Snapshot(context.Background(), missions.SnapshotRequest{Caller: b.caller(), Mission: m.Name, Message: said}); err != nil {
			t.Fatal(err)
		}
	}
	change(work, "first.go", "old.go", text+"one\n", "named old")
	stays, moves, leaves, strange := fork("work", "stays"), fork("work", "moves"), fork("work", "leaves"), fork("work", "strange")
	change(stays, "old.go", "old.go", text+"kept its name\n", "kept")
	change(moves, "old.go", "moved.go", text+"has one of its own\n", "moved")
	deep := fork("moves", "deep")
	change(moves, "moved.go", "again.go", text+"has another\n", "moved again")
	change(deep, "moved.go", "deep.go", text+"of a fork's fork\n", "moved deeply")
	change(leaves, "old.go", "", "", "left")
	change(strange, "other.go", "new.go", "of that name, and another\n", "strange")
	change(work, "old.go", "new.go", text+"three\n", "named new")

	log := func(r missions.LogRequest) []string {
		t.Helper()
		r.Caller = b.caller()
		list, err := b.local.Log(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		var said []string
		for _, e := range list {
			if e.Parent != "" { // the first of all has every file
				said = append(said, e.Message)
			}
		}
		return said
	}
	want := []string{"named new", "left", "moved deeply", "moved again", "moved", "kept", "named old"}
	for _, tt := range []struct {
		missions.LogRequest
		want []string
	}{
		{missions.LogRequest{Path: "new.go", Graph: true}, want},
		{missions.LogRequest{Path: "new.go", Graph: true, Limit: 4}, want[:4]},
		{missions.LogRequest{Mission: "moves", Path: "again.go", Graph: true}, []string{"moved deeply", "moved again", "moved", "named old"}},
	} {
		if got := log(tt.LogRequest); !slices.Equal(got, tt.want) {
			t.Errorf("%+v lists %q, want %q", tt.LogRequest, got, tt.want)
		}
	}
	// Where there is no such file, one of the name that was asked for is meant.
	if got := log(missions.LogRequest{Mission: "strange", Path: "new.go"}); !slices.Equal(got, []string{"strange"}) {
		t.Errorf("in the fork alone: %q", got)
	}
}
