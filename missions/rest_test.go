package missions

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
	ws := b.local.knownWorkspaces()[0]
	file := b.local.home.statCache(ws.place)
	order := b.local.orderOf(ws.place)
	order.Lock()
	if b.local.Rest() {
		t.Error("wrote the cache of a workspace in use")
	}
	b.local.Forget(ws.root)
	order.Unlock()
	if len(b.local.knownWorkspaces()) != 1 {
		t.Error("forgot a workspace in use")
	}
	if !b.local.Rest() || b.local.Rest() {
		t.Error("not written once")
	}
	if _, err := os.Stat(file); err != nil {
		t.Error(err)
	}
	b.write("b.txt", "two\n")
	b.snapshot("second")
	removed := os.Remove(file)
	b.local.Forget(b.dir + "-other")
	b.local.Forget(ws.root)
	if _, err := os.Stat(file); err != nil || removed != nil || len(b.local.knownWorkspaces()) != 0 {
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
