package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/restores"
)

// knownFile is where the home remembers what its user has said to know.
const knownFile = "known.json"

// settleKnown parts what was said to be known from the problems. On request all problems
// of now are known from then on, and what is not found any more is forgotten, as are
// projects that are gone.
func (x *Examination) settleKnown(ctx context.Context) error {
	var known []missions.Problem
	text, err := disk.ReadFile(x.Examiner.Home.Path(knownFile))
	if err == nil {
		err = json.Unmarshal(text, &known)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		x.Examiner.Logger.Warn("read what is known of what is wrong", "error", err)
	}
	x.Result.Known = slices.Clone(x.Result.Problems)
	if !x.request.Known {
		x.Result.Known = slices.DeleteFunc(x.Result.Known, func(p missions.Problem) bool {
			return !slices.ContainsFunc(known, func(k missions.Problem) bool {
				return k.Project == p.Project && k.Mission == p.Mission && k.Message == p.Message
			})
		})
	}
	x.Result.Problems = slices.DeleteFunc(x.Result.Problems, func(p missions.Problem) bool {
		return slices.ContainsFunc(x.Result.Known, func(k missions.Problem) bool {
			return k.Project == p.Project && k.Mission == p.Mission && k.Message == p.Message
		})
	})
	if !x.request.Known {
		return nil
	}
	text, err = json.MarshalIndent(x.Result.Known, "", " ")
	if err != nil {
		return err
	}
	if err := journal.WriteBelow(x.Examiner.Home.Dir, x.Examiner.Home.Path(knownFile), 0o600, append(text, '\n')); err != nil {
		return fmt.Errorf("note what is known: %w", err)
	}
	return x.Examiner.Unregister(ctx, x.gone)
}

// checkForgotten reports what a restore took away in a project that is gone, which its user
// has said to know.
func (x *Examination) checkForgotten(op *journal.Operation, register []projects.RegisterEntry) {
	var doc restores.JournalDoc
	if op.Kind() != restores.JournalKind || op.Document(&doc) != nil || doc.Project == "" || isThere(doc.Project) {
		return
	}
	name := filepath.Base(doc.Project)
	if slices.ContainsFunc(register, func(e projects.RegisterEntry) bool { return e.Dir == name }) {
		return // it may come back from a backup
	}
	p := missions.Problem{Invariant: "I6", Project: name, Message: "the journal holds what a " + doc.Operation.Kind + " took away in a project that is no more"}
	x.report(p, op.Drop)
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// checkRegister looks for projects that were made in the home and whose directory there is
// gone, with all snapshots in it.
func (x *Examination) checkRegister(list []*projects.Project) (gone bool, err error) {
	register, err := x.Examiner.ReadRegister()
	if err != nil {
		return false, fmt.Errorf("read the list of projects: %w", err)
	}
	for _, entry := range register {
		dir := x.Examiner.Home.Path("projects", entry.Dir)
		if slices.ContainsFunc(list, func(p *projects.Project) bool { return p.ID == entry.ID }) || isThere(dir) {
			continue
		}
		gone, x.gone = true, append(x.gone, entry.ID)
		x.report(missions.Problem{
			Invariant: "I1", Project: entry.Dir, Message: fmt.Sprintf("%s is gone, and with it the snapshots of %s", dir, entry.Path),
			Fix: "bring it back from a backup, or say that you know: umbra doctor --known",
		}, nil)
	}
	return gone, nil
}
