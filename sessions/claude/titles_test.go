package claude

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/sessions"
)

// TestStaysTogether: a launch that resumes a session of 1.0 finds, beside it, a file
// that begins with a title; no other launch does.
func TestStaysTogether(t *testing.T) {
	for _, c := range []struct {
		name, version, command string
		resume, placed         bool
	}{
		{"1.0", "1.0.128", "claude", true, true},
		{"resumed by the command", "1.0.128", "claude --resume " + idA, false, true},
		{"the newest, by the command", "1.0.128", "claude --continue", false, true},
		{"one that is picked", "1.0.128", "claude -r", false, true},
		{"the newest, of 2.0", "2.0.77", "claude -c", false, false},
		{"the newest, where none is", "", "claude -c", false, false},
		{"2.0", "2.0.77", "claude", true, false},
		{"a new one", "1.0.128", "claude", false, false},
		{"one without a file", "", "claude", true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			env, dir, a := sessions.Environ{Home: t.TempDir()}, "/w", Adapter{}
			file := a.Path(env, dir, idA)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if c.version != "" {
				if err := os.WriteFile(file, []byte(`{"type":"user","version":"`+c.version+`"}`+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			l := sessions.Launch{Command: strings.Fields(c.command), Resume: c.resume, SessionID: idB, Env: env, Dir: dir, Now: time.Now()}
			if c.resume {
				l.SessionID, l.Transcript = idA, file
			}
			cmd, err := a.Launch(l)
			if err != nil || (len(cmd.Files) == 1) != c.placed {
				t.Fatalf("%+v, %v", cmd, err)
			}
			if !c.placed {
				return
			}
			if until := time.Until(cmd.Files[0].ModTime); until < time.Minute {
				t.Errorf("another session that is written to is newer in %v", until)
			}
			if cmd.Files[0].Else == "" {
				t.Error("a launch fails for it")
			}
			var b bytes.Buffer
			if err := cmd.Files[0].Write(&b); err != nil {
				t.Fatal(err)
			}
			if l, ok := parseLine(b.Bytes()); !ok || l.kind != "summary" || filepath.Dir(cmd.Files[0].Path) != filepath.Dir(file) {
				t.Errorf("%s holds %s", cmd.Files[0].Path, b.Bytes())
			}
			if _, err := a.Open(cmd.Files[0].Path); err == nil {
				t.Error("it is taken for a session")
			}
		})
	}
}

// TestStrayStart: what 1.0 says is resumed is no session, as its file shows, or that it
// has none; one that has a conversation, or is only about to begin, is one.
func TestStrayStart(t *testing.T) {
	title := `{"type":"summary","summary":"ok","leafUuid":"507b84b2-49ac-495a-b749-5d24c93d50ad"}` + "\n" // as 1.0.128 wrote it
	for _, c := range []struct {
		name, source, content string
		stray                 bool
	}{
		{"titles", "resume", title + title, true},
		{"titles of one that is begun", "startup", title, false},
		{"a conversation with a title", "resume", title + `{"type":"user","message":{"role":"user","content":"go on"}}` + "\n", false},
		{"a title that is torn", "resume", title + `{"type":"sum`, true},
		{"garbage", "resume", "garbage\n", false},
		{"an empty one", "resume", "", false},
		{"one that is not there", "resume", "none", true},
		{"one that begins", "startup", "none", false},
		{"one that is elsewhere", "resume", "elsewhere", false}, // 2.1.197, of another worktree
		{"one whose length is told", "resume", "told", false},   // 2.1.329
	} {
		projects, more := t.TempDir(), ""
		file := filepath.Join(projects, "-a", idA+".jsonl")
		mkfile(t, filepath.Join(projects, "-b", idB+".jsonl"), "")
		switch c.content {
		case "none":
		case "elsewhere":
			mkfile(t, filepath.Join(projects, "-b", idA+".jsonl"), title)
		case "told":
			more = `,"context_tokens":0`
		default:
			mkfile(t, file, c.content)
		}
		in := `{"hook_event_name":"SessionStart","source":"` + c.source + `","session_id":"` + idA + `","transcript_path":"` + file + `","cwd":"/"` + more + `}`
		e, err := Adapter{}.Event(sessions.Environ{}, "", []byte(in))
		if err != nil || (e.Kind == sessions.KindOther) != c.stray {
			t.Errorf("%s: %+v, %v", c.name, e, err)
		}
	}
}
