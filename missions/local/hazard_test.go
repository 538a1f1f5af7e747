package local

import (
	"os"
	"path/filepath"
)

// exists tells whether something is at a path of the workspace.
func (b *testBench) exists(name string) bool {
	_, err := os.Lstat(filepath.Join(b.dir, name))
	return err == nil
}

func (b *testBench) remove(name string) {
	b.Helper()
	if err := os.RemoveAll(filepath.Join(b.dir, name)); err != nil {
		b.Fatal(err)
	}
}

// twin is a workspace of the naive way with the same files.
func (b *testBench) twin() *testBench {
	b.Helper()
	other := *b
	other.dir = b.TempDir()
	if err := os.CopyFS(other.dir, os.DirFS(b.dir)); err != nil {
		b.Fatal(err)
	}
	return &other
}
