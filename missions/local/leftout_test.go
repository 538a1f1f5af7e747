package local

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/scripts/hazards"
)

// keptPaths are the paths that a restore left, with the first word of why.
func keptPaths(r missions.RestoreResult) map[string]string {
	kept := map[string]string{}
	for _, k := range r.Kept {
		kept[k.Path], _, _ = strings.Cut(k.Reason, " ")
	}
	return kept
}

// TestRestoreNamesWhatNoSnapshotHolds: a file over the cap and a secret that were changed,
// removed or made since are named by a restore, and those that are as they were are not.
func TestRestoreNamesWhatNoSnapshotHolds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Config.Capture.MaxFileSize = 10
	large := strings.Repeat("x", 11)
	for _, name := range []string{"changed", "gone", "same", "dir/model"} {
		b.write(name, large)
	}
	b.write(".env", "KEY=good")
	b.write("a.txt", "one\n")
	b.mission("work")
	b.write("changed", large+"y")
	b.remove("gone")
	b.remove("dir/model")
	b.remove("dir")
	b.write("dir", "file")
	b.write(".env", "KEY=bad!") // of the same size
	b.write("new", large)
	b.write("node.pem", "key")
	want := map[string]string{"changed": "changed", "gone": "gone", "dir/model": "gone", ".env": "changed", "new": "new", "node.pem": "new"}
	preview := b.restore("work@start", func(r *missions.RestoreRequest) { r.Preview = true })
	if got := keptPaths(preview); !maps.Equal(got, want) {
		t.Errorf("preview: kept %v, want %v", got, want)
	}
	r := b.restore("work@start")
	if got := keptPaths(r); !maps.Equal(got, want) || !r.Done {
		t.Errorf("kept %v, want %v", r.Kept, want)
	}
	hazards.Held(t, hazards.H8, "what no snapshot holds and what has changed since is named by a restore, which ends with exit code 3")
	again := b.restore("work@start")
	if got := keptPaths(again); !maps.Equal(got, want) || !slices.Contains(again.Notes, "nothing was changed: all that differs stays as it is") {
		t.Errorf("again: kept %v, notes %v", got, again.Notes)
	}
	d, err := b.local.Diff(context.Background(), missions.DiffRequest{Caller: b.caller(), From: "work@start"})
	if err != nil {
		t.Fatal(err)
	}
	differ := map[string]string{"changed": "changed,", "gone": "then", "dir/model": "then", ".env": "changed,", "new": "now", "node.pem": "now"}
	if got := keptPaths(missions.RestoreResult{Kept: d.LeftOut}); !maps.Equal(got, differ) {
		t.Errorf("diff: %v, want %v", d.LeftOut, differ)
	}
}

// TestRestoreOfAPathThatNoSnapshotHolds says so, whether the file differs or not. A path
// that names nothing is an error.
func TestRestoreOfAPathThatNoSnapshotHolds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Config.Capture.MaxFileSize = 10
	b.write(".gitignore", "build/\nlater/\n")
	b.write("build/out.o", "object")
	b.write("large", strings.Repeat("x", 11))
	b.write("dir/large", strings.Repeat("x", 11))
	b.write("a.txt", "one\n")
	b.mission("work")
	b.write("made.txt", "since\n")
	b.write("a.txt", "two\n")
	path := func(names ...string) func(*missions.RestoreRequest) {
		return func(r *missions.RestoreRequest) { r.Paths, r.Preview = names, true }
	}
	ignored := b.restore("work@start", path("build"))
	if got := ignored.Kept[0].Reason; got != "in no snapshot: ignored by the rules of one side" {
		t.Errorf("build: %q", got)
	}
	for name, want := range map[string]string{"large": "in", "build/out.o": "in", "build": "in", "later": "in", "a.txt": "", "made.txt": "", "dir": "", ".": ""} {
		got := keptPaths(b.restore("work@start", path(name)))
		if got[name] != want || want == "" && len(got) > 0 {
			t.Errorf("%s: kept %v, want %q", name, got, want)
		}
	}
	for _, name := range []string{"no/such/file", "a.txtt", "a.txt/below"} {
		_, err := b.local.Restore(context.Background(), missions.RestoreRequest{Caller: b.caller(), Moment: "work@start", Paths: []string{"a.txt", name}})
		b.fails(name, err, missions.KindNotFound)
	}
	if got := b.read("a.txt"); got != "two\n" {
		t.Errorf("a restore with a path that names nothing changed a.txt to %q", got)
	}
}

// TestOverTheBudgetIsSaid at once: by the snapshot, by status and doctor, and by a restore
// that leaves what no snapshot holds. What is new is recorded even if the tree is the same.
func TestOverTheBudgetIsSaid(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Config.Capture.MaxFiles = 3
	for _, name := range []string{"a", "b", "c"} {
		b.write(name, name)
	}
	b.mission("work")
	said := func() []missions.Problem {
		status, err := b.local.Status(context.Background(), missions.StatusRequest{Caller: b.caller()})
		if err != nil {
			t.Fatal(err)
		}
		return slices.DeleteFunc(status.Problems, func(p missions.Problem) bool { return !strings.Contains(p.Message, "over its budget") })
	}
	if list := said(); len(list) > 0 {
		t.Errorf("within the budget: %v", list)
	}
	for i := range 7 {
		b.write(fmt.Sprintf("new%d", i), "x")
	}
	e := b.snapshot("more")
	if len(e.Notes) != 1 || !strings.Contains(e.Notes[0], "new0") || !strings.Contains(e.Notes[0], "and 2 more") || !strings.Contains(e.Notes[0], "max_files") {
		t.Errorf("notes of the snapshot: %q", e.Notes)
	}
	if list := said(); len(list) != 1 || len(list[0].Details) != 7 {
		t.Errorf("status: %v", list)
	}
	d, err := b.local.Doctor(context.Background(), missions.DoctorRequest{Caller: b.caller()})
	if err != nil || len(d.Problems) != 1 || !strings.Contains(d.Problems[0].Message, "over its budget") {
		t.Errorf("doctor: %+v %v", d.Problems, err)
	}
	b.write("new7", "x")
	r := b.restore("work@start", func(r *missions.RestoreRequest) { r.FilesOnly = true })
	if got := keptPaths(r); len(got) != 8 || got["new7"] != "new" {
		t.Errorf("kept %v", got)
	}
	if list := said(); len(list) != 1 || len(list[0].Details) != 8 {
		t.Errorf("status after one more: %v", list)
	}
	b.write("new8", "x")
	b.remove("new7")
	b.restore("work@start", func(r *missions.RestoreRequest) { r.FilesOnly = true })
	if list := said(); len(list) != 1 || len(list[0].Details) != 8 || !slices.Contains(list[0].Details, "new8") {
		t.Errorf("status after another one instead: %v", list)
	}
	for _, i := range []int{0, 1, 2, 3, 4, 5, 6, 8} {
		if _, err := os.Stat(filepath.Join(b.dir, fmt.Sprintf("new%d", i))); err != nil {
			t.Error(err)
		}
	}
}

// TestForkOfWhatNoSnapshotHolds: what of a past moment no snapshot holds is taken from the
// user's repository where that has it, and else said: changed since, or gone.
func TestForkOfWhatNoSnapshotHolds(t *testing.T) {
	t.Parallel()
	for _, ignored := range []string{"copy", "skip"} {
		b := newBench(t)
		b.local.Config.Capture.MaxFileSize = 10
		large := strings.Repeat("x", 11)
		b.git("init", "-q")
		b.write(".gitattributes", "filtered filter=other\n")
		names := []string{"tracked", "removed", "filtered"}
		for _, name := range names {
			b.write(name, large)
		}
		b.git(append([]string{"add", ".gitattributes"}, names...)...)
		b.git("commit", "-qm", "large files")
		for _, name := range []string{"changed", "gone", "same"} {
			b.write(name, large)
		}
		b.mission("work")
		for _, name := range []string{"tracked", "filtered", "changed"} {
			b.write(name, large+"y")
		}
		b.remove("gone")
		b.remove("removed")
		b.write("since", large)
		b.write("since.pem", "key\n")
		b.write(".git/info/exclude", "*.o\n")
		b.write("since.o", large)
		b.snapshot("later")
		r, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: "work@start", Name: "past", Ignored: ignored})
		if err != nil {
			t.Fatal(err)
		}
		fork := r.Missions[0].Workspace
		content := map[string]string{}
		for _, name := range []string{"tracked", "removed", "filtered", "changed", "gone", "same", "since", "since.pem", "since.o"} {
			if p, err := os.ReadFile(filepath.Join(fork, name)); err == nil {
				content[name] = string(p)
			}
		}
		want := map[string]string{"tracked": large, "removed": large, "filtered": large + "y", "changed": large + "y", "same": large, "since.o": large}
		left := map[string]string{"filtered": "in", "changed": "in", "gone": "gone", "since": "made", "since.pem": "made"}
		if ignored == "skip" {
			want = map[string]string{"tracked": large, "removed": large}
			left = map[string]string{"filtered": "ignored", "changed": "ignored", "gone": "ignored", "same": "ignored"}
		}
		if !maps.Equal(content, want) {
			t.Errorf("%s: the fork has %v, want %v", ignored, content, want)
		}
		if got := keptPaths(missions.RestoreResult{Kept: r.LeftOut}); !maps.Equal(got, left) {
			t.Errorf("%s: left %v, want %v", ignored, r.LeftOut, left)
		}
		if notes := strings.Join(r.Notes, "\n"); !strings.Contains(notes, "tracked is in no snapshot") || !strings.Contains(notes, "removed is in no snapshot") {
			t.Errorf("%s: notes %q", ignored, r.Notes)
		}
	}
}

// TestRestoreSaysWhatIsTooLarge is TestRestoreSaysWhatIsInTheWay of a file that has grown
// over the cap.
func TestRestoreSaysWhatIsTooLarge(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Config.Capture.MaxFileSize = 10
	b.write("data", "small\n")
	b.mission("work")
	large := strings.Repeat("x", 11)
	b.write("data", large)
	r := b.restore("work@start")
	if b.read("data") != large || keptPaths(r)["data"] != "size" || !strings.HasPrefix(strings.Join(r.Notes, " "), "to have data back: move away what is there now") {
		t.Errorf("%+v", r)
	}
	b.remove("data")
	if b.restore("work@start"); b.read("data") != "small\n" {
		t.Errorf("once it is away, data is %q", b.read("data"))
	}
	b.healthy()
}

// TestRestoreSaysWhatIsInTheWay: where no snapshot can hold what is at a file's path now, a
// restore leaves it, and says how to have the file back.
func TestRestoreSaysWhatIsInTheWay(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("pipe", "file\n")
	b.write("a.txt", "one\n")
	b.mission("work")
	pipe := filepath.Join(b.dir, "pipe")
	if err := errors.Join(os.Remove(pipe), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	b.write("a.txt", "two\n")
	r := b.restore("work@start")
	const how = "to have pipe back: move away what is there now, or make it readable, and type the restore again"
	if !r.Done || b.read("a.txt") != "one\n" || !slices.Contains(r.Notes, how) {
		t.Errorf("%+v", r)
	}
	if err := os.Rename(pipe, pipe+".fifo"); err != nil {
		t.Fatal(err)
	}
	if r := b.restore("work@start"); b.read("pipe") != "file\n" || len(r.Notes) > 0 {
		t.Errorf("once it is away: %+v", r)
	}
	b.healthy()
}

// TestRestoreNamesIgnoredFilesWrittenSince: a whole restore says which ignored files were
// written since its moment, an ignored directory once. It is no failure: exit code 0.
func TestRestoreNamesIgnoredFilesWrittenSince(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write(".gitignore", "build/\n*.sqlite\nnode_modules/\nlater\n")
	b.write(".umbraignore", "!build/kept\n")
	for _, name := range []string{"build/kept", "build/sub/old.o", "dev.sqlite", "old.sqlite", "node_modules/a/index.js", "sub/deep/dev.sqlite", "a.txt"} {
		b.write(name, "then\n")
	}
	b.mission("work")
	note := func(r missions.RestoreResult) string {
		i := slices.IndexFunc(r.Notes, func(n string) bool { return strings.HasPrefix(n, "ignored, so in no snapshot") })
		if i < 0 {
			return ""
		}
		return r.Notes[i]
	}
	written := func(names ...string) {
		for _, name := range names {
			b.write(name, "now\n")
			at := time.Now() // the clock of files is a coarse one
			if err := os.Chtimes(filepath.Join(b.dir, name), at, at); err != nil {
				t.Fatal(err)
			}
		}
	}
	written("a.txt", "build/kept")
	if r := b.restore("work@start"); note(r) != "" || len(r.Kept) > 0 {
		t.Errorf("nothing ignored was written: %+v", r)
	}
	written("build/sub/old.o", "build/sub/new.o", "dev.sqlite", "sub/deep/dev.sqlite")
	const want = "ignored, so in no snapshot, and written since then: build/, dev.sqlite, sub/deep/dev.sqlite; ignored files stay as they are"
	if got := note(b.restore("work@start", func(r *missions.RestoreRequest) { r.Preview = true })); got != want {
		t.Errorf("preview: %q", got)
	}
	r := b.restore("work@start")
	if note(r) != want || !r.Done || len(r.Kept) > 0 || slices.Contains(r.Notes, "nothing differs") || b.read("dev.sqlite") != "now\n" {
		t.Errorf("%+v", r)
	}
	written("later")
	if got := note(b.restore("work@start")); !strings.HasSuffix(got, " build/, dev.sqlite, later and 1 more; ignored files stay as they are") {
		t.Errorf("with a new one: %q", got)
	}
	if got := note(b.restore("work@start", func(r *missions.RestoreRequest) { r.Paths = []string{"a.txt"} })); got != "" {
		t.Errorf("of one path: %q", got)
	}
	b.healthy()
}
