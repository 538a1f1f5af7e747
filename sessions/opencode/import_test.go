package opencode

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

// placedSession puts a session where a fork does, with the mark.
func placedSession(t *testing.T, b []byte) (sessions.Environ, sessions.Session) {
	t.Helper()
	env := sessions.Environ{Home: t.TempDir(), Vars: map[string]string{"OPENCODE_DB": "/x/db"}}
	path := Adapter{}.Path(env, "/home/dev/w", "ses_1")
	marks, err := Adapter{}.PlaceSides(env, nil, nil, sessions.Rewrite{NewID: "ses_1"})
	if err != nil || len(marks) != 1 {
		t.Fatalf("%v, %v", marks, err)
	}
	for name, content := range map[string][]byte{path: b, marks[0].Path: nil} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, content, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Adapter{}.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return env, s
}

// importOne is the import of the session itself, which comes first and alone.
func importOne(t *testing.T, env sessions.Environ, s sessions.Session, command ...string) sessions.Import {
	t.Helper()
	list, err := Adapter{}.Import(env, s, command)
	if err != nil || len(list) != 1 || list[0].Beside {
		t.Fatalf("imports %+v, %v", list, err)
	}
	return list[0]
}

func exportOf(t *testing.T, i sessions.Import) exported {
	t.Helper()
	var out bytes.Buffer
	var e exported
	if err := errors.Join(i.File.Write(&out), json.Unmarshal(out.Bytes(), &e)); err != nil {
		t.Fatal(err)
	}
	return e
}

func TestImport(t *testing.T) {
	env, s := placedSession(t, fixture(t, "talk.jsonl"))
	i := importOne(t, env, s, "/opt/opencode", "run")
	if !slices.Equal(i.Argv, []string{"/opt/opencode", "import", i.File.Path}) || i.Dir != "/home/dev/w" || i.Env["OPENCODE_DB"] != "/x/db" {
		t.Errorf("import by %q in %s with %v", i.Argv, i.Dir, i.Env)
	}
	if i.Scratch == "" || i.Env["XDG_STATE_HOME"] != i.Scratch {
		t.Errorf("it keeps its locks in %q, and %q is removed", i.Env["XDG_STATE_HOME"], i.Scratch)
	}
	e := exportOf(t, i)
	if len(e.Messages) != 6 || len(e.Messages[0].Parts) != 1 || !bytes.Contains(e.Info, []byte(`"updated":`)) {
		t.Errorf("%d messages, the first of %d parts, of %s", len(e.Messages), len(e.Messages[0].Parts), e.Info)
	}
	for _, m := range e.Messages {
		for _, p := range m.Parts {
			if bytes.Contains(p, []byte(`"running"`)) || bytes.Contains(p, []byte(`"snapshot"`)) {
				t.Errorf("part %s", p)
			}
		}
	}
	if err := os.Remove(i.Mark); err != nil {
		t.Fatal(err)
	}
	if list, err := (Adapter{}).Import(env, s, nil); len(list) > 0 || err != nil {
		t.Errorf("once it is done: %+v, %v", list, err)
	}
}

// TestImportReverted leaves out what its user has taken back.
func TestImportReverted(t *testing.T) {
	b := fixture(t, "talk.jsonl")
	second := read(t, b).Turns[1].ID
	for what, line := range map[string]string{
		"reverted": `{"type":"session","session":"ses_1","value":{"id":"ses_1","directory":"/home/dev/w","time":{"created":1},"revert":{"messageID":"` + second + `"}}}`,
		"removed":  `{"type":"removed","session":"ses_1","id":"` + second + `"}`,
	} {
		env, s := placedSession(t, append(slices.Clone(b), line+"\n"...))
		i := importOne(t, env, s)
		if i.Argv[0] != "opencode" {
			t.Fatalf("%q", i.Argv)
		}
		e := exportOf(t, i)
		for _, m := range e.Messages {
			if strings.Contains(string(m.Info), `"id":"`+second) {
				t.Errorf("%s: it is there", what)
			}
		}
		if strings.Contains(string(e.Info), "revert") || len(e.Messages) < 4 {
			t.Errorf("%s: %d messages of %s", what, len(e.Messages), e.Info)
		}
	}
}

// TestImportRevertedPart: taken back to a part of an answer, as OpenCode's interface
// allows, the answer stays with what it is made of before that.
func TestImportRevertedPart(t *testing.T) {
	b := fixture(t, "talk.jsonl")
	env, s := placedSession(t, b)
	whole := exportOf(t, importOne(t, env, s)).Messages
	at := slices.IndexFunc(whole, func(m exportedMessage) bool { return len(m.Parts) > 3 })
	if at < 0 || at == len(whole)-1 {
		t.Fatalf("no answer of many parts in %d messages", len(whole))
	}
	to := revert{Message: parseMessage(whole[at].Info).id, Part: parsePart(whole[at].Parts[2]).id}
	line, err := json.Marshal(map[string]any{"type": "session", "session": "ses_1", "value": map[string]any{
		"id": "ses_1", "directory": "/home/dev/w", "time": map[string]int{"created": 1}, "revert": to,
	}})
	if err != nil {
		t.Fatal(err)
	}
	env, s = placedSession(t, slices.Concat(b, line, []byte("\n")))
	e := exportOf(t, importOne(t, env, s))
	if len(e.Messages) != at+1 || len(e.Messages[at].Parts) != 2 || len(e.Messages[0].Parts) != len(whole[0].Parts) {
		t.Errorf("%d messages of %d, the last of %d parts", len(e.Messages), at+1, len(e.Messages[len(e.Messages)-1].Parts))
	}
}

func TestImportRefused(t *testing.T) {
	for _, b := range []string{"", "no JSON\n", `{"type":"session","session":"ses_1","value":7}` + "\n"} {
		env, s := placedSession(t, []byte(b))
		i := importOne(t, env, s)
		if err := i.File.Write(&bytes.Buffer{}); err == nil {
			t.Errorf("%q is imported", b)
		}
	}
}
