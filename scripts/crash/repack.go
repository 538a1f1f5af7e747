package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// overdue is how many packs a repository has when a daemon packs them together
// without waiting for silence.
const overdue = 50

// repacking makes so many packs that the next daemon packs them together.
func repacking(ctx context.Context, w *world) (scene, error) {
	held, _, err := survey(w.work)
	if err != nil {
		return scene{}, err
	}
	for {
		n, err := w.packs()
		if err != nil {
			return scene{}, err
		}
		if n > overdue+1 {
			break
		}
		held = maps.Clone(held)
		if err := w.several(held); err != nil {
			return scene{}, err
		}
		out, err := w.alone(ctx, w.work, "snapshot")
		if err != nil {
			return scene{}, err
		}
		w.ack(out, held)
	}
	return scene{args: []string{"snapshot"}, old: held, told: true, linger: func(dead func() bool) {
		for deadline := time.Now().Add(hanging()); !dead() && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
			if n, err := w.packs(); err == nil && n < overdue/2 && !repacks(w.mission.Shadow) {
				return
			}
		}
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

// several writes so many small files that a snapshot makes a pack of them, and
// notes them.
func (w *world) several(held manifest) error {
	for i := range 34 {
		w.made++
		name, text := fmt.Sprintf("several/%d", i), fmt.Sprintf("%d\n", w.made)
		if err := w.write(filepath.Join(w.work, name), text); err != nil {
			return err
		}
		held[name] = "100644 " + blob([]byte(text))
	}
	return nil
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
