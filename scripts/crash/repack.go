package main

import (
	"context"
	"fmt"
	"maps"
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

// repacking makes so many packs that the next daemon packs them together. Each has an object
// that stands nowhere else: umbra stores it, and git packs it. A command of umbra's that saw so
// many would start a process that does it first, on a busy machine.
func repacking(ctx context.Context, w *world) (scene, error) {
	held, _, err := survey(w.work)
	if err != nil {
		return scene{}, err
	}
	loose, packs := []string{}, 0
	for len(loose)+packs <= overdue+1 {
		held = maps.Clone(held)
		for i := range 20 { // umbra itself makes a pack of a few more
			w.made++
			name, text := fmt.Sprintf("several/%d", i), fmt.Sprintf("%d\n", w.made)
			if err := w.write(filepath.Join(w.work, name), text); err != nil {
				return scene{}, err
			}
			held[name] = "100644 " + blob([]byte(text))
		}
		out, err := w.alone(ctx, w.work, "snapshot")
		if err != nil {
			return scene{}, err
		}
		w.ack(out, held)
		loose, _ = filepath.Glob(filepath.Join(w.mission.Shadow, "objects", "??", "*")) // a good pattern
		if packs, err = w.packs(); err != nil {
			return scene{}, err
		}
	}
	if err := packEach(ctx, w.mission.Shadow, loose[:min(len(loose), overdue+2)]); err != nil {
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

// packEach has git make a pack of each of these loose objects, and remove them.
func packEach(ctx context.Context, shadow string, loose []string) (err error) {
	git := func(stdin string, args ...string) {
		if err == nil {
			_, _, err = lab.Command{Args: append([]string{"git", "--git-dir=" + shadow}, args...), Dir: shadow, Env: lab.GitEnv(shadow), Stdin: []byte(stdin)}.Run(ctx)
		}
	}
	for _, name := range loose {
		id := filepath.Base(filepath.Dir(name)) + filepath.Base(name)
		if hexID(id) { // and not what a process that was killed has left
			git(id+"\n", "pack-objects", "-q", filepath.Join(shadow, "objects", "pack", "pack"))
		}
	}
	git("", "prune-packed", "-q")
	return err
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
