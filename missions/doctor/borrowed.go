package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/borrow"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/gitstore/upkeep"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// replacePatience is how long mending waits until no capture of the project runs: only
// then a damaged file may be set aside.
const replacePatience = 5 * time.Second

// Unverified reports whether the project borrows objects from the user's repository that
// were not compared with their ids yet.
func Unverified(p *projects.Project) bool {
	list, err := borrow.Unverified(p.Store)
	return err == nil && len(list) > 0
}

// lostError says how many objects of snapshots are lost for good.
type lostError int

func (e lostError) Error() string {
	return objectsAre(int(e)) + " lost to snapshots: no workspace holds it any more, and umbra doctor says where it was"
}

// damagedError says that borrowed objects do not match their ids. The user's own
// repository has the same damage: it is the same file.
type damagedError struct {
	objects int
	source  string
}

func (e *damagedError) Error() string {
	return fmt.Sprintf("of what was borrowed from %s, %s damaged, there too", cmp.Or(e.source, "your repository"), objectsAre(e.objects))
}

func objectsAre(n int) string {
	if n == 1 {
		return "1 object is"
	}
	return fmt.Sprintf("%d objects are", n)
}

// verifyBorrowed compares borrowed objects with their ids. Damage is a *damagedError, for
// mendBorrowed.
func verifyBorrowed(ctx context.Context, p *projects.Project) (borrow.Damage, error) {
	damage, err := borrow.Verify(ctx, p.Store)
	if err != nil || !damage.Any() {
		return damage, err
	}
	return damage, &damagedError{len(damage.Objects), damage.Source}
}

// salvage is shadow.Store.Salvage while nobody takes a snapshot of the project, and so
// nobody relies on the files.
func (e *Examiner) salvage(ctx context.Context, p *projects.Project, files []upkeep.RottenFile) error {
	patient, cancel := context.WithTimeout(ctx, replacePatience)
	defer cancel()
	held, err := lock.Wait(patient, lock.ProjectFile(e.Home.Dir, p.ID), lock.Exclusive, e.Self)
	if err != nil {
		return home.LockError(err)
	}
	defer func() { _ = held.Release() }()
	roots, err := e.unpublished(p)
	if err == nil {
		_, err = upkeep.Salvage(ctx, p.Store, files, roots)
	}
	return err
}

// mendBorrowed stores damaged borrowed objects again, from the workspaces and from the
// readable parts of the damaged packs, which it sets aside.
func (e *Examiner) mendBorrowed(ctx context.Context, p *projects.Project, damage borrow.Damage) error {
	e.recapture(ctx, p)
	if len(damage.Packs) > 0 {
		if err := e.salvage(ctx, p, damage.Packs); err != nil {
			return err
		}
	}
	lost := 0
	for _, id := range damage.Objects {
		if _, _, err := p.Store.Object(id); err != nil {
			lost++
		}
	}
	if lost > 0 {
		return lostError(lost)
	}
	return nil
}

// checkBorrowed verifies the borrowed objects that were not verified yet.
func (x *Examination) checkBorrowed(ctx context.Context, p *projects.Project) error {
	if !Unverified(p) {
		return nil
	}
	damage, err := verifyBorrowed(ctx, p)
	if wrong := (*damagedError)(nil); errors.As(err, &wrong) {
		x.report(missions.Problem{Invariant: "I1", Project: p.Name, Message: wrong.Error()}, func() error {
			err := x.Examiner.mendBorrowed(ctx, p, damage)
			if errors.As(err, new(lostError)) {
				return nil // it is said with all that is lost
			}
			return err
		})
		return nil
	}
	if err == nil {
		x.Result.Verified = append(x.Result.Verified, p.Name)
	}
	return err
}
