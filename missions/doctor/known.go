package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/restores"
)

// knownFile is where the home remembers what its user has said to know.
const knownFile = "known.json"

// settleKnown parts what was said to be known from the problems. On request all problems
// of now are known from then on, and what is not found any more is forgotten. That projects
// are gone is noted in their list: they may come back, and be lost again. What the journal
// has of them is known with them.
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
	known = slices.DeleteFunc(slices.Clone(x.Result.Known), func(p missions.Problem) bool { return p.Invariant == "I1" && slices.Contains(x.gone, p.Project) })
	text, err = json.MarshalIndent(known, "", " ")
	if err != nil {
		return err
	}
	if err := journal.WriteBelow(x.Examiner.Home.Dir, x.Examiner.Home.Path(knownFile), 0o600, append(text, '\n')); err != nil {
		return fmt.Errorf("note what is known: %w", err)
	}
	return x.Examiner.ForgetProjects(ctx, x.gone)
}

// checkForgotten looks at what a restore took away in a project that is gone. It is thrown
// away only where the project's user has said to know: else the project may come back.
func (x *Examination) checkForgotten(op *journal.Operation, register []projects.RegisterEntry) {
	var doc restores.JournalDoc
	if op.Kind() != restores.JournalKind || op.Document(&doc) != nil || doc.Project == "" || home.IsThere(doc.Project) {
		return
	}
	name := filepath.Base(doc.Project)
	p := missions.Problem{Invariant: "I6", Project: name, Message: "the journal holds what a " + doc.Operation.Kind + " took away in a project that is no more"}
	listed := slices.IndexFunc(register, func(e projects.RegisterEntry) bool { return e.Dir == name })
	switch {
	case listed >= 0 && (register[listed].Forgotten || x.onlyNotes()):
		x.report(p, op.Drop)
	case listed < 0 && !slices.Contains(x.gone, name):
		x.reportGone(name, p)
	}
}

// reportGone reports a project that is not there, by its name among the home's.
func (x *Examination) reportGone(name string, p missions.Problem) {
	x.gone = append(x.gone, name)
	p.Fix = "bring it back from a backup, or say that you know: umbra doctor --known"
	x.report(p, nil)
}

// checkRegister looks for projects that were made in the home and whose directory there is
// gone, with all snapshots in it; and for projects that are not listed, whose loss nothing
// would tell. It reports whether a project is missing that may come back.
func (x *Examination) checkRegister(ctx context.Context, list []*projects.Project) (missing bool, err error) {
	register, err := x.Examiner.ReadRegister()
	if err != nil && missions.AsError(err).Kind == missions.KindDamaged {
		x.report(missions.Problem{Invariant: "I1", Message: err.Error()}, func() error { return x.Examiner.RenewRegister(ctx, list) })
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("read the list of projects: %w", err)
	}
	for _, p := range list {
		if !slices.ContainsFunc(register, func(e projects.RegisterEntry) bool { return e.ID == p.ID && !e.Forgotten }) {
			x.report(missions.Problem{
				Invariant: "I1", Project: p.Name, Message: filepath.Base(p.Dir) + " is not in the list of projects: nothing would tell that it is lost",
			}, func() error { return x.Examiner.Register(ctx, p) })
		}
	}
	for _, p := range x.Examiner.GoneProblems(register, list) {
		x.reportGone(p.Project, p)
	}
	return len(x.gone) > 0, nil
}
