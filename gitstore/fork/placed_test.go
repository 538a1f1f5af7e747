package fork

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/capture"
)

// TestFirstCaptureOfAForkReadsNothing hands what the fork knows to the first
// capture of its workspace, which gives the same tree from stat data alone.
func TestFirstCaptureOfAForkReadsNothing(t *testing.T) {
	l := newLab(t)
	for n := range 60 {
		l.write(fmt.Sprintf("d%d/e%d/%d.txt", n%3, n%7, n), fmt.Sprint("content ", n))
	}
	l.write(".gitignore", "*.o\n")
	l.write("d1/x.o", "ignored\n")
	l.write("run", "#!/bin/sh\n")
	old := time.Now().Add(-time.Hour)
	err := filepath.WalkDir(l.top, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			err = os.Chtimes(path, old, old)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(l.top, "run"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(l.top, "d2"), 0o700); err != nil {
		t.Fatal(err)
	}
	l.initGit()
	src := l.snapshot()
	made := l.fork(src, l.target("fork"))
	root, err := beneath.Open(made.Workspace)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	scanner, err := capture.PlacedScanner(capture.Workspace{Root: made.Workspace, Identity: root.Identity()}, src.Tree, made.Placed)
	if err != nil {
		t.Fatal(err)
	}
	rules, err := capture.LoadRules(capture.Sources{Root: made.Workspace, Settings: capture.Settings{SizeCap: l.cap}})
	if err != nil {
		t.Fatal(err)
	}
	batch := l.store.NewBatch()
	defer batch.Discard()
	result, err := scanner.Capture(t.Context(), batch, rules, capture.Dirty{All: true}, capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if result.Tree != src.Tree || result.Stats.ReadFiles != 0 || result.Stats.Files != 62 {
		t.Errorf("tree %s, want %s; read %d of %d files", result.Tree, src.Tree, result.Stats.ReadFiles, result.Stats.Files)
	}
}
