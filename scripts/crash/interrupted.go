package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// interrupted kills a restore, lets people go on working, and ends it then as
// they choose: undo takes it back, redo finishes it. What they wrote stays.
func interrupted(choice string) func(context.Context, *world) (scene, error) {
	return func(ctx context.Context, w *world) (scene, error) {
		if err := w.edit(12); err != nil {
			return scene{}, err
		}
		old, _, err := survey(w.work)
		if err != nil {
			return scene{}, err
		}
		to := w.anyMoment()
		at := []string{"restore.exchanged", "restore.replaced", "restore.created", "restore.deleted", "restore.judge"}
		f, err := w.execute(ctx, scene{args: []string{"restore", to, "--all", "--quiet"}}, death{point: at[w.rand.IntN(len(at))], pass: 1})
		if err != nil {
			return scene{}, err
		}
		// A path that the restore left alone, and one that it did not.
		theirs := manifest{}
		var planned []string
		for path := range maps.Keys(old) {
			if is := w.acked[to][path]; is != old[path] && is != "" {
				planned = append(planned, path)
			}
		}
		slices.Sort(planned)
		paths := []string{"theirs"}
		if len(planned) > 0 {
			paths = append(paths, planned[w.rand.IntN(len(planned))])
		}
		now, _, err := survey(w.work)
		if err != nil {
			return scene{}, err
		}
		for i, path := range paths {
			if is, there := now[path]; i > 0 && (!there || is[:6] != "100644") {
				continue
			}
			w.made++
			text := fmt.Sprintf("theirs, written after a kill: %d\n", w.made)
			if err := w.write(filepath.Join(w.work, path), text); err != nil {
				return scene{}, err
			}
			theirs[path] = "100644 " + blob([]byte(text))
		}
		// The next command says so, and asks for a decision.
		if _, err := w.alone(ctx, w.work, "snapshot"); err != nil {
			return scene{}, err
		}
		if !f.killed {
			return restoring(ctx, w) // it came to its end: nothing to decide
		}
		s := scene{args: []string{choice}}
		s.settle = func(ctx context.Context, w *world, _ fate) error {
			return w.endInterrupted(ctx, choice, old, w.acked[to], theirs)
		}
		return s, nil
	}
}

// endInterrupted ends it again, if the process that did was killed too, and looks
// at what is there then.
func (w *world) endInterrupted(ctx context.Context, choice string, old, target, theirs manifest) error {
	held, _, err := survey(w.work)
	if err != nil {
		return err
	}
	for path, is := range theirs {
		if held[path] != is {
			return fmt.Errorf("%s, which somebody wrote after a restore was killed, is %s, not %s", path, held[path], is)
		}
	}
	if undecided, err := w.undecided(); err != nil {
		return err
	} else if undecided {
		if said, err := w.alone(ctx, w.work, choice); err != nil {
			return fmt.Errorf("%s of what was killed once more: %w %s", choice, err, said)
		}
	}
	if held, _, err = survey(w.work); err != nil {
		return err
	}
	want := maps.Clone(target)
	if choice == "undo" {
		want = maps.Clone(old)
	}
	maps.Copy(want, theirs)
	if d := held.differs(want); d != "" {
		return fmt.Errorf("after %s of a restore that was interrupted:\n%s", choice, d)
	}
	return nil
}

// undecided reports whether the journal has a restore that was interrupted.
func (w *world) undecided() (bool, error) {
	logs, err := filepath.Glob(filepath.Join(w.umbra.Base, "umbra", "journal", "*", "phases"))
	if err != nil {
		return false, err
	}
	for _, log := range logs {
		text, err := os.ReadFile(log)
		if err != nil {
			return false, err
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		if strings.HasPrefix(lines[len(lines)-1], "interrupted ") {
			return true, nil
		}
	}
	return false, nil
}
