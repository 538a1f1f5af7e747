package watcher

import (
	"context"
	"fmt"
	"os"
	"testing"
)

// BenchmarkWatch watches 5,000 directories.
func BenchmarkWatch(b *testing.B) {
	root := b.TempDir()
	for i := range 5000 {
		mkdir(b, fmt.Sprintf("%s/%d/%d", root, i/50, i))
	}
	w := newWatcher(b, Options{})
	for b.Loop() {
		tree, err := w.Watch(root, nil)
		must(b, err)
		b.StopTimer()
		must(b, tree.Close())
		b.StartTimer()
	}
}

// BenchmarkBarrier writes a file, passes the barrier and takes the set.
func BenchmarkBarrier(b *testing.B) {
	root := b.TempDir()
	w := newWatcher(b, Options{})
	tree := watchTree(b, w, root)
	f, err := os.Create(root + "/file")
	must(b, err)
	defer f.Close()
	for b.Loop() {
		if _, err := f.WriteString("x"); err != nil {
			b.Fatal(err)
		}
		if err := tree.Barrier(context.Background()); err != nil {
			b.Fatal(err)
		}
		if d := tree.Take(); d.Full {
			b.Fatal(d.Why)
		}
	}
}
