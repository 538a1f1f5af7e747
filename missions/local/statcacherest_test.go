package local

import (
	"os"
	"testing"
)

// TestRestAndForget writes stat caches once for each change, passes over a
// workspace in use, and loses nothing by forgetting one.
func TestRestAndForget(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	m := b.mission("work")
	ws := b.local.CachedWorkspaces()[0]
	file := b.local.Home.StatCacheFile(ws.Identity)
	order := b.local.WorkspaceMutex(ws.Identity)
	order.Lock()
	if b.local.SaveStatCaches() {
		t.Error("wrote the cache of a workspace in use")
	}
	b.local.ForgetWorkspace(ws.Root)
	order.Unlock()
	if len(b.local.CachedWorkspaces()) != 1 {
		t.Error("forgot a workspace in use")
	}
	if !b.local.SaveStatCaches() || b.local.SaveStatCaches() {
		t.Error("not written once")
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
	b.write("b.txt", "two\n")
	b.snapshot("second")
	removed := os.Remove(file)
	b.local.ForgetWorkspace(b.dir + "-other")
	b.local.ForgetWorkspace(ws.Root)
	if _, err := os.Stat(file); err != nil || removed != nil || len(b.local.CachedWorkspaces()) != 0 {
		t.Errorf("forgotten unwritten: %v %v", err, removed)
	}
	b.write("c.txt", "three\n")
	b.snapshot("third")
	for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
		if b.cat(m.Name, name) == "" {
			t.Errorf("%s is lost", name)
		}
	}
	b.healthy()
}
