package gemini

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/sessions"
)

func newStore(t *testing.T) (sessions.Environ, string) {
	t.Helper()
	home := t.TempDir()
	return sessions.Environ{Home: home}, filepath.Join(home, ".gemini")
}

// TestSlug: a directory's name in the store is the one the client has given it,
// or the one it will.
func TestSlug(t *testing.T) {
	for name, c := range map[string]struct {
		registry string
		markers  map[string]string // below the root
		cwd      string
		want     string
	}{
		"new":                   {cwd: "/w/My App.é", want: "my-app"},
		"nothing left of it":    {cwd: "/w/…", want: "project"},
		"the root":              {cwd: "/", want: "project"},
		"registered":            {registry: `{"projects":{"/w/app":"other"}}`, cwd: "/w/app", want: "other"},
		"registered elsewhere":  {registry: `{"projects":{"/x/app":"app"}}`, cwd: "/w/app", want: "app-1"},
		"marked":                {markers: map[string]string{"history/app-7": "/w/app\n"}, cwd: "/w/app", want: "app-7"},
		"marked by another":     {markers: map[string]string{"tmp/app": "/x/app", "history/app-1": "/y/app"}, cwd: "/w/app", want: "app-2"},
		"registered, but taken": {registry: `{"projects":{"/w/app":"app"}}`, markers: map[string]string{"tmp/app": "/x/app"}, cwd: "/w/app", want: "app-1"},
		"registry damaged":      {registry: `{"projects":{"/x/app":"app","/w/app":"../x"}}`, cwd: "/w/app", want: "app"},
		"registry torn":         {registry: `{"proj`, cwd: "/w/app", want: "app"},
	} {
		env, root := newStore(t)
		if c.registry != "" {
			mkfile(t, filepath.Join(root, "projects.json"), c.registry)
		}
		for dir, owner := range c.markers {
			mkfile(t, filepath.Join(root, dir, ownerFile), owner)
		}
		want := filepath.Join(root, "tmp", c.want, "chats", "session-0b0a-4908-8706-050403020100-0f0e0d0c.jsonl")
		if got := (Adapter{}).Path(env, c.cwd, otherID); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	moved := sessions.Environ{Home: "/home/x", Vars: map[string]string{"GEMINI_CLI_HOME": "/else"}}
	if got := (Adapter{}).Root(moved); got != "/else/.gemini" {
		t.Errorf("the store is %s", got)
	}
}

// TestPath: of the files of one id, the one with a conversation is the session,
// the newest if there are more.
func TestPath(t *testing.T) {
	env, root := newStore(t)
	chats := filepath.Join(root, "tmp", "app", "chats")
	header := `{"sessionId":"` + otherID + `","projectHash":"` + hashOf("/w/app") + `"}` + "\n"
	old := filepath.Join(chats, "session-2026-11-21T01-30-0f0e0d0c.jsonl")
	mkfile(t, old, header+transcript(asked1, said1))
	mkfile(t, filepath.Join(chats, "session-2026-11-21T01-40-0f0e0d0c.jsonl"), header+transcript(context1))
	mkfile(t, filepath.Join(chats, "session-2026-11-21T01-50-0f0e0d0c.jsonl"), strings.Replace(header, otherID, thisID, 1)+transcript(asked1))
	mkfile(t, filepath.Join(chats, "session-2026-11-21T01-50-0f0e0d0c.json"), `{"sessionId":"`+otherID+`"}`)
	if got := (Adapter{}).Path(env, "/w/app", otherID); got != old {
		t.Errorf("the session is %s, want %s", got, old)
	}
	if s, err := (Adapter{}).Open(old); err != nil || s.Cwd != "" {
		t.Errorf("without a marker, or a directory in the lines, it is %+v, %v", s, err)
	}
	mkfile(t, filepath.Join(root, "tmp", "app", ownerFile), "/w/app")
	later := filepath.Join(chats, "session-later-0f0e0d0c.jsonl")
	mkfile(t, later, header+transcript(asked1))
	stamp := time.Now().Add(time.Hour)
	if err := os.Chtimes(later, stamp, stamp); err != nil {
		t.Fatal(err)
	}
	if got := (Adapter{}).Path(env, "/w/app", otherID); got != later {
		t.Errorf("the session is %s, want the newest", got)
	}
	if s, err := (Adapter{}).Open(later); err != nil || s.ID != otherID || s.Cwd != "/w/app" {
		t.Errorf("it is %+v, %v", s, err)
	}
	for _, path := range []string{filepath.Join(chats, "none.jsonl"), chats} {
		if _, err := (Adapter{}).Open(path); !errors.Is(err, sessions.ErrNoSession) {
			t.Errorf("open %s: %v", path, err)
		}
	}
}

// TestEventOfResumption: until it is asked something, a resumption tells its
// hooks of a file with a header alone.
func TestEventOfResumption(t *testing.T) {
	env, root := newStore(t)
	chats := filepath.Join(root, "tmp", "app", "chats")
	mkfile(t, filepath.Join(chats, "session-a-0f0e0d0c.jsonl"), `{"sessionId":"`+otherID+`","projectHash":"x"}`+"\n"+transcript(asked1, said1))
	tiny := filepath.Join(chats, "session-b-0f0e0d0c.jsonl")
	mkfile(t, tiny, `{"sessionId":"`+otherID+`","projectHash":"x"}`+"\n")
	for event, want := range map[string]string{"SessionStart": "session-a-0f0e0d0c.jsonl", "SessionEnd": "session-a-0f0e0d0c.jsonl", "AfterTool": "session-b-0f0e0d0c.jsonl"} {
		e, err := Adapter{}.Event(env, "", []byte(`{"session_id":"`+otherID+`","transcript_path":"`+tiny+`","cwd":"/w/app","hook_event_name":"`+event+`","source":"resume"}`))
		if err != nil || filepath.Base(e.Transcript) != want {
			t.Errorf("%s is of %s, %v", event, e.Transcript, err)
		}
	}
}

// TestSides: what belongs to a session goes along, below the fork's own place,
// and the place is marked once.
func TestSides(t *testing.T) {
	env, root := newStore(t)
	project := filepath.Join(root, "tmp", "app")
	at := sessions.Session{ID: thisID, Path: filepath.Join(project, "chats", "session-x-4095d511.jsonl")}
	for _, name := range []string{"chats/" + thisID + "/helper.jsonl", "tool-outputs/session-" + thisID + "/out.txt", thisID + "/plans/a.md", "logs/session-" + thisID + ".jsonl", otherID + "/plans/b.md"} {
		mkfile(t, filepath.Join(project, name), `{"sessionId":"`+thisID+`","x":"/w/app/y"}`+"\n")
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(project, thisID, "link")); err != nil {
		t.Fatal(err)
	}
	list, err := Adapter{}.Sides(env, at)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	byName := map[string]string{}
	for _, s := range list {
		names = append(names, s.Name)
		byName[s.Name] = s.Path
	}
	if got := strings.Join(names, " "); got != "agents/helper.jsonl outputs/out.txt own/plans/a.md" {
		t.Fatalf("side files %s", got)
	}
	open := func(name string) (io.ReadCloser, error) { return os.Open(byName[name]) }
	to := sessions.Rewrite{OldID: thisID, NewID: otherID, OldCwd: "/w/app", NewCwd: "/f/app", OldRoot: "/w/app", NewRoot: "/f/app"}
	mkfile(t, filepath.Join(project, ownerFile), "/w/app")
	files, err := Adapter{}.PlaceSides(env, names, open, to)
	if err != nil || len(files) != 4 {
		t.Fatalf("%d files to place, %v", len(files), err)
	}
	fork := filepath.Join(root, "tmp", "app-1")
	moved := `{"sessionId":"` + thisID + `","x":"/f/app/y"}` + "\n"
	want := map[string]string{
		filepath.Join(fork, ownerFile):                                     "/f/app",
		filepath.Join(fork, "chats", otherID, "helper.jsonl"):              strings.Replace(moved, thisID, otherID, 1),
		filepath.Join(fork, "tool-outputs", "session-"+otherID, "out.txt"): moved,
		filepath.Join(fork, otherID, "plans", "a.md"):                      moved,
	}
	for _, f := range files {
		var out bytes.Buffer
		if err := f.Write(&out); err != nil || out.String() != want[f.Path] {
			t.Errorf("%s is to hold %q, %v", f.Path, out.String(), err)
		}
	}
	mkfile(t, filepath.Join(fork, ownerFile), "/f/app")
	if again, err := (Adapter{}).PlaceSides(env, nil, open, to); err != nil || len(again) != 0 {
		t.Errorf("marked again: %d files, %v", len(again), err)
	}
	gone := func(string) (io.ReadCloser, error) { return nil, fs.ErrNotExist }
	files, err = Adapter{}.PlaceSides(env, []string{"own/plans/a.md"}, gone, to)
	if err != nil || files[0].Write(io.Discard) == nil {
		t.Errorf("a side file that can't be read is placed, %v", err)
	}
	for _, name := range []string{"other/x", "own/../x", "own", "agents/"} {
		if _, err := (Adapter{}).PlaceSides(env, []string{name}, open, to); err == nil {
			t.Errorf("a side file named %q is placed", name)
		}
	}
	for _, id := range []string{"", "..", "chats", "a/b"} {
		if sides, err := (Adapter{}).Sides(env, sessions.Session{ID: id, Path: at.Path}); err != nil || len(sides) != 0 {
			t.Errorf("session %q has the side files %v, %v", id, sides, err)
		}
	}
}
