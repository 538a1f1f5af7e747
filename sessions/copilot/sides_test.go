package copilot

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

const workspaceYAML = `id: ` + theirs + `
cwd: /src/w
git_root: /src/w
branch: main
client_name: github/cli
name: |-
  turn one
  cwd: /src/w
user_named: false
summary_count: 1
fork_count: 2
remote_session_id: abc
created_at: 2026-11-26T10:33:11.168Z
updated_at: 2026-11-26T10:33:11.541Z
`

// stored is a session's directory with all that Copilot keeps there.
func stored(t *testing.T) (env sessions.Environ, s sessions.Session) {
	t.Helper()
	env = itself(t.TempDir())
	s = sessions.Session{ID: theirs, Cwd: "/src/w", Path: (Adapter{}).Path(env, "/src/w", theirs)}
	for name, text := range map[string]string{
		fileName: header(theirs, "/src/w"), workspaceFile: workspaceYAML, "plan.md": "1. edit /src/w/a.go in " + theirs + "\n", "checkpoints/001-first.md": "of /src/w\n",
		"checkpoints/index.md": "one\n", "files/picture.png": "/src/w\x00", "session.db": "db", "session.db-wal": "db", ".workspace-fork.lock": "", "inuse.17.lock": "17",
		"inuse.17.hold": "", "events.jsonl.backup-before-recovery-0a": "old", snapshotsDir + "/index.json": `[{"path":"/src/w/a.go"}]`,
		snapshotsDir + "/backups/0a": "text",
	} {
		write(t, filepath.Join(filepath.Dir(s.Path), filepath.FromSlash(name)), text)
	}
	return env, s
}

func TestSides(t *testing.T) {
	env, s := stored(t)
	sides, err := Adapter{}.Sides(env, s)
	var names []string
	for _, side := range sides {
		names = append(names, side.Name)
	}
	if want := []string{"checkpoints/001-first.md", "checkpoints/index.md", "files/picture.png", "plan.md", workspaceFile}; err != nil || !slices.Equal(names, want) {
		t.Errorf("the sides are %q, %v; want %q", names, err, want)
	}
	s.Path = filepath.Join(env.Home, "gone", fileName)
	if sides, err := (Adapter{}).Sides(env, s); err != nil || len(sides) > 0 {
		t.Errorf("a session that is gone has %v, %v", sides, err)
	}
}

// place places sides of a session in the fork, and returns what is in them.
func place(t *testing.T, env sessions.Environ, s sessions.Session, names ...string) (placed map[string]string, err error) {
	t.Helper()
	open := func(name string) (io.ReadCloser, error) { return os.Open(filepath.Join(filepath.Dir(s.Path), name)) }
	to := sessions.Rewrite{OldID: theirs, NewID: ours, OldCwd: "/src/w", NewCwd: "/f: #x", OldRoot: "/src/w", NewRoot: "/f: #x"}
	files, err := Adapter{}.PlaceSides(env, names, open, to)
	dir, placed := filepath.Dir((Adapter{}).Path(env, to.NewCwd, ours)), map[string]string{}
	for _, f := range files {
		var out bytes.Buffer
		if err := f.Write(&out); err != nil || f.Mode != 0o600 {
			t.Fatal(f.Path, f.Mode, err)
		}
		name, err := filepath.Rel(dir, f.Path)
		if err != nil || strings.HasPrefix(name, "..") {
			t.Fatalf("%s is not in %s", f.Path, dir)
		}
		placed[filepath.ToSlash(name)] = out.String()
	}
	return placed, err
}

// TestPlaceSides: what a fork has beside its conversation says that it works in its own
// workspace, and names nothing of its source's.
func TestPlaceSides(t *testing.T) {
	env, s := stored(t)
	placed, err := place(t, env, s, "checkpoints/001-first.md", "files/picture.png", "plan.md", workspaceFile)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"checkpoints/001-first.md": "of /f: #x\n", "plan.md": "1. edit /f: #x/a.go in " + ours + "\n", "files/picture.png": "/src/w\x00",
		workspaceFile: "id: " + ours + "\ncwd: \"/f: #x\"\nname: |-\n  turn one\n  cwd: /src/w\nuser_named: false\nsummary_count: 1\ncreated_at: 2026-11-26T10:33:11.168Z\n",
	} {
		if placed[name] != want {
			t.Errorf("%s is %q, want %q", name, placed[name], want)
		}
	}
	if placed, err := place(t, env, s); err != nil || len(placed) != 1 || placed[workspaceFile] != "id: "+ours+"\ncwd: \"/f: #x\"\n" {
		t.Errorf("where nothing was kept, the fork has %q, %v", placed, err)
	}
}

// TestPlaceSidesOfSource: what would lead a fork to its source, or out of its directory, is
// not placed: above all what /rewind puts back, by the source's paths.
func TestPlaceSidesOfSource(t *testing.T) {
	env, s := stored(t)
	for _, name := range []string{
		snapshotsDir + "/index.json", snapshotsDir + "/backups/0a", "session.db", "inuse.17.lock", ".workspace-fork.lock", fileName, "../" + ours + "/" + workspaceFile, "/etc/passwd",
	} {
		if placed, err := place(t, env, s, name); err == nil {
			t.Errorf("%s is placed: %q", name, placed)
		}
	}
}
