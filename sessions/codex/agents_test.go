package codex

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/sessionstest"
)

const (
	subID  = "01a20241-cccc-70f3-8cf7-6473b39ae7cc"
	newID  = "01a20766-9a70-70f3-8cf7-6473b39ae7cc"
	subSub = "01a20242-dddd-70f3-9cf7-6473b39ae7cc"
	led    = `{"type":"session_meta","payload":{"session_id":"` + idA + `","id":"` + idA + `","cwd":"/w","source":"cli","base_instructions":{"text":"x"},"multi_agent_version":"v2"}}`
)

// subagent is the first line of a subagent's rollout, with instructions that are
// longer than what is read of it.
func subagent(id, parent string) string {
	return `{"timestamp":"2026-11-22T18:50:05.620Z","ordinal":0,"type":"session_meta","payload":{"session_id":"` + idA + `","id":"` + id + `","forked_from_id":"` + parent +
		`","cwd":"/w","source":{"subagent":{"thread_spawn":{"parent_thread_id":"` + parent + `","depth":1,"agent_path":"/root/helper"}}},"base_instructions":{"text":"` +
		strings.Repeat("x", 2*mostOpening) + `"}}}`
}

func saved(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// newTeam is a session with a subagent, and one of that subagent's, among others.
func newTeam(t *testing.T, first string) (sessions.Environ, sessions.Session) {
	t.Helper()
	a, env := Adapter{}, sessions.Environ{Home: t.TempDir()}
	main := mkfile(t, a.Path(env, "", idA), transcript(first, prompt("a"), `{"type":"event_msg","payload":{"item":{"agent_thread_id":"`+subID+`"}}}`, answer("b")))
	mkfile(t, a.Path(env, "", subID), transcript(subagent(subID, idA), led, prompt("in /w"), answer("found it in /w/a"))+`{"half`)
	mkfile(t, filepath.Join(env.Home, ".codex/archived_sessions/rollout-2026-11-22T07-57-42-"+subSub+".jsonl"), transcript(subagent(subSub, subID), answer("deep")))
	mkfile(t, a.Path(env, "", idB), transcript(meta(idB), prompt("a")))                                                     // another session
	mkfile(t, a.Path(env, "", "01a20243-eeee-70f3-8cf7-6473b39ae7cc"), strings.ReplaceAll(subagent("x", idB), idA, subSub)) // another's subagent
	mkfile(t, a.Path(env, "", "01a20244-eeee-70f3-8cf7-6473b39ae7cc"), "")
	return env, sessions.Session{ID: idA, Path: main}
}

// TestSubagents: what a session's subagents said is kept with it, and copied
// under ids of their own, of which the copy of the session speaks.
func TestSubagents(t *testing.T) {
	a := Adapter{}
	env, s := newTeam(t, led)
	sides, err := a.Sides(env, s)
	if err != nil || len(sides) != 2 || !strings.HasSuffix(sides[0].Name, subID+".jsonl") || !strings.HasSuffix(sides[1].Name, subSub+".jsonl") {
		t.Fatalf("sides %+v, %v", sides, err)
	}
	sessionstest.Subagent(t, a, sides[0].Name, subID, []byte(saved(t, sides[0].Path)), "in /w", "found it", "ancestors/"+sides[0].Name, filepath.Base(sides[0].Name))
	names, to := []string{sides[0].Name, sides[1].Name}, fork("/w", "/n")
	to.NewID = newID // a day later than the subagents
	files, err := a.PlaceSides(env, names, func(name string) (io.ReadCloser, error) {
		return os.Open(sides[slices.Index(names, name)].Path)
	}, to)
	if err != nil || len(files) != 2 {
		t.Fatalf("placed %+v, %v", files, err)
	}
	copied, deep := shiftOf(to).id(subID), shiftOf(to).id(subSub)
	if copied == subID || !sessions.IsUUID(copied) || copied <= newID || copied[14] != '7' || copied[19] != subID[19] {
		t.Errorf("the subagent's id becomes %s", copied)
	}
	var out, below bytes.Buffer
	if err := files[0].Write(&out); err != nil {
		t.Fatal(err)
	}
	if err := files[1].Write(&below); err != nil {
		t.Fatal(err)
	}
	mainCopy := mkfile(t, a.Path(env, "", newID), rewritten(t, saved(t, s.Path), to))
	for name, text := range map[string]string{"subagent": out.String(), "its subagent": below.String(), "session": saved(t, mainCopy)} {
		for _, old := range []string{idA, subID, subSub, `/w"`, "/w/a", "half"} {
			if strings.Contains(text, old) {
				t.Errorf("the copy of the %s still names %s: %s", name, old, text)
			}
		}
		if !strings.Contains(text, copied) {
			t.Errorf("the copy of the %s does not name %s", name, copied)
		}
	}
	if !strings.Contains(out.String(), "found it in /n/a") || !strings.Contains(below.String(), `"id":"`+deep+`"`) {
		t.Errorf("copied is %s and %s", out.String(), below.String())
	}
	for i, b := range []*bytes.Buffer{&out, &below} {
		mkfile(t, files[i].Path, b.String())
	}
	if list, err := a.Import(env, sessions.Session{ID: newID, Path: mainCopy}, nil); err != nil || len(list) != 1 || list[0].Argv[2] != copied {
		t.Errorf("of the copy %+v is imported, %v", list, err)
	}
	back := sessions.Rewrite{OldID: newID, NewID: idA}
	if shiftOf(back).id(copied) != subID {
		t.Errorf("on the way back the subagent is %s", shiftOf(back).id(copied))
	}
	if files, err := a.PlaceSides(env, names, opener(""), to); err != nil || len(files) != 0 {
		t.Errorf("what is there is placed again: %+v, %v", files, err)
	}
	if sides, err := a.Sides(env, sessions.Session{ID: newID, Path: mainCopy}); err != nil || len(sides) != 2 || !strings.HasSuffix(sides[0].Name, copied+".jsonl") {
		t.Errorf("the copy has the side files %+v, %v", sides, err)
	}
}

// TestSubagentRecorded reads what a subagent was recorded to say: it begins with a copy of
// what was said before it was begun, and has no user.
func TestSubagentRecorded(t *testing.T) {
	text, err := os.ReadFile("testdata/0.169.0/subagent.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	sessionstest.Subagent(t, Adapter{}, "agents/rollout-2026-11-29T07-44-50-01a22643-8be3-72e0-97d8-d3c3d7b09f4c.jsonl", "01a22643-8be3-72e0-97d8-d3c3d7b09f4c",
		text, "Task name: /root/helper", "sub said")
	read := Adapter{}.Follow()
	read.Feed(text)
	if c := read.Conversation(); len(c.Turns) != 1 || len(c.Turns[0].Tools) != 1 || c.Turns[0].Tools[0].Target != "pwd" {
		t.Errorf("it is %+v", c.Turns)
	}
}

// TestSubagentsImported: Codex takes one subagent after the other out of its
// archive, of that session alone.
func TestSubagentsImported(t *testing.T) {
	a := Adapter{}
	env, s := newTeam(t, led)
	list, err := a.Import(env, s, []string{"/opt/codex", "exec"})
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	if i := list[0]; !slices.Equal(i.Argv, []string{"/opt/codex", "unarchive", subSub}) || !strings.HasSuffix(i.Done, subSub) || i.File.Path != "" || i.Mark != "" || !i.Beside {
		t.Errorf("%+v", i)
	}
	if err := os.RemoveAll(filepath.Join(env.Home, ".codex/archived_sessions")); err != nil {
		t.Fatal(err)
	}
	if list, err := a.Import(env, s, nil); len(list) > 0 || err != nil {
		t.Errorf("with nothing in the archive: %+v, %v", list, err)
	}
	archived := mkfile(t, filepath.Join(env.Home, ".codex/archived_sessions", filepath.Base(s.Path)), led+"\n")
	mkfile(t, filepath.Join(env.Home, ".codex/archived_sessions/rollout-2026-11-22T07-57-42-"+subSub+".jsonl"), subagent(subSub, subID))
	if list, err := a.Import(env, sessions.Session{ID: idA, Path: archived}, nil); len(list) > 0 || err != nil {
		t.Errorf("of a session in the archive: %+v, %v", list, err)
	}
}

// TestNoTeam: a session that can have no subagents is not looked for any.
func TestNoTeam(t *testing.T) {
	a := Adapter{}
	env, s := newTeam(t, meta(idA))
	if sides, err := a.Sides(env, s); err != nil || len(sides) > 0 {
		t.Errorf("side files %+v, %v", sides, err)
	}
	if list, err := a.Import(env, s, nil); len(list) > 0 || err != nil {
		t.Errorf("imported %+v, %v", list, err)
	}
	for _, name := range []string{"agents/x.jsonl", "agents/a/rollout-2026-11-22T07-57-42-" + subID + ".jsonl", "agents/../rollout-2026-11-22T07-57-42-" + subID + ".jsonl"} {
		if files, err := a.PlaceSides(env, []string{name}, opener(""), fork("/w", "/n")); err == nil {
			t.Errorf("%s is placed: %v", name, files)
		}
	}
}
