package missions

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/lock"
)

// commands looks at the commands with secrets that are kept: for what can't be read, and
// what is of no mission.
func (d *examination) commands(projects []*project) error {
	ids, err := d.l.journal.PrivateMissions()
	if err != nil {
		return fmt.Errorf("read the journal: %w", err)
	}
	for _, id := range ids {
		_, err := d.l.privateCommands(id)
		damaged, is := spoiled(err)
		found := Problem{Invariant: "I6", Mission: id}
		switch {
		case is:
			found.Message = "the command of a mission, which has secrets in it, can't be read: " + err.Error()
			d.found(found, func() error {
				_, err := d.l.journal.MoveAside(damaged)
				return err
			})
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			found.Message = err.Error()
			d.found(found, nil)
		case err == nil && !slices.ContainsFunc(projects, func(p *project) bool { return p.keeps(id) }) && d.l.nowhere(id):
			found.Message = "the journal holds the command of a mission that is no more"
			d.found(found, func() error { return d.l.journal.DropPrivate(id) })
		}
	}
	return nil
}

// nowhere reports whether no project has a mission, in the trash neither, or is about to:
// whoever begins one shares its project from before its command is kept until its ref is
// there, and a fork is in the journal as long.
func (l *Local) nowhere(mission string) bool {
	if l.atWork(mission) || l.waitsToBePublished(mission) {
		return false
	}
	projects, problems := l.allProjects()
	if len(problems) > 0 || slices.ContainsFunc(projects, func(p *project) bool { return p.keeps(mission) }) {
		return false
	}
	return !slices.ContainsFunc(projects, func(p *project) bool {
		alone, err := lock.Try(lock.ProjectFile(l.home.Dir, p.ID), lock.Exclusive, l.self)
		if err != nil {
			return true
		}
		defer alone.Release()
		return p.keeps(mission)
	})
}

// keeps reports whether the project's repository has, or may have, a mission, be it in
// the trash.
func (p *project) keeps(mission string) bool {
	return p.names(mission) || p.anyOf(gitstore.TrashAgentRef(mission), gitstore.TrashRecordRef(mission))
}
