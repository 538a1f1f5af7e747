package fork

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
)

// TestUndoCutOffLeavesNothing ends an undo while git deletes the branch: git is
// let end, and the next undo has nothing left to do.
func TestUndoCutOffLeavesNothing(t *testing.T) {
	l := newLab(t)
	l.write("a", "a\n")
	l.initGit()
	made := l.fork(l.snapshot(), l.target("one"))
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	begun, goOn := filepath.Join(bin, "begun"), filepath.Join(bin, "go-on")
	for _, pipe := range []string{begun, goOn} {
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// It is killed between its two steps if it is killed at all.
	script := fmt.Sprintf(`#!/bin/sh
case " $* " in *" update-ref -d "*)
	rm -rf %q
	echo > %q
	read line < %q
esac
exec %q "$@"
`, filepath.Join(made.Document.CommonDir, "logs", "refs", "heads", "umbra"), begun, goOn, git)
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	ctx, cancel := context.WithCancel(t.Context())
	met := make(chan error, 1)
	go func() {
		_, err := os.ReadFile(begun) // until git is there
		cancel()
		if err == nil {
			err = os.WriteFile(goOn, []byte("on\n"), 0)
		}
		met <- err
	}()
	if err := UndoDocument(ctx, made.Document, t.TempDir()); err != nil {
		t.Errorf("the undo that is cut off: %v", err)
	}
	if err := <-met; err != nil {
		t.Fatal(err)
	}
	if err := UndoDocument(t.Context(), made.Document, t.TempDir()); err != nil {
		t.Errorf("the next one: %v", err)
	}
	l.gone(made.Document)
}

// TestUndoAfterGitWasKilledToo: git has deleted the branch's reflog and not the
// branch, as if it and the undo were both killed then. The worktree's entry tells
// that the branch is the fork's; one of somebody else's stays.
func TestUndoAfterGitWasKilledToo(t *testing.T) {
	for _, own := range []bool{true, false} {
		t.Run(fmt.Sprint("own ", own), func(t *testing.T) {
			l := newLab(t)
			l.write("a", "a\n")
			l.initGit()
			made := l.fork(l.snapshot(), l.target("one"))
			doc := made.Document
			if err := os.Remove(filepath.Join(doc.CommonDir, "logs", "refs", "heads", doc.Branch)); err != nil {
				t.Fatal(err)
			}
			if !own { // which the user's git had made there, without a reflog
				admin, err := entryOf(doc)
				if err != nil || admin == "" {
					t.Fatal(admin, err)
				}
				if err := os.WriteFile(filepath.Join(admin, "HEAD"), []byte(doc.Head+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				if err := UndoDocument(t.Context(), doc, t.TempDir()); err != nil {
					t.Fatal(err)
				}
			}
			if own {
				l.gone(doc)
				return
			}
			if head := strings.TrimSpace(l.git(doc.CommonDir, "rev-parse", "refs/heads/"+doc.Branch)); head != doc.Head {
				t.Errorf("the branch is at %q, was at %s", head, doc.Head)
			}
			if admin, err := entryOf(doc); err != nil || admin != "" {
				t.Errorf("the entry is left: %s %v", admin, err)
			}
		})
	}
}

// TestUndoTakesGitsLock: git was killed while it made or deleted the branch, and has left
// its lock. One that holds what no git of the fork writes is somebody else's.
func TestUndoTakesGitsLock(t *testing.T) {
	for name, holds := range map[string]func(Document) string{
		"nothing yet": func(Document) string { return "" },
		"the head":    func(d Document) string { return d.Head + "\n" },
		"another's":   func(d Document) string { return strings.Repeat("1", len(d.Head)) + "\n" },
	} {
		for _, there := range []bool{true, false} {
			t.Run(fmt.Sprint(name, ", the branch there ", there), func(t *testing.T) {
				l := newLab(t)
				l.write("a", "a\n")
				l.initGit()
				doc := l.fork(l.snapshot(), l.target("one")).Document
				if !there {
					l.git(doc.CommonDir, "update-ref", "-d", "refs/heads/"+doc.Branch)
				}
				lock := filepath.Join(doc.CommonDir, "refs", "heads", doc.Branch+".lock")
				if err := errors.Join(os.MkdirAll(filepath.Dir(lock), 0o755), os.WriteFile(lock, []byte(holds(doc)), 0o644)); err != nil {
					t.Fatal(err)
				}
				err := UndoDocument(t.Context(), doc, t.TempDir())
				if name != "another's" {
					if err != nil {
						t.Error(err)
					}
					l.gone(doc)
				} else if refused := err != nil; refused != there {
					t.Errorf("with somebody else's lock: %v", err)
				}
				if _, err := os.Lstat(lock); (err == nil) != (name == "another's") {
					t.Errorf("the lock: %v", err)
				}
			})
		}
	}
}

// TestUndoCutOffInTheEntry: the deletion of the worktree's entry was cut off after the
// file that says whose it is.
func TestUndoCutOffInTheEntry(t *testing.T) {
	l := newLab(t)
	l.write("a", "a\n")
	l.initGit()
	made := l.fork(l.snapshot(), l.target("one"))
	doc := made.Document
	admin, err := entryOf(doc)
	if err != nil || admin == "" {
		t.Fatal(admin, err)
	}
	dying := filepath.Join(filepath.Dir(admin), dyingEntry(doc))
	err = os.Rename(admin, dying)
	for _, name := range []string{"locked", "gitdir", "HEAD"} {
		err = errors.Join(err, os.Remove(filepath.Join(dying, name)))
	}
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := UndoDocument(t.Context(), doc, t.TempDir()); err != nil {
			t.Fatal(err)
		}
	}
	l.gone(doc)
	if _, err := os.Lstat(filepath.Dir(admin)); err == nil {
		t.Error("the directory of worktrees is left")
	}
}

// TestInterruptedForkKeepsWhatOthersWrote ends a fork, by Ctrl-C or by an error, after
// somebody wrote into its directory: one that it made, and one that was given.
func TestInterruptedForkKeepsWhatOthersWrote(t *testing.T) {
	l := newLab(t)
	rich(l)
	src := l.snapshot()
	for _, given := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		target, place := l.target(fmt.Sprint("given-", given)), ""
		if given {
			if err := os.MkdirAll(target.Directory, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		target.Undone = func(at string) { place = at }
		target.Record = func(doc Document) error {
			if doc.Identity == (beneath.Identity{}) {
				return nil // nothing is made yet
			}
			cancel()
			return os.WriteFile(filepath.Join(doc.Directory, "mine.txt"), []byte("work"), 0o600)
		}
		made, err := Make(ctx, src, target)
		if made != nil || !errors.Is(err, context.Canceled) {
			t.Fatalf("made %v, %v", made, err)
		}
		if got, err := os.ReadFile(filepath.Join(place, "mine.txt")); err != nil || string(got) != "work" || filepath.Dir(place) != target.Trash {
			t.Errorf("given %v: what others wrote is %q in %s: %v", given, got, place, err)
		}
		if names, err := os.ReadDir(target.Directory); given && err != nil || len(names) > 0 {
			t.Errorf("given %v: left in its place: %v, %v", given, names, err)
		}
	}
}
