package local

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestRenamedAndEdited: a file that was moved and edited in one step is one that was
// renamed, wherever changes are told of; its lines are those that were edited.
func TestRenamedAndEdited(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("old.txt", "one\ntwo\nthree\nfour\nfive\n")
	b.write("other.txt", "stays\n")
	b.mission("work")
	if err := os.Remove(filepath.Join(b.dir, "old.txt")); err != nil {
		t.Fatal(err)
	}
	b.write("sub/new.txt", "one\ntwo\nthree\nfour\nFIVE\n")
	b.snapshot("moved")
	ctx := context.Background()
	renamed := func(what string, files []missions.FileChange, patch string) {
		t.Helper()
		if len(files) != 1 || files[0].Type != "renamed" || files[0].OldPath != "old.txt" || files[0].Path != "sub/new.txt" ||
			files[0].Added != 1 || files[0].Deleted != 1 || files[0].Similarity < 50 || files[0].Similarity > 99 {
			t.Errorf("%s: %+v", what, files)
		}
		if !strings.Contains(patch, "rename from old.txt\nrename to sub/new.txt\nindex ") || !strings.Contains(patch, "-five\n+FIVE\n") {
			t.Errorf("%s:\n%s", what, patch)
		}
	}
	shown, err := b.local.Show(ctx, missions.ShowRequest{Caller: b.caller(), Moment: "work"})
	if err != nil {
		t.Fatal(err)
	}
	renamed("show", shown.Files, shown.Patch)
	d, err := b.local.Diff(ctx, missions.DiffRequest{Caller: b.caller(), From: "work@start", Patch: true})
	if err != nil {
		t.Fatal(err)
	}
	renamed("diff", d.Files, d.Patch)
	for what, r := range map[string]missions.LogRequest{"log": {}, "log --path": {Path: "sub/new.txt"}} {
		r.Caller, r.Limit, r.Lines, r.Patch = b.caller(), 1, true, true
		list, err := b.local.Log(ctx, r)
		if err != nil || len(list) != 1 {
			t.Fatalf("%s: %+v, %v", what, list, err)
		}
		if renamed(what, list[0].Changed, list[0].Patch); *list[0].Lines != (missions.LineCounts{Added: 1, Deleted: 1}) {
			t.Errorf("%s counts %+v", what, list[0].Lines)
		}
	}
}
