package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/scripts/crash/faults"
	"github.com/umbra-vcs/umbra/scripts/lab"
)

// plainFault checks what a command says whose call failed so: why, if it ends with an
// error, and never how it is made.
func plainFault(f faults.Fault, of fate) error {
	if err := crashed(of); err != nil || of.code == 0 || of.code == partlyCode {
		return err
	}
	said := strings.ToLower(of.said)
	if f.Err == faults.HalfDone {
		return fmt.Errorf("it failed where half was written: %s", of)
	}
	if !gits(said) && !unseen(of, said) && !late(said) && !strings.Contains(said, strings.ToLower(f.Err.Error())) {
		return fmt.Errorf("its error does not say %q: %s", f.Err.Error(), of)
	}
	return nil
}

// late reports whether a hook ended since its time was over, which a busy machine does to it,
// whatever failed.
func late(said string) bool { return strings.Contains(said, context.DeadlineExceeded.Error()) }

// gits reports whether an error is Git's, which has words of its own: an object that
// it cannot open is corrupt to it.
func gits(said string) bool {
	return strings.Contains(said, "fatal: ") && strings.Contains(said, ": git ")
}

// unseen reports whether Git made a worktree without a word though it could not open
// its branch, which is not there for it: Umbra sees that the worktree is none.
func unseen(of fate, said string) bool {
	return strings.Contains(of.at, "/.git/refs/heads/") && strings.Contains(said, "worktree that git made is no whole one")
}

// crashed is an error if a command ended as Go ends a program that is wrong.
func crashed(of fate) error {
	said := strings.ToLower(of.said)
	for _, word := range []string{"panic", "goroutine ", "fatal error", "sig"} {
		if strings.Contains(said, word+":") || strings.Contains(said, word+"segv") || strings.Contains(said, "\n"+word) {
			return fmt.Errorf("it ended with %s", of)
		}
	}
	return nil
}

// heedFailing notes what a command has told of a snapshot, one of whose calls failed.
// A file of the workspace that could not be read is left out, and the snapshot says
// so: such a one is held against the disk here, and is no moment to restore.
func (w *world) heedFailing(ctx context.Context, s scene, f fate) error {
	if !s.told {
		return nil
	}
	for _, id := range slices.Compact(reportedIDs(f.out)) {
		out, err := leftOut(ctx, w.mission, id)
		if err != nil {
			return err
		}
		if len(out) == 0 && !f.unruled() {
			w.ack(id, s.old)
			continue
		}
		text, err := w.shadow(ctx, "ls-tree", "-r", "-z", "--full-tree", id)
		if err != nil {
			return err
		}
		has := listed(text)
		if f.unruled() {
			has = has.without([]string{ignored})
		}
		if d := has.differs(s.old.without(out)); d != "" {
			return fmt.Errorf("snapshot %s, which says that it lacks %q, does not hold the rest:\n%s", id, out, d)
		}
	}
	return nil
}

// unruled reports whether an ignore file could not be read, without which Git goes on,
// and so does Umbra: it takes too much rather than too little.
func (f fate) unruled() bool { return filepath.Base(f.at) == ".gitignore" }

// leftOut are the paths that a mission's snapshot says it could not read.
func leftOut(ctx context.Context, m lab.Mission, id string) ([]string, error) {
	about, err := m.Git(ctx, "log", "-1", "--format=%(trailers:key=Umbra-Skipped,valueonly)%(trailers:key=Umbra-Record,valueonly)", id)
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(about)
	if len(fields) != 2 {
		return nil, nil
	}
	text, err := m.Git(ctx, "show", fields[1]+":skipped.json")
	if err != nil {
		return nil, err
	}
	var list struct {
		Skipped []struct{ Path, Reason string }
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, err
	}
	var out []string
	for _, one := range list.Skipped {
		if one.Reason == "unreadable" {
			out = append(out, one.Path)
		}
	}
	return out, nil
}
