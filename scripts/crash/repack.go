package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/umbra-vcs/umbra/scripts/lab"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

// overdue is how many packs a repository has when a daemon packs them together
// without waiting for silence.
const overdue = 50

// repacking has git make so many packs that the next daemon packs them together. A command
// of umbra's that saw so many would start a process that does it first, on a busy machine.
func repacking(ctx context.Context, w *world) (scene, error) {
	held, _, err := survey(w.work)
	if err != nil {
		return scene{}, err
	}
	if err := w.scatterPacks(ctx, overdue+2); err != nil {
		return scene{}, err
	}
	return scene{args: []string{"snapshot"}, old: held, told: true, linger: func(dead func() bool) {
		patience.Until(repackPatience, func() bool {
			n, err := w.packs()
			return err == nil && n < overdue/2 && !repacks(w.mission.Shadow) || dead()
		})
	}}, nil
}

// repacks reports whether a process repacks a shadow repository: it holds the directory of
// its quarantines until it has removed what stands twice. One that begins just now might
// give up for being asked.
func repacks(shadow string) bool {
	dir, err := os.Open(filepath.Join(shadow, "umbra", "repack"))
	if err != nil {
		return false
	}
	defer dir.Close()
	return syscall.Flock(int(dir.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil
}

// scatterPacks has git pack objects one by one, until there are so many packs.
func (w *world) scatterPacks(ctx context.Context, want int) error {
	list, err := w.shadow(ctx, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
	if err != nil {
		return err
	}
	for _, id := range strings.Fields(list) {
		n, err := w.packs()
		if err != nil || n >= want {
			return err
		}
		pack := lab.Command{
			Args:  []string{"git", "--git-dir=" + w.mission.Shadow, "pack-objects", "-q", filepath.Join(w.mission.Shadow, "objects", "pack", "pack")},
			Dir:   w.mission.Shadow,
			Env:   lab.GitEnv(w.mission.Shadow),
			Stdin: []byte(id + "\n"),
		}
		if _, _, err := pack.Run(ctx); err != nil {
			return err
		}
	}
	return fmt.Errorf("the repository has too few objects for %d packs", want)
}

// packs counts those of the shadow repository.
func (w *world) packs() (int, error) {
	entries, err := os.ReadDir(filepath.Join(w.mission.Shadow, "objects", "pack"))
	n := 0
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".idx") {
			n++
		}
	}
	return n, err
}
