package codex

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/sessions"
)

func mkfile(t *testing.T, path, content string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRoot(t *testing.T) {
	for want, env := range map[string]sessions.Environ{
		"/h/.codex": {Home: "/h"},
		"/x/cx":     {Home: "/h", Vars: map[string]string{"CODEX_HOME": "/x/cx/"}},
	} {
		if got := (Adapter{}).Root(env); got != want {
			t.Errorf("root %s, want %s", got, want)
		}
	}
}

func TestNewID(t *testing.T) {
	at := time.Date(2026, 11, 22, 7, 39, 18, 605e6, time.UTC)
	id := Adapter{}.NewID("f47ac10b-58cc-4372-a567-0e02b2c3d479", at)
	if id != "01a20231-f6cd-7372-a567-0e02b2c3d479" {
		t.Errorf("id %s", id)
	}
	if back, ok := sessions.TimeOf(id); !ok || !back.Equal(at) {
		t.Errorf("the id tells %v, %t", back, ok)
	}
	if got, want := (Adapter{}).Path(sessions.Environ{Home: "/h"}, "/w", id), "/h/.codex/sessions/2026/11/22/rollout-2026-11-22T07-39-18-"+id+".jsonl"; got != want {
		t.Errorf("path %s, want %s", got, want)
	}
}

// TestPathFinds: a session's file is found wherever Codex may have put it.
func TestPathFinds(t *testing.T) {
	env := sessions.Environ{Home: t.TempDir()}
	root := Adapter{}.Root(env)
	const random = "f47ac10b-58cc-4372-a567-0e02b2c3d479" // of a copy made by hand
	for id, name := range map[string]string{
		"01a20231-f5bd-7372-a567-0e02b2c3d479": "sessions/2026/11/22/rollout-2026-11-22T07-39-18-01a20231-f5bd-7372-a567-0e02b2c3d479.jsonl",
		"01a20231-f5bd-7372-a567-0e02b2c3d47a": "sessions/2026/11/21/rollout-2026-11-21T20-39-18-01a20231-f5bd-7372-a567-0e02b2c3d47a.jsonl", // in America
		"01a20231-f5bd-7372-a567-0e02b2c3d47b": "sessions/2026/11/23/rollout-2026-11-23T01-39-18-01a20231-f5bd-7372-a567-0e02b2c3d47b.jsonl",
		"01a20231-f5bd-7372-a567-0e02b2c3d47c": "archived_sessions/rollout-2026-11-22T07-39-18-01a20231-f5bd-7372-a567-0e02b2c3d47c.jsonl",
		random:                                 "sessions/2025/01/31/rollout-2025-01-31T00-00-00-" + random + ".jsonl",
	} {
		want := mkfile(t, filepath.Join(root, name), meta(id)+"\n")
		if got := (Adapter{}).Path(env, "/anywhere", id); got != want {
			t.Errorf("found %s, want %s", got, want)
		}
	}
	mkfile(t, filepath.Join(root, "sessions/2026/11/22/notes.txt"), "x")
	mkfile(t, filepath.Join(root, "sessions/2026/11/22/rollout-2026-11-22T07-39-18-nobody.jsonl"), "x")
	for _, name := range []string{"rollout-2026-11-22T07-39-18-nobody.jsonl", "notes.txt"} {
		if _, err := (Adapter{}).Open(filepath.Join(root, "sessions/2026/11/22", name)); !errors.Is(err, sessions.ErrNoSession) {
			t.Errorf("opened %s: %v", name, err)
		}
	}
}

// TestAncestors: what Codex has forked itself is kept with all that it goes on
// from, and can be put back where an ancestor is gone.
func TestAncestors(t *testing.T) {
	env := sessions.Environ{Home: t.TempDir()}
	a := Adapter{}
	const idC = "01a20240-cccc-70f3-8cf7-6473b39ae7cc"
	first := mkfile(t, a.Path(env, "", idA), transcript(meta(idA), prompt("a"), answer("b")))
	middle := mkfile(t, a.Path(env, "", idB), heir+"\n")
	last := mkfile(t, a.Path(env, "", idC), `{"type":"session_meta","payload":{"id":"`+idC+`","history_base":{"thread_id":"`+idB+`"}}}`+"\n")
	s := sessions.Session{ID: idC, Path: last}
	sides, err := a.Sides(env, s)
	if err != nil || len(sides) != 2 || sides[0].Path != first || sides[1].Path != middle {
		t.Fatalf("sides %v, %v", sides, err)
	}
	names := []string{sides[0].Name, sides[1].Name}
	if files, err := a.PlaceSides(env, names, nil, sessions.Rewrite{}); err != nil || len(files) != 0 {
		t.Errorf("what is there is placed again: %v, %v", files, err)
	}
	if err := os.Remove(first); err != nil {
		t.Fatal(err)
	}
	if sides, err := a.Sides(env, s); err != nil || len(sides) != 1 {
		t.Errorf("with an ancestor gone: %v, %v", sides, err)
	}
	files, err := a.PlaceSides(env, names, opener("kept"), sessions.Rewrite{})
	if err != nil || len(files) != 1 || files[0].Path != first {
		t.Fatalf("placed %v, %v", files, err)
	}
	mkfile(t, first, meta(idA)+"\n") // which names itself, as nothing should
	mkfile(t, middle, `{"type":"session_meta","payload":{"id":"`+idB+`","history_base":{"thread_id":"`+idC+`"}}}`+"\n")
	if sides, err := a.Sides(env, s); err != nil || len(sides) != 1 {
		t.Errorf("in a ring: %v, %v", sides, err)
	}
	for _, name := range []string{"ancestors/x.jsonl", "ancestors/../rollout-2026-11-22T07-39-18-" + idA + ".jsonl", "rollout-2026-11-22T07-39-18-" + idA + ".jsonl"} {
		if _, err := a.PlaceSides(env, []string{name}, opener(""), sessions.Rewrite{}); err == nil {
			t.Errorf("%s is placed", name)
		}
	}
}

// TestClient: which version began a session.
func TestClient(t *testing.T) {
	a := Adapter{}
	dir := t.TempDir()
	talk := mkfile(t, filepath.Join(dir, "talk"), string(fixture(t, "talk.jsonl")))
	if got := a.Client(talk); got != version {
		t.Errorf("recorded by %q", got)
	}
	if _, newest := a.Tried(); newest != version {
		t.Errorf("the newest known is %s", newest)
	}
	for name, in := range map[string]string{
		"said": `{"type":"session_meta","payload":{"base_instructions":"\"cli_version\":\"9\"","cli_version":"9"}}` + "\n",
		"torn": `{"type":"session_meta","payload":{"cli_version":"9`, "later": "{}\n" + `{"cli_version":"9"}` + "\n", "empty": "",
	} {
		if got := a.Client(mkfile(t, filepath.Join(dir, name), in)); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := a.Client(filepath.Join(dir, "none")); got != "" {
		t.Errorf("no file: %q", got)
	}
}
