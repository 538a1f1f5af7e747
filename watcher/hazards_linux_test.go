package watcher

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/umbra-vcs/umbra/scripts/hazards"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// told are the paths of which a plain watcher has been told when a file that is
// made last in its root has been.
func told(t *testing.T, plain *fsnotify.Watcher, root string) map[string]bool {
	t.Helper()
	last := filepath.Join(root, "last")
	write(t, last, "")
	paths := map[string]bool{}
	deadline := time.After(patience.Of(time.Minute))
	for !paths[last] {
		select {
		case e := <-plain.Events:
			paths[e.Name] = true
		case err := <-plain.Errors:
			t.Fatal(err)
		case <-deadline:
			t.Fatal("no event of the last file")
		}
	}
	return paths
}

// TestPlainWatchesMiss shows what a watch of a directory does not tell.
func TestPlainWatchesMiss(t *testing.T) {
	plain, err := fsnotify.NewWatcher()
	must(t, err)
	defer plain.Close()
	root, outside := t.TempDir(), t.TempDir()
	mkdir(t, root+"/old")
	write(t, root+"/linked", "one")
	must(t, os.Link(root+"/linked", outside+"/linked"))
	must(t, plain.Add(root))
	write(t, root+"/old/below", "1")
	mkdir(t, root+"/new")
	write(t, root+"/new/below", "1")
	write(t, outside+"/linked", "two")
	paths := told(t, plain, root)
	hazards.Shown(t, hazards.H35, paths[root+"/last"] && !paths[root+"/old/below"], "a watch of a directory tells nothing of what happens below its subdirectories")
	hazards.Shown(t, hazards.H5, paths[root+"/new"] && !paths[root+"/new/below"], "what is made in a new directory before its watch exists gives no event")
	hazards.Shown(t, hazards.H37, !paths[root+"/linked"], "a write through a hard link from elsewhere gives no event")

	w := newWatcher(t, Options{})
	tree := watchTree(t, w, root)
	write(t, root+"/old/below", "2")
	for i := range 200 {
		mkdir(t, fmt.Sprintf("%s/fresh/%d", root, i))
		write(t, fmt.Sprintf("%s/fresh/%d/f", root, i), "1")
	}
	d := barrierTake(t, tree)
	want := []string{"old/below"}
	for i := range 200 {
		want = append(want, fmt.Sprintf("fresh/%d/f", i))
	}
	if d.Full {
		t.Fatalf("Full: %s", d.Why)
	}
	mustCover(t, d, want...)
	hazards.Held(t, hazards.H35, "every directory that is not ignored has a watch")
	hazards.Held(t, hazards.H5, "a barrier is passed only when all directories that appeared before it are watched and walked")
}
