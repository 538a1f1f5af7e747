package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// A writer is a program that works in the workspace while a restore runs and is
// killed: it saves a file by rename, writes one in place, or appends to one that
// it holds open. What it has written last is never lost (I8).
type writer struct {
	name string
	path string
	save func(w *writer, text string) error
	held *os.File
	last string // of what was written whole: a text that nothing else holds
}

// writersOf makes one of each kind, at files that a restore changes.
func writersOf(root string) []*writer {
	return []*writer{
		{name: "save by rename", path: filepath.Join(root, "written", "renamed"), save: func(w *writer, text string) error {
			if err := os.WriteFile(w.path+".swap", []byte(text), 0o644); err != nil {
				return err
			}
			return os.Rename(w.path+".swap", w.path)
		}},
		{name: "in place", path: filepath.Join(root, "written", "in-place"), save: func(w *writer, text string) error {
			return os.WriteFile(w.path, []byte(text), 0o644)
		}},
		{name: "held open", path: filepath.Join(root, "written", "held"), save: func(w *writer, text string) error {
			_, err := w.held.WriteString(text)
			return err
		}},
	}
}

// writing works with every writer until it is stopped, which says what went wrong.
func writing(all []*writer, tag string) (stop func() error) {
	done := make(chan struct{})
	var wait sync.WaitGroup
	errs := make([]error, len(all))
	for i, w := range all {
		wait.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				case <-time.After(time.Millisecond):
				}
				text := fmt.Sprintf("<%s %s %d>\n", w.name, tag, n)
				if err := w.save(w, text); os.IsNotExist(err) {
					continue // its directory is away for a moment, and nothing was written
				} else if err != nil {
					errs[i] = err
					return
				}
				w.last = text
			}
		})
	}
	return func() error {
		close(done)
		wait.Wait()
		for i, w := range all {
			if w.held != nil {
				_ = w.held.Close()
			}
			if errs[i] != nil {
				return fmt.Errorf("%s: %w", w.name, errs[i])
			}
		}
		return nil
	}
}

// besieged kills a restore while programs write to files that it changes.
func besieged(ctx context.Context, w *world) (scene, error) {
	if err := w.few(); err != nil {
		return scene{}, err
	}
	all := writersOf(w.work)
	to := w.last()
	for _, one := range all {
		if err := w.write(one.path, fmt.Sprintf("before writer %d\n", w.made)); err != nil {
			return scene{}, err
		}
	}
	if _, err := w.alone(ctx, w.work, "snapshot"); err != nil {
		return scene{}, err
	}
	for _, one := range all {
		var err error
		if one.held, err = os.OpenFile(one.path, os.O_WRONLY|os.O_APPEND, 0); err != nil {
			return scene{}, err
		}
	}
	w.made++
	stop := writing(all, fmt.Sprint(w.made))
	return scene{args: []string{"restore", to, "--all", "--quiet"}, stop: stop, settle: func(ctx context.Context, w *world, _ fate) error {
		if undecided, err := w.undecided(); err != nil {
			return err
		} else if undecided {
			if said, err := w.alone(ctx, w.work, "undo"); err != nil {
				return fmt.Errorf("undo of a restore that was interrupted: %w %s", err, said)
			}
		}
		return w.recoverable(ctx, all)
	}}, nil
}

// recoverable looks for what each writer wrote last: on disk, in the shadow
// repository, or in what the journal has set aside.
func (w *world) recoverable(ctx context.Context, all []*writer) error {
	objects, err := w.shadow(ctx, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for id := range strings.FieldsSeq(objects) {
		known[id] = true
	}
	recent, err := w.shadow(ctx, "rev-list", "-n", "24", "--first-parent", w.mission.Ref, strings.Replace(w.mission.Ref, "refs/agents/", "refs/records/", 1))
	if err != nil {
		return err
	}
	for _, one := range all {
		if one.last == "" {
			continue
		}
		found := known[blob([]byte(one.last))]
		for _, root := range []string{w.work, filepath.Join(w.umbra.Base, "umbra", "journal")} {
			there, err := holds(root, one.last)
			if err != nil {
				return err
			}
			found = found || there
		}
		if !found {
			args := append([]string{"grep", "-l", "-F", strings.TrimSpace(one.last)}, strings.Fields(recent)...)
			if text, err := w.shadow(ctx, args...); err != nil || text == "" {
				return fmt.Errorf("%s: %q is nowhere any more (%v)", one.name, one.last, err)
			}
		}
	}
	return nil
}

// holds looks for a text in the files below a directory.
func holds(root, text string) (bool, error) {
	found := false
	err := filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		if os.IsNotExist(err) || err == nil && !e.Type().IsRegular() || found {
			return nil
		}
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			return nil
		}
		found = strings.Contains(string(content), text)
		return err
	})
	return found, err
}
