package local

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestMergeInSubmodule: files of a submodule are merged as others are, and the submodule's
// own Git stays where it was, as the project's does.
func TestMergeInSubmodule(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.git("init", "-q")
	library := filepath.Join(b.user, "library")
	b.git("init", "-q", library)
	if err := os.WriteFile(filepath.Join(library, "lib.txt"), []byte("1\n2\n3\n4\n5\n6\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	b.git("-C", library, "add", ".")
	b.git("-C", library, "commit", "-qm", "first")
	b.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", library, "sub")
	b.git("commit", "-qm", "first")
	b.mission("m")
	for name, line := range map[string]string{"fa": "one\n2\n3\n4\n5\n6\n", "fb": "1\n2\n3\n4\n5\nsix\n"} {
		fork := b.forkAt("m", name)
		b.writeIn(filepath.Join(fork.Workspace, "sub"), "lib.txt", line)
		b.writeIn(filepath.Join(fork.Workspace, "sub"), name+".txt", name+"\n")
	}
	before := b.git("submodule", "status")
	r, err := b.merge(missions.MergeBegin, func(r *missions.MergeRequest) { r.Forks, r.Auto = []string{"fa", "fb"}, missions.MergeMedium })
	if err != nil || !r.Done {
		t.Fatalf("%+v, %v", r, err)
	}
	if got := b.read("sub/lib.txt") + b.read("sub/fa.txt") + b.read("sub/fb.txt"); got != "one\n2\n3\n4\n5\nsix\nfa\nfb\n" {
		t.Errorf("the submodule's files are %q", got)
	}
	if after := b.git("submodule", "status"); after != before {
		t.Errorf("the submodule's commit was %q and is %q", before, after)
	}
	if got := b.git("-C", "sub", "status", "--porcelain"); got != " M lib.txt\n?? fa.txt\n?? fb.txt\n" {
		t.Errorf("git sees in the submodule\n%s", got)
	}
}

// TestMergeOfRenamed: a file that one side renamed and another changed is the same question
// whichever of them is merged first, at its new name and at its old one.
func TestMergeOfRenamed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("old.txt", "1\n2\n3\n4\n5\n6\n")
	b.mission("m")
	changed, renamed := b.forkAt("m", "changed"), b.forkAt("m", "renamed")
	b.writeIn(changed.Workspace, "old.txt", "one\n2\n3\n4\n5\n6\n")
	if err := os.Rename(filepath.Join(renamed.Workspace, "old.txt"), filepath.Join(renamed.Workspace, "new.txt")); err != nil {
		t.Fatal(err)
	}
	b.writeIn(renamed.Workspace, "alone.txt", "a\n")
	for _, order := range [][]string{{"changed", "renamed"}, {"renamed", "changed"}} {
		r, err := b.merge(missions.MergeBegin, func(r *missions.MergeRequest) { r.Forks, r.Preview = order, true })
		if err != nil {
			t.Fatalf("%v: %v", order, err)
		}
		said := map[missions.Path]string{}
		for _, path := range slices.Concat(r.Taken, r.Conflicts) {
			said[path.Path] = string(path.Severity) + " " + path.Reason
		}
		both := "medium renamed in one and changed in another, and merged by Git"
		want := map[missions.Path]string{
			"alone.txt": "low changed in renamed alone", "old.txt": both + "; with merged or renamed no file is left there",
			"new.txt": both + "; with ours (m) no file is left there",
		}
		if order[0] == "renamed" { // it has brought the new name, to which the other one's change then went
			want["new.txt"] = both + "; with ours (m) or changed no file is left there"
		}
		if !maps.Equal(said, want) {
			t.Errorf("%v: it says %v, want %v", order, said, want)
		}
	}
	b.healthy()
}

// TestMergeOfPruned: forks of different ages are merged over history that was pruned since,
// also where the snapshot that one began with was.
func TestMergeOfPruned(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	m := b.mission("m")
	b.write("old.txt", "1\n2\n3\n4\n5\n6\n")
	ids := b.numbered(1, 4)
	early := b.forkAt(ids[1], "early")
	b.numbered(5, 8)
	b.write("by-m.txt", "m\n")
	b.snapshot("mine")
	late := b.forkAt("m", "late")
	b.writeIn(early.Workspace, "old.txt", "one\n2\n3\n4\n5\n6\n")
	b.writeIn(late.Workspace, "old.txt", "1\n2\n3\n4\n5\nsix\n")
	if r := b.pruned(1); r.Pruned() < 8 {
		t.Fatalf("pruned %+v", r)
	}
	r, err := b.merge(missions.MergeBegin, func(r *missions.MergeRequest) { r.Forks, r.Auto = []string{"early", "late"}, missions.MergeMedium })
	if err != nil || !r.Done {
		t.Fatalf("%+v, %v", r, err)
	}
	if got := b.read("old.txt"); got != "one\n2\n3\n4\n5\nsix\n" || b.read("by-m.txt") != "m\n" {
		t.Errorf("old.txt is %q, by-m.txt %q", got, b.read("by-m.txt"))
	}
	if got := b.read("a.txt")[:3]; got != "12\n" {
		t.Errorf("a.txt begins with %q: an older fork took back what came after it", got)
	}
	b.fscked(m)
}

// TestMergeOfLineEnds: where one side has written a file with other line ends, the lines are
// merged all the same, and the reason says so, and which side it was. It is a question: nobody
// has asked for other line ends, or for none.
func TestMergeOfLineEnds(t *testing.T) {
	t.Parallel()
	carried, bare := "1\r\n2\r\n3\r\n4\r\n", "1\n2\n3\n4\n"
	b, dirs := forksToMerge(t, map[string]string{"fork": carried, "mine": carried, "none": carried, "mixed": carried, "same": carried}, "fa")
	change := func(text, line string) string { return strings.Replace(text, line, line+" changed", 1) }
	for name, texts := range map[string][2]string{
		"fork":  {change(carried, "1"), change(bare, "4")},
		"mine":  {change(bare, "1"), change(carried, "4")},
		"none":  {change(carried, "1"), "one" + change(carried, "1")},
		"mixed": {change(carried, "1"), change(bare, "1") + "5\r\n"},
		"same":  {change(carried, "1"), strings.Replace(change(bare, "4"), "1", "one", 1)},
	} {
		b.write(name, texts[0])
		b.writeIn(dirs["fa"], name, texts[1])
	}
	r, err := b.merge(missions.MergeBegin, func(r *missions.MergeRequest) { r.Forks = []string{"fa"} })
	if err != nil {
		t.Fatal(err)
	}
	got := map[missions.Path]string{}
	for _, q := range r.Conflicts {
		got[q.Path] = string(q.Severity) + " " + q.Reason
	}
	const merged, same = "medium changed in each, and merged by Git", "high the same lines changed in each"
	const others = "; the line ends are others in "
	if want := map[missions.Path]string{
		"fork": merged + others + "fa, and CRLF in what is merged", "mine": merged + others + "m, and LF in what is merged", "none": same, "mixed": same,
		"same": same + others + "fa, and CRLF in what is merged",
	}; !maps.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	seen, err := b.merge(missions.MergeStatus, func(r *missions.MergeRequest) { r.Texts = []missions.Path{"fork"} })
	if err != nil {
		t.Fatal(err)
	}
	wanted := change(change(carried, "1"), "4")
	for _, q := range seen.Conflicts {
		if q.Path == "fork" && string(q.Texts.Merged) != wanted {
			t.Errorf("the text to edit is %q, want %q", q.Texts.Merged, wanted)
		}
	}
	if _, err := b.merge(missions.MergeResolve, func(r *missions.MergeRequest) {
		for path, take := range map[missions.Path]missions.MergeTake{
			"fork": missions.TakeMerged, "mine": missions.TakeTheirs, "none": missions.TakeOurs, "mixed": missions.TakeOurs, "same": missions.TakeTheirs,
		} {
			r.Choices = append(r.Choices, missions.MergeChoice{Path: path, Take: take})
		}
	}); err != nil {
		t.Fatal(err)
	}
	if r, err := b.merge(missions.MergeContinue); err != nil || !r.Done {
		t.Fatalf("%+v, %v", r, err)
	}
	for name, want := range map[string]string{
		"fork": wanted, "mine": change(carried, "4"), "same": strings.Replace(change(carried, "4"), "1", "one", 1),
	} {
		if got := b.read(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// TestMergeTextsOfRenamed: at the new name of a file that another one has changed under its old
// one, the latter has nothing, and has deleted nothing.
func TestMergeTextsOfRenamed(t *testing.T) {
	t.Parallel()
	text := "1\n2\n3\n4\n5\n6\n"
	b, dirs := forksToMerge(t, map[string]string{"old.txt": text}, "fa")
	b.write("old.txt", text+"m\n")
	b.writeIn(dirs["fa"], "new.txt", text)
	if err := os.Remove(filepath.Join(dirs["fa"], "old.txt")); err != nil {
		t.Fatal(err)
	}
	if _, err := b.merge(missions.MergeBegin, func(r *missions.MergeRequest) { r.Forks = []string{"fa"} }); err != nil {
		t.Fatal(err)
	}
	r, err := b.merge(missions.MergeStatus, func(r *missions.MergeRequest) { r.Texts = []missions.Path{"new.txt", "old.txt"} })
	if err != nil {
		t.Fatal(err)
	}
	said := map[missions.Path]string{}
	for _, q := range r.Conflicts {
		for _, side := range q.Texts.Sides {
			said[q.Path] += fmt.Sprintf("%s %v %v;", side.Mission, side.Absent, side.Deleted)
		}
	}
	if want := map[missions.Path]string{"new.txt": "m true false;fa false false;", "old.txt": "m false false;fa false true;"}; !maps.Equal(said, want) {
		t.Errorf("absent and deleted: %q, want %q", said, want)
	}
}
