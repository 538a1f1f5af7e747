package opencode

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

// What the plugin wrote of a subagent, and of the session that it is one of.
const (
	leader = "ses_dfaaa8509ffeclCrs3qy49jQvT"
	agent  = "ses_dfa9e5d6bfferRl1tLwP56Teow"
)

func mkfile(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, content, 0o600)); err != nil {
		t.Fatal(err)
	}
}

func opener(content []byte) func(string) (io.ReadCloser, error) {
	return func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
}

func ofLeader(id string) sessions.Rewrite {
	return sessions.Rewrite{OldID: leader, NewID: id, OldCwd: "/home/dev/w", NewCwd: "/forks/one", OldRoot: "/home/dev/w", NewRoot: "/forks/one"}
}

func named(id string) string { return "agents/" + id + ".jsonl" }

// TestSubagents: what a subagent said is a side file, and its copy a session of the
// copy's, which is imported when that is, and not before.
func TestSubagents(t *testing.T) {
	a, said := Adapter{}, fixture(t, "subagent.jsonl")
	env := sessions.Environ{Home: t.TempDir(), Vars: map[string]string{}}
	s := sessions.Session{ID: leader, Path: a.Path(env, "", leader)}
	mkfile(t, agentFile(s.Path, agent), said)
	mkfile(t, filepath.Join(agentsDir(s.Path), "not one.txt"), nil)
	sides, err := a.Sides(env, s)
	if err != nil || len(sides) != 1 || sides[0].Name != named(agent) || sides[0].Path != agentFile(s.Path, agent) || sides[0].Size != int64(len(said)) {
		t.Fatalf("side files %+v, %v", sides, err)
	}

	to := ofLeader("ses_dfaaa8509ffeAAAAAAAAAAAAAA")
	copied := string(turnOf(to.OldID, to.NewID).session([]byte(agent)))
	files, err := a.PlaceSides(env, []string{sides[0].Name}, opener(said), to)
	if err != nil || len(files) != 3 {
		t.Fatalf("placed %+v, %v", files, err)
	}
	for _, f := range files {
		var out bytes.Buffer
		if err := f.Write(&out); err != nil {
			t.Fatal(err)
		}
		mkfile(t, f.Path, out.Bytes())
	}
	s = sessions.Session{ID: to.NewID, Path: a.Path(env, to.NewCwd, to.NewID), Cwd: to.NewCwd}
	mkfile(t, s.Path, rewritten(t, []byte(taskLine(agent)+"\n"), to))
	out, err := os.ReadFile(agentFile(s.Path, copied))
	if err != nil {
		t.Fatal(err)
	}
	for _, old := range []string{leader, agent, "/home/dev", "msg_20561a33c001BL6QNaUEhl2ktS"} {
		if bytes.Contains(out, []byte(old)) {
			t.Errorf("the copy names %s: %s", old, out)
		}
	}
	if got := strings.Count(string(out), `"session":"`+copied+`"`); got != strings.Count(string(said), "\n") || !strings.Contains(string(out), `"parentID":"`+to.NewID+`"`) {
		t.Errorf("the copy is %s", out)
	}
	if main, err := os.ReadFile(s.Path); err != nil || !strings.Contains(string(main), `<task id=\"`+copied) {
		t.Errorf("the session goes on with %s, %v; the subagent is %s", main, err, copied)
	}
	if back := turnOf(to.NewID, to.OldID).session([]byte(copied)); string(back) != agent {
		t.Errorf("on the way back the subagent is %s", back)
	}

	if err := os.Remove(importOne(t, env, s).Mark); err != nil {
		t.Fatal(err)
	}
	list, err := a.Import(env, s, []string{"/opt/opencode", "run"})
	if err != nil || len(list) != 1 || !list[0].Beside || list[0].Dir != to.NewCwd || !slices.Equal(list[0].Argv, []string{"/opt/opencode", "import", list[0].File.Path}) {
		t.Fatalf("then imported is %+v, %v", list, err)
	}
	if e := exportOf(t, list[0]); len(e.Messages) != 3 || !bytes.Contains(e.Info, []byte(`"parentID":"`+to.NewID+`"`)) {
		t.Errorf("%d messages of %s", len(e.Messages), e.Info)
	}
	if err := os.Remove(list[0].Mark); err != nil {
		t.Fatal(err)
	}
	if list, err := a.Import(env, s, nil); len(list) > 0 || err != nil {
		t.Errorf("once it is done: %+v, %v", list, err)
	}
}

// TestSubagentAtWork: one in the middle of its work is cut as a session is, and one
// that has said nothing is not copied.
func TestSubagentAtWork(t *testing.T) {
	a, said := Adapter{}, bytes.SplitAfter(fixture(t, "subagent.jsonl"), []byte("\n"))
	env, to := sessions.Environ{Home: t.TempDir()}, ofLeader("ses_dfaaa8509ffeAAAAAAAAAAAAAA")
	for n, want := range map[int]int{3: 0, 6: 0, 9: 0, 10: 10, 14: 10, 16: 16} {
		files, err := a.PlaceSides(env, []string{named(agent)}, opener(bytes.Join(said[:n], nil)), to)
		if err != nil {
			t.Fatal(err)
		}
		got := 0
		for _, f := range files {
			var out bytes.Buffer
			if err := f.Write(&out); err != nil {
				t.Fatal(err)
			}
			got += bytes.Count(out.Bytes(), []byte("\n"))
		}
		if got != want {
			t.Errorf("of %d lines %d are copied, want %d", n, got, want)
		}
	}
}

func TestSubagentNames(t *testing.T) {
	a, env, to := Adapter{}, sessions.Environ{Home: t.TempDir()}, ofLeader("ses_dfaaa8509ffeAAAAAAAAAAAAAA")
	for _, name := range []string{"agents/../" + agent + ".jsonl", "agents/a/" + agent + ".jsonl", "agents/" + agent, agent + ".jsonl", "agents/.jsonl"} {
		if files, err := a.PlaceSides(env, []string{name}, opener(nil), to); err == nil {
			t.Errorf("%s is placed: %v", name, files)
		}
	}
	for _, id := range []string{"ses_1", "ses_dfa9e5d6bffe-Rl1tLwP56Teow", strings.Replace(agent, "ses", "xes", 1)} {
		if files, err := a.PlaceSides(env, []string{named(id)}, opener(fixture(t, "subagent.jsonl")), to); err != nil || len(files) != 1 {
			t.Errorf("%s, which no copy can name, is placed: %v, %v", id, files, err)
		}
	}
}
