package daemon

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
)

// TestDaemonKeepsHooks: a daemon that runs puts hooks back that another program has
// taken out, once.
func TestDaemonKeepsHooks(t *testing.T) {
	b := newBench(t)
	b.start()
	svc, umbra := b.connect(), filepath.Join(b.user, "umbra")
	must(t, os.WriteFile(umbra, nil, 0o700))
	files := map[string]string{"claude": filepath.Join(b.user, ".claude", "settings.json"), "gemini": filepath.Join(b.user, ".gemini", "settings.json")}
	there := func(name string) bool {
		text, err := os.ReadFile(files[name])
		must(t, err)
		return bytes.Contains(text, []byte("umbra hook "+name))
	}
	lose := func(name string) {
		must(t, os.WriteFile(files[name], []byte("{\"theme\": \"dark\"}\n"), 0o600))
		long := time.Now().Add(-time.Hour)
		must(t, os.Chtimes(files[name], long, long))
	}
	install := func(name string) {
		caller := b.caller()
		caller.Binary = umbra
		_, err := svc.InstallHooks(b.ctx(), missions.HooksRequest{Caller: caller, Name: name})
		must(t, err)
	}
	install("claude")
	lose("claude")
	b.until("the hooks are there again", func() bool { return there("claude") })
	lose("claude")
	install("gemini")
	lose("gemini")
	b.until("the hooks of another agent are there again", func() bool { return there("gemini") })
	if there("claude") {
		t.Error("hooks that were taken out again are back")
	}
	s, err := svc.Status(b.ctx(), missions.StatusRequest{Caller: b.caller()})
	must(t, err)
	if len(s.Problems) != 1 || s.Problems[0].Fix != "umbra hooks install claude; or uninstall, to have it so" {
		t.Errorf("status says %+v", s.Problems)
	}
}
