package local

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// writeIn writes a file of a mission's workspace, or removes it if the text is "-".
func writeIn(t *testing.T, dir, name, text string) {
	t.Helper()
	err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)
	if text == "-" {
		err = os.Remove(filepath.Join(dir, name))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestMergeOfADatabase: a database and its logs are one question, and become what one side
// has, whatever is chosen and however many sides there are.
func TestMergeOfADatabase(t *testing.T) {
	t.Parallel()
	page := func(fill string) string { return "SQLite format 3\x00" + strings.Repeat(fill, 496) }
	zero, one, two, three := page("0"), page("1"), page("2"), page("3")
	for name, c := range map[string]struct {
		edits  map[string]string // by mission and file; "-" removes it
		take   missions.MergeTake
		file   string // what its user has written
		reason string // of the question, "" if nothing is to be asked
		want   string // the database, and its log
	}{
		"the database here": {map[string]string{"m/app.db": one, "fa/app.db-wal": "two"}, "ours", "", "a database with its logs, changed in each", one + " zero"},
		"the log there":     {map[string]string{"m/app.db": one, "fa/app.db-wal": "two"}, "theirs", "", "a database with its logs, changed in each", zero + " two"},
		"a file":            {map[string]string{"m/app.db": one, "fa/app.db-wal": "two"}, "file", three, "a database with its logs, changed in each", three + " -"},
		"of one of several": {
			map[string]string{"m/app.db": one, "fa/app.db": two, "fa/app.db-wal": "two", "fb/app.db": three, "fb/app.db-wal": "-"}, "fa", "",
			"a database with its logs, changed in each", two + " two",
		},
		"several, and none of them": {
			map[string]string{"fa/app.db": two, "fa/app.db-wal": "two", "fb/app.db-wal": "-"}, "file", three, "a database with its logs, changed in each", three + " -",
		},
		"deleted here":           {map[string]string{"m/app.db": "-", "m/app.db-wal": "-", "fa/app.db-wal": "two"}, "theirs", "", "deleted in m, changed in fa", zero + " two"},
		"deleted there":          {map[string]string{"fa/app.db": "-", "fa/app.db-wal": "-", "m/app.db-wal": "one"}, "ours", "", "changed in m, deleted in fa", zero + " one"},
		"changed there alone":    {map[string]string{"fa/app.db": two, "fa/app.db-wal": "-"}, "ours", "", "changed in fa alone", zero + " zero"},
		"itself there alone":     {map[string]string{"fa/app.db": two}, "file", three, "changed in fa alone", three + " -"},
		"its log there alone":    {map[string]string{"fa/app.db-wal": "two"}, "file", three, "changed in fa alone", three + " -"},
		"opened and closed here": {map[string]string{"m/app.db-shm": "", "fa/app.db": two, "fa/app.db-wal": "two"}, "", "", "", two + " two"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, dirs := forksToMerge(t, map[string]string{"app.db": zero, "app.db-wal": "zero"}, "fa", "fb")
			forks := []string{"fa"}
			for path, text := range c.edits {
				mission, file, _ := strings.Cut(path, "/")
				writeIn(t, dirs[mission], file, text)
				if mission == "fb" && len(forks) == 1 {
					forks = append(forks, "fb")
				}
			}
			auto := missions.MergeNone
			if c.reason == "" {
				auto = missions.MergeLow
			}
			r, err := b.merge(missions.MergeBegin, func(r *missions.MergeRequest) { r.Forks, r.Auto = forks, auto })
			if err != nil {
				t.Fatal(err)
			}
			if c.reason != "" {
				if len(r.Conflicts) != 1 || len(r.Taken) > 0 || r.Conflicts[0].Path != "app.db" || r.Conflicts[0].Reason != c.reason {
					t.Fatalf("begun: %+v, %+v", r.Conflicts, r.Taken)
				}
				choice := missions.MergeChoice{Path: "app.db", Take: c.take, Content: []byte(c.file)}
				if _, err := b.merge(missions.MergeResolve, func(r *missions.MergeRequest) { r.Choices = []missions.MergeChoice{choice} }); err != nil {
					t.Fatal(err)
				}
				if r, err = b.merge(missions.MergeContinue); err != nil {
					t.Fatal(err)
				}
			}
			log, err := os.ReadFile(filepath.Join(b.dir, "app.db-wal"))
			if err != nil {
				log = []byte("-")
			}
			if got := b.read("app.db") + " " + string(log); !r.Done || got != c.want {
				t.Errorf("%+v: it became %q, want %q", r, got, c.want)
			}
		})
	}
}

// TestChoiceOfADatabase: a choice counts as long as the database and its logs are as they were,
// and a log has no choice of its own.
func TestChoiceOfADatabase(t *testing.T) {
	t.Parallel()
	page := func(fill string) string { return "SQLite format 3\x00" + strings.Repeat(fill, 496) }
	b, dirs := forksToMerge(t, map[string]string{"app.db": page("0"), "b": "b\n"}, "fa")
	writeIn(t, dirs["m"], "app.db", page("1"))
	writeIn(t, dirs["m"], "b", "m\n")
	writeIn(t, dirs["fa"], "app.db-wal", "two")
	writeIn(t, dirs["fa"], "b", "fa\n")
	if _, err := b.merge(missions.MergeBegin, func(r *missions.MergeRequest) { r.Forks = []string{"fa"} }); err != nil {
		t.Fatal(err)
	}
	choose := func(path missions.Path, take missions.MergeTake) (missions.MergeResult, error) {
		return b.merge(missions.MergeResolve, func(r *missions.MergeRequest) { r.Choices = []missions.MergeChoice{{Path: path, Take: take}} })
	}
	if _, err := choose("app.db-wal", missions.TakeOurs); err == nil || !strings.Contains(err.Error(), "app.db-wal is chosen with app.db") {
		t.Errorf("a log alone: %v", err)
	}
	isOpen := func(r missions.MergeResult) bool {
		return slices.ContainsFunc(r.Conflicts, func(q missions.MergedPath) bool { return q.Path == "app.db" })
	}
	if r, err := choose("app.db", missions.TakeTheirs); err != nil || isOpen(r) {
		t.Fatalf("chosen: %+v, %v", r, err)
	}
	writeIn(t, dirs["m"], "app.db-shm", "opened")
	writeIn(t, dirs["m"], "app.db-wal", "")
	if r, err := b.merge(missions.MergeContinue); err != nil || r.Done || isOpen(r) {
		t.Fatalf("a program has opened it: %+v, %v", r, err)
	}
	writeIn(t, dirs["m"], "app.db-wal", "one")
	if r, err := choose("b", missions.TakeOurs); err != nil || !isOpen(r) {
		t.Fatalf("its log has changed since: %+v, %v", r, err)
	}
	if r, err := b.merge(missions.MergeContinue); err != nil || r.Done || b.read("app.db-wal") != "one" {
		t.Fatalf("its log has changed since: %+v, %v", r, err)
	}
	if r, err := choose("app.db", missions.TakeOurs); err != nil || len(r.Conflicts) > 0 {
		t.Fatalf("chosen again: %+v, %v", r, err)
	}
	if r, err := b.merge(missions.MergeContinue); err != nil || !r.Done || b.read("app.db") != page("1") || b.read("app.db-wal") != "one" {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestRightsOfWhatIsTakenBack: a file, and a log, that a fork has deleted are closed to others as
// they were, where they are chosen as they are in the mission merged into.
func TestRightsOfWhatIsTakenBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	page := func(fill string) string { return "SQLite format 3\x00" + strings.Repeat(fill, 496) }
	closed := []string{"app.db-wal", "closed"}
	for _, name := range append([]string{"a", "b", "c"}, closed...) {
		b.write(name, name)
	}
	b.write("app.db", page("0"))
	for _, name := range closed {
		if err := os.Chmod(filepath.Join(b.dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.mission("m")
	made, err := b.local.Fork(t.Context(), missions.ForkRequest{Caller: b.caller(), From: "m", Name: "fa"})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"app.db": page("1"), "app.db-wal": "-", "closed": "-", "a": "fork"} {
		writeIn(t, made.Missions[0].Workspace, name, text)
	}
	if _, err := b.merge(missions.MergeBegin, func(r *missions.MergeRequest) { r.Forks, r.Auto = []string{"fa"}, missions.MergeNone }); err != nil {
		t.Fatal(err)
	}
	if _, err := b.merge(missions.MergeResolve, func(r *missions.MergeRequest) {
		r.Choices = []missions.MergeChoice{
			{Path: "a", Take: missions.TakeMerged}, {Path: "app.db", Take: missions.TakeOurs}, {Path: "closed", Take: missions.TakeOurs},
		}
	}); err != nil {
		t.Fatal(err)
	}
	if r, err := b.merge(missions.MergeContinue); err != nil || !r.Done || b.read("a") != "fork" || b.read("app.db-wal") != "app.db-wal" {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, name := range closed {
		if st, err := os.Stat(filepath.Join(b.dir, name)); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, st, err)
		}
	}
}

// TestRightsOfWhatIsWritten: a file that a fork has deleted, and whose content the user writes,
// is as closed to others as it was; and of two forks that have the same, the chosen one counts.
func TestRightsOfWhatIsWritten(t *testing.T) {
	t.Parallel()
	text := "1\n2\n3\n4\n5\n6\n"
	b, dirs := forksToMerge(t, map[string]string{"private": "secret", "key": text}, "fa", "fb")
	chmod := func(side, name string, bits os.FileMode) {
		t.Helper()
		if err := os.Chmod(filepath.Join(dirs[side], name), bits); err != nil {
			t.Fatal(err)
		}
	}
	chmod("m", "private", 0o600)
	for _, name := range []string{"fa", "fb"} {
		b.writeIn(dirs[name], "key", "fork\n"+text)
		if err := os.Remove(filepath.Join(dirs[name], "private")); err != nil {
			t.Fatal(err)
		}
	}
	chmod("fa", "key", 0o600)
	if err := os.Rename(filepath.Join(b.dir, "key"), filepath.Join(b.dir, "key2")); err != nil {
		t.Fatal(err)
	}
	if _, err := b.merge(missions.MergeBegin, func(r *missions.MergeRequest) {
		r.Forks, r.Auto = []string{"fa", "fb"}, missions.MergeNone
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.merge(missions.MergeResolve, func(r *missions.MergeRequest) {
		r.Choices = []missions.MergeChoice{
			{Path: "private", Take: missions.TakeFile, Content: []byte("mine")}, {Path: "key", Take: "fa"}, {Path: "key2", Take: missions.TakeMerged},
		}
	}); err != nil {
		t.Fatal(err)
	}
	if r, err := b.merge(missions.MergeContinue); err != nil || !r.Done || b.read("private") != "mine" || b.read("key") != "fork\n"+text {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, name := range []string{"private", "key"} {
		if st, err := os.Stat(filepath.Join(b.dir, name)); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, st, err)
		}
	}
}
