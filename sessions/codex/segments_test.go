package codex

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/sessions"
)

// rewoundID is the session of testdata's rewound: three prompts, of which the second
// was taken back, the one in its place stayed, and one after that was taken back too.
const rewoundID = "01a208a8-777e-7be2-8575-cf12f64b7fe0"

// rewound is a store with the recorded files of a session in which its user went
// back twice, the oldest first.
func rewound(t *testing.T) (env sessions.Environ, files []string) {
	t.Helper()
	env = sessions.Environ{Home: t.TempDir()}
	recorded, err := filepath.Glob(filepath.Join("testdata", version, "rewound", "*"))
	if err != nil || len(recorded) != 3 {
		t.Fatal(recorded, err)
	}
	for _, name := range recorded {
		place := filepath.Join((Adapter{}).Root(env), "sessions/2026/11/23", filepath.Base(name))
		files = append(files, mkfile(t, place, string(fixture(t, filepath.Join("rewound", filepath.Base(name))))))
	}
	return env, files
}

// joinedTalk is the conversation of a session's file, by what its first line says.
func joinedTalk(t *testing.T, a Adapter, env sessions.Environ, file string) []byte {
	t.Helper()
	sides, err := a.Sides(env, sessions.Session{ID: rewoundID, Path: file})
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for rest := []byte(nil); ; {
		first, after, _ := bytes.Cut(b, []byte("\n"))
		segment, length := a.Base(first)
		n := slices.IndexFunc(sides, func(s sessions.Side) bool { return segment != "" && a.Segment(s.Name) == segment })
		if n < 0 {
			return append(b, rest...)
		}
		if b, err = os.ReadFile(sides[n].Path); err != nil {
			t.Fatal(err)
		}
		b, rest = b[:length], append(after, rest...)
	}
}

// TestRewound follows a session in which its user went back: to the file in which it
// goes on, which holds what came since, and to those that hold what was before.
func TestRewound(t *testing.T) {
	a := Adapter{}
	env, files := rewound(t)
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(files[2], old, old); err != nil { // a copy of a store has any times
		t.Fatal(err)
	}
	newest := files[2]
	if got := a.Path(env, "/w", rewoundID); got != newest {
		t.Errorf("the session's file is %s", got)
	}
	for _, file := range files {
		if s, err := a.Open(file); err != nil || s.ID != rewoundID {
			t.Errorf("%s is of session %s, %v", file, s.ID, err)
		}
		if got := a.Current(env, file); got != newest {
			t.Errorf("after %s Codex goes on in %s", file, got)
		}
	}
	moved := filepath.Join(a.Root(env), archive, filepath.Base(newest))
	if err := errors.Join(os.MkdirAll(filepath.Dir(moved), 0o700), os.Rename(newest, moved)); err != nil {
		t.Fatal(err)
	}
	if got := a.Current(env, newest); got != moved {
		t.Errorf("put away, it is in %s", got)
	}
	if got := a.Current(env, filepath.Join(filepath.Dir(newest), "rollout-2026-11-24T00-00-00-"+rewoundID+"_01a20a08-a3d6-7651-bc4f-c475822a5fe5.jsonl")); filepath.Dir(got) != filepath.Dir(newest) {
		t.Errorf("where the newest is gone, an older one is taken: %s", got)
	}
	if err := os.Rename(moved, newest); err != nil {
		t.Fatal(err)
	}
	payload := `{"session_id":"` + rewoundID + `","hook_event_name":"UserPromptSubmit","prompt":"x","transcript_path":"` + files[1] + `"}`
	if e, err := a.Event(env, "", []byte(payload)); err != nil || e.Transcript != files[1] {
		t.Errorf("a hook told of %s, %v", e.Transcript, err)
	}
	for n, want := range [][]string{
		{"first PLATYPUS [[bash cmd=\"pwd\"]] [[say hello]]", "second [[say taken back]]"},
		{"first PLATYPUS [[bash cmd=\"pwd\"]] [[say hello]]", "third [[say instead]]", "fourth [[say taken back too]]"},
		{"first PLATYPUS [[bash cmd=\"pwd\"]] [[say hello]]", "third [[say instead]]", "fifth [[bash cmd=\"pwd\"]] [[say at last]]"},
	} {
		b := joinedTalk(t, a, env, files[n])
		c, err := sessions.ReadConversation(a, bytes.NewReader(b))
		var got []string
		for _, turn := range c.Turns {
			got = append(got, turn.Prompt)
		}
		if err != nil || !slices.Equal(got, want) || c.ID != rewoundID || c.State != sessions.StateIdle || bytes.Count(b, []byte(`"type":"session_meta"`)) != 1 {
			t.Errorf("%s: %q, session %s, %s, %v", files[n], got, c.ID, c.State, err)
		}
	}
}

// TestRewoundSides: the files before are part of a session's copy, and no files
// beside it; for the session itself those are put back that are gone.
func TestRewoundSides(t *testing.T) {
	a := Adapter{}
	env, files := rewound(t)
	var names []string
	sides, err := a.Sides(env, sessions.Session{ID: rewoundID, Path: files[2]})
	for _, s := range sides {
		names = append(names, s.Name)
	}
	if err != nil || len(sides) != 2 || sides[0].Path != files[0] || sides[1].Path != files[1] {
		t.Fatalf("sides %v, %v", sides, err)
	}
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	if placed, err := a.PlaceSides(env, names, opener("x"), fork("/w", "/n")); err != nil || len(placed) > 0 {
		t.Errorf("beside a copy: %v, %v", placed, err)
	}
	placed, err := a.PlaceSides(env, names, opener("kept"), sessions.Rewrite{OldID: rewoundID, NewID: rewoundID})
	if err != nil || len(placed) != 1 || placed[0].Path != files[0] {
		t.Fatalf("put back: %v, %v", placed, err)
	}
	var out strings.Builder
	if err := placed[0].Write(&out); err != nil || out.String() != "kept" {
		t.Errorf("put back: %q, %v", out.String(), err)
	}
	if sides, err := a.Sides(env, sessions.Session{ID: rewoundID, Path: files[2]}); err != nil || len(sides) != 1 {
		t.Errorf("with the first one gone: %v, %v", sides, err)
	}
}

// TestForkOfRewound: a fork that Codex makes of such a session begins in all of its
// files, as ancestors, and one of Umbra's is a single file that names none.
func TestForkOfRewound(t *testing.T) {
	a := Adapter{}
	env, files := rewound(t)
	own := `{"type":"session_meta","payload":{"id":"` + idB + `","forked_from_id":"` + rewoundID + `","history_base":{"thread_id":"` + segmentOf(filepath.Base(files[2])) + `","end_byte_offset":9}}}`
	forked := mkfile(t, a.Path(env, "", idB), own+"\n")
	sides, err := a.Sides(env, sessions.Session{ID: idB, Path: forked})
	if err != nil || len(sides) != 3 {
		t.Fatalf("sides %v, %v", sides, err)
	}
	for _, s := range sides {
		if !strings.HasPrefix(s.Name, placeAncestors) || a.Segment(s.Name) != "" {
			t.Errorf("%s is no ancestor", s.Name)
		}
	}
	b := joinedTalk(t, a, env, files[2])
	to := sessions.Rewrite{OldID: rewoundID, NewID: idB, OldCwd: "/tmp/dev/w", NewCwd: "/n", OldRoot: "/tmp/dev/w", NewRoot: "/n"}
	var out bytes.Buffer
	if err := a.Rewrite(&out, bytes.NewReader(b), int64(len(b)), to); err != nil {
		t.Fatal(err)
	}
	for _, not := range []string{rewoundID, "history_base", "/tmp/dev/w", "taken back"} {
		if bytes.Contains(out.Bytes(), []byte(not)) {
			t.Errorf("the copy has %s", not)
		}
	}
	if c, err := sessions.ReadConversation(a, &out); err != nil || len(c.Turns) != 3 || c.ID != idB {
		t.Errorf("the copy: %+v, %v", c, err)
	}
}

// TestNamesOfRollouts: which session a file is of, and which of its files it is.
func TestNamesOfRollouts(t *testing.T) {
	const stamp = "rollout-2026-11-22T07-39-18-"
	for name, want := range map[string][2]string{
		stamp + idA + ".jsonl":                  {idA, idA},
		stamp + idA + "_" + idB + ".jsonl":      {idA, idB},
		stamp + "nobody_" + idB + ".jsonl":      {idB, idB},
		"rollout-_" + idB + ".jsonl":            {idB, idB},
		stamp + idA + "_nobody.jsonl":           {"", ""},
		"rollout-" + idA + "_" + idB + ".jsonl": {idA, idB},
		idA + "_" + idB + ".jsonl":              {"", ""},
	} {
		if got := [2]string{idOf(name), segmentOf(name)}; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for _, line := range []string{"", "{", meta(idA), `{"type":"session_meta","payload":{"history_base":{"thread_id":"` + idA + `","end_byte_offset":-1}}}`,
		`{"type":"session_meta","payload":{"history_base":{"thread_id":"` + idA + `"}}}`, `{"type":"event_msg","payload":{"history_base":{"thread_id":"` + idA + `","end_byte_offset":1}}}`} {
		if segment, length := (Adapter{}).Base([]byte(line)); segment != "" || length != 0 {
			t.Errorf("%s goes on from %d bytes of %q", line, length, segment)
		}
	}
}
