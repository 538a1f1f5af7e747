package missions

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/claude"
)

// TestPlaceLaunch: a file of a launch has the time that its adapter gives it, each time;
// and one that an agent can do without costs no launch.
func TestPlaceLaunch(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	m, dir := k.state(), t.TempDir()
	later := time.Now().Add(time.Hour).Truncate(time.Second)
	var launch Launch
	file := textOf(filepath.Join(dir, "a"), "a\n")
	file.ModTime = later
	for range 2 {
		if err := k.local.placeLaunch(m, []sessions.File{file}, &launch); err != nil || len(launch.Notes) > 0 {
			t.Fatal(err, launch.Notes)
		}
		info, err := os.Stat(file.Path)
		if err != nil || !info.ModTime().Equal(later) {
			t.Fatalf("it is of %v, want %v: %v", info.ModTime(), later, err)
		}
		later = later.Add(time.Minute)
		file.ModTime = later
	}
	blocked := textOf(filepath.Join(dir, "b"), "b\n")
	if err := os.MkdirAll(filepath.Join(blocked.Path, "c"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := k.local.placeLaunch(m, []sessions.File{blocked}, &launch); err == nil {
		t.Error("one that is needed was not placed, and nobody says so")
	}
	blocked.Else = "the agent may forget"
	if err := k.local.placeLaunch(m, []sessions.File{blocked, file}, &launch); err != nil || len(launch.Notes) != 1 || !strings.HasPrefix(launch.Notes[0], "the agent may forget: ") {
		t.Errorf("notes %q: %v", launch.Notes, err)
	}
}

func textOf(path, content string) sessions.File {
	return sessions.File{Path: path, Mode: 0o600, Write: func(w io.Writer) error {
		_, err := io.WriteString(w, content)
		return err
	}}
}

// TestUninstallTakesLeftovers: what launches have put beside an agent's sessions goes
// with the user's hooks, unless somebody has changed it.
func TestUninstallTakesLeftovers(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	at := func(project string) string {
		return filepath.Join(c.user, ".claude", "projects", project, "umbra.jsonl")
	}
	m := filepath.Join(filepath.Dir(at("-ours")), testSession+".jsonl")
	place := func(path, content string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	place(m, `{"type":"user","version":"1.0.128"}`+"\n")
	cmd, err := claude.Adapter{}.Launch(sessions.Launch{Command: []string{"claude"}, Resume: true, SessionID: testSession, Transcript: m})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.local.placeLaunch(&loaded{}, cmd.Files, &Launch{}); err != nil {
		t.Fatal(err)
	}
	place(at("-theirs"), "{}\n")
	if _, err := c.local.UninstallHooks(t.Context(), HooksRequest{Caller: c.caller(), Name: "claude"}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(at("-ours")); !os.IsNotExist(err) {
		t.Errorf("ours is there: %v", err)
	}
	for _, path := range []string{at("-theirs"), m} {
		if _, err := os.Lstat(path); err != nil {
			t.Errorf("%s is gone: %v", path, err)
		}
	}
}
