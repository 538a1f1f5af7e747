package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/gitstore/upkeep"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// Urgency is how much a project must be in need of housekeeping.
type Urgency int

// The urgencies. From Due on it is worth an idle moment; from Overdue on it is
// done although agents are at work.
const (
	Due Urgency = iota
	Overdue
)

// needsHousekeeping compares a repository's bulk with the limits of an urgency: thousands
// of loose objects cost time and disk, dozens of packs slow each read, and a few large
// files that change a little each time, such as a log, fill the disk.
func (u Urgency) needsHousekeeping(b upkeep.Bulk) bool {
	if u == Overdue {
		return b.Loose >= 20_000 || b.Packs >= 50 || b.Bytes >= 1<<30
	}
	return b.Loose >= 2_000 || b.Packs >= 20 || b.Bytes >= 128<<20
}

// ProjectsToHousekeep lists the directories of the projects that need housekeeping, or
// whose borrowed objects are not verified yet.
func (e *Examiner) ProjectsToHousekeep(u Urgency) []string {
	all, _ := e.AllProjects()
	var dirs []string
	for _, p := range all {
		b, err := upkeep.BulkOf(p.Store)
		if err == nil && u.needsHousekeeping(b) || u == Due && Unverified(p) {
			dirs = append(dirs, p.Dir)
		}
	}
	return dirs
}

// RestEvery is how often a project is tried again for which nothing could be done.
const RestEvery = 10 * time.Minute

// StartHousekeeping starts the housekeeping of a project that needs it, or is to be pruned or
// for which there are errands, in a process of its own, where this one may not do it. What is
// borrowed is no reason: a command is not followed by a process for each clone.
func (e *Examiner) StartHousekeeping(p *projects.Project) {
	if e.StartHousekeeper == nil || !e.MayKeepHouse() {
		return
	}
	b, err := upkeep.BulkOf(p.Store) // doctor says what is wrong
	due := e.errandsFor(p, e.homeDue())
	if err == nil && Due.needsHousekeeping(b) || due.any() || e.rooms.Prunes.IsDue(p) {
		e.startApart(p, due, e.StartHousekeeper)
	}
}

// MayKeepHouse reports whether there is room for housekeeping. Once storage.max_bytes is reached
// there is for what gives room back.
func (e *Examiner) MayKeepHouse() bool {
	return e.Space.CheckRoom() == nil || e.Space.CheckDisk() == nil && (e.rooms.Prunes.IsTighteningDue() || e.rooms.Emptier.IsExpiryDue())
}

// StartDaily has start begin the housekeeping of a project that is to be pruned by itself, or for
// which there are errands: it takes memory that a process which stays would keep. The others
// have their turn when something was written again: they would all be at it at once.
func (e *Examiner) StartDaily(start func(dir string) error) {
	all, _ := e.AllProjects() // doctor says what is wrong
	due := e.homeDue()
	for _, p := range all {
		due := e.errandsFor(p, due)
		if (due.any() || e.rooms.Prunes.IsDue(p)) && e.startApart(p, due, start) {
			return
		}
	}
}

// errands are what the process that does a project's housekeeping does as well: daily for the
// whole home, whichever project it is, and for the project itself.
type errands struct{ imports, expiry, forks, room, pushes, index bool }

func (d errands) any() bool { return d.imports || d.expiry || d.forks || d.room || d.pushes || d.index }

// homeDue are the errands for the whole home.
func (e *Examiner) homeDue() errands {
	return errands{
		imports: e.rooms.Imports.IsImportDue(), expiry: e.rooms.Emptier.IsExpiryDue(), forks: e.rooms.Retirer.AreForksDue(),
		room: e.rooms.Prunes.IsTighteningDue(),
	}
}

// errandsFor are those and the project's own.
func (e *Examiner) errandsFor(p *projects.Project, home errands) errands {
	home.pushes, home.index = e.rooms.Remotes.IsPushDue(p), e.rooms.Searches.IsIndexDue(p)
	return home
}

// startApart starts the housekeeping of a project, unless some process is at it, or it was or
// would be of no use. Due says what that process does beside it; pushing is of use all the same.
func (e *Examiner) startApart(p *projects.Project, due errands, start func(dir string) error) (started bool) {
	if !due.pushes && (e.wasVain(p) || e.isBeingPruned(p)) {
		return false
	}
	held, err := e.holdHousekeeping(p)
	if err == nil {
		err = held.Release()
		if err == nil && due.expiry {
			err = e.rooms.Emptier.NoteExpiryBegun()
		}
		if err == nil && due.forks {
			err = e.rooms.Retirer.NoteForksBegun()
		}
		if err == nil && due.imports {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second) // a hook may wait
			err = e.rooms.Imports.NoteImportBegun(ctx)
			cancel()
		}
		if err == nil {
			err = start(p.Dir)
		}
	}
	if err != nil && !errors.Is(err, lock.ErrHeld) {
		e.Logger.Warn("start the housekeeping", "project", p.Name, "error", err)
	}
	return err == nil
}

// holdHousekeeping keeps all but one process from waiting for a moment to do a project's
// housekeeping.
func (e *Examiner) holdHousekeeping(p *projects.Project) (*lock.Lock, error) {
	return lock.Try(e.Home.Path("locks", "housekeeping-"+p.ID), lock.Exclusive, e.Self)
}

// vainFile is an empty file that was written when a project's housekeeping was last of no use.
func (e *Examiner) vainFile(p *projects.Project) string { return e.Home.Path("locks", "vain-"+p.ID) }

func (e *Examiner) wasVain(p *projects.Project) bool {
	info, err := os.Stat(e.vainFile(p))
	return err == nil && e.Now().Sub(info.ModTime()).Abs() < RestEvery
}

// errStirred says that a snapshot was taken.
var errStirred = errors.New("a snapshot was taken meanwhile")

// HousekeepWhenQuiet does the housekeeping of a project once no snapshot was taken for the
// length of a pause, and then prunes and pushes the project, moves forks that are over to the trash,
// empties that, imports sessions and indexes the project, as far as that is due. The next snapshot cuts the housekeeping off,
// and it waits again, unless it is overdue. It ends the indexing too; not the rest, which goes on
// beside agents. Where pushing alone is due, that is all it does. It does nothing where another
// process waits for that.
func (e *Examiner) HousekeepWhenQuiet(ctx context.Context, dir string, pause time.Duration) (missions.Housekeeping, error) {
	p, err := e.OpenProject(dir)
	if err != nil {
		return missions.Housekeeping{}, err
	}
	held, err := e.holdHousekeeping(p)
	if err != nil {
		return missions.Housekeeping{}, home.LockError(err)
	}
	if b := e.Space.Budget(); b != nil && b.IsReached() {
		// What was never pushed stays, so pushing comes first.
		if err := e.rooms.Remotes.PushWhenDue(ctx, p); err != nil && ctx.Err() == nil {
			e.Logger.Warn("push by itself", "project", p.Name, "error", err)
		}
		err := e.giveRoomBack(ctx)
		if err != nil {
			err = errors.Join(err, os.WriteFile(e.vainFile(p), nil, 0o600))
		}
		return missions.Housekeeping{Project: p.Name, At: e.Now()}, errors.Join(err, held.Release())
	}
	var done missions.Housekeeping
	onlyPushes := e.onlyPushes(p)
	if onlyPushes {
		done.Project, err = p.Name, awaitQuiet(ctx, p, pause)
	} else {
		done, err = e.housekeepAndPrune(ctx, p, pause)
	}
	if perr := e.rooms.Remotes.PushWhenDue(ctx, p); perr != nil && ctx.Err() == nil {
		e.Logger.Warn("push by itself", "project", p.Name, "error", perr)
	}
	err = errors.Join(err, held.Release())
	if ferr := e.rooms.Retirer.RetireWhenDue(ctx); ferr != nil && ctx.Err() == nil {
		e.Logger.Warn("move forks to the trash", "error", ferr)
	}
	if xerr := e.rooms.Emptier.ExpireWhenDue(ctx); xerr != nil && ctx.Err() == nil {
		e.Logger.Warn("empty the trash", "error", xerr)
	}
	if merr := e.Space.Measure(); merr != nil { // for status to say once the home takes nearly all it may
		e.Logger.Warn("measure the home", "error", merr)
	}
	if terr := e.rooms.Prunes.TightenWhenFull(ctx); terr != nil && ctx.Err() == nil {
		e.Logger.Warn("note that there is little room left", "error", terr)
	}
	// Whatever is wrong with this project, or hangs where a session's agent worked.
	if ierr := e.rooms.Imports.ImportWhenDue(ctx); ierr != nil && ctx.Err() == nil {
		e.Logger.Warn("import sessions", "error", ierr)
	}
	if err == nil && (!onlyPushes || e.rooms.Searches.IsIndexDue(p)) {
		e.indexUntilStirred(ctx, p, pause)
	}
	return done, err
}

// giveRoomBack is all the housekeeping there is once storage.max_bytes is reached: no snapshot is
// taken then that could have to wait.
func (e *Examiner) giveRoomBack(ctx context.Context) error {
	if err := e.Space.CheckDisk(); err != nil {
		return err
	}
	err := errors.Join(e.rooms.Emptier.ExpireWhenDue(ctx), e.Space.Measure())
	return errors.Join(err, e.rooms.Prunes.TightenWhenFull(ctx))
}

// indexUntilStirred indexes the project's conversations for searches. A snapshot ends it: it
// goes on another time, and what is not indexed is found all the same.
func (e *Examiner) indexUntilStirred(ctx context.Context, p *projects.Project, pause time.Duration) {
	held, err := e.holdHousekeeping(p)
	if err != nil {
		return // another process is at it
	}
	defer func() { _ = held.Release() }()
	quiet, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go watchRefs(quiet, p, pause/10, stop)
	if err := e.rooms.Searches.IndexWhenChanged(quiet, p); err != nil && quiet.Err() == nil {
		e.Logger.Warn("index conversations", "project", p.Name, "error", err)
	}
}

// onlyPushes reports whether a project is to be pushed, and nothing else is to be done with it.
func (e *Examiner) onlyPushes(p *projects.Project) bool {
	if !e.rooms.Remotes.IsPushDue(p) {
		return false
	}
	b, err := upkeep.BulkOf(p.Store)
	needs := err != nil || Due.needsHousekeeping(b) || Unverified(p)
	return (!needs || e.wasVain(p) || e.isBeingPruned(p)) && !e.rooms.Prunes.IsDue(p) && !e.homeDue().any()
}

// awaitQuiet waits until no snapshot of a project was taken for the length of a pause.
func awaitQuiet(ctx context.Context, p *projects.Project, pause time.Duration) error {
	for {
		quiet, stop := context.WithCancelCause(ctx)
		go watchRefs(quiet, p, pause/10, stop)
		err := projects.Sleep(quiet, pause)
		stop(nil)
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

func (e *Examiner) housekeepAndPrune(ctx context.Context, p *projects.Project, pause time.Duration) (missions.Housekeeping, error) {
	for {
		done, err := e.tryHousekeeping(ctx, p, pause)
		if err == errStirred {
			continue
		}
		if err == nil && done.Problem == "" {
			if perr := e.rooms.Prunes.PruneWhenDue(ctx, p); perr != nil {
				e.Logger.Warn("prune", "project", p.Name, "error", perr)
			}
		}
		if err == nil && (done.Problem != "" || done.Packed == 0) {
			err = os.WriteFile(e.vainFile(p), nil, 0o600)
		}
		return done, err
	}
}

// tryHousekeeping waits for the length of a pause, and does the housekeeping. A snapshot
// ends both with errStirred, unless the housekeeping is overdue.
func (e *Examiner) tryHousekeeping(ctx context.Context, p *projects.Project, pause time.Duration) (missions.Housekeeping, error) {
	quiet, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go watchRefs(quiet, p, pause/10, stop)
	_ = projects.Sleep(quiet, pause)
	b, err := upkeep.BulkOf(p.Store)
	if err != nil {
		return missions.Housekeeping{}, err
	}
	if Overdue.needsHousekeeping(b) {
		quiet = ctx
	}
	if quiet.Err() != nil {
		return missions.Housekeeping{}, context.Cause(quiet)
	}
	done, err := e.Housekeep(quiet, p.Dir)
	if err != nil && quiet.Err() != nil {
		err = context.Cause(quiet)
	}
	return done, err
}

// watchRefs stops with errStirred once a ref of a project moves. Each snapshot moves one.
func watchRefs(ctx context.Context, p *projects.Project, every time.Duration, stop context.CancelCauseFunc) {
	before, err := p.Store.Refs(gitstore.RefAgent)
	for err == nil && projects.Sleep(ctx, every) == nil {
		var now *gitstore.RefList
		if now, err = p.Store.Refs(gitstore.RefAgent); err == nil && !slices.Equal(now.Refs, before.Refs) {
			stop(errStirred)
			return
		}
	}
}

// Housekeep verifies a project's borrowed objects, packs loose objects, and removes
// leftovers of killed processes. It may take seconds, may be cut off at any instant, and
// blocks only prune. It returns the context's error, or that another process does the
// same; any other error is in the result.
func (e *Examiner) Housekeep(ctx context.Context, dir string) (missions.Housekeeping, error) {
	h := missions.Housekeeping{Project: filepath.Base(dir)}
	p, err := e.OpenProject(dir)
	if err == nil {
		h.Project = p.Name
		err = e.housekeepProject(ctx, p, &h)
	}
	h.At = e.Now()
	switch {
	case err == nil:
		return h, nil
	case ctx.Err() != nil:
		return h, ctx.Err()
	case errors.Is(err, upkeep.ErrRepacking), errors.Is(err, lock.ErrHeld):
		return h, home.LockError(err)
	}
	h.Problem = err.Error()
	return h, nil
}

func (e *Examiner) housekeepProject(ctx context.Context, p *projects.Project, h *missions.Housekeeping) error {
	damage, err := verifyBorrowed(ctx, p)
	if wrong := (*damagedError)(nil); errors.As(err, &wrong) {
		e.Logger.Warn("verify what was borrowed", "project", p.Name, "error", wrong)
		h.Mended = wrong.Error() + "; what could be read was stored again"
		err = e.mendBorrowed(ctx, p, damage)
	}
	lost := err
	if err != nil && !errors.As(err, new(lostError)) {
		return err
	}
	held, err := lock.Try(lock.ProjectFile(e.Home.Dir, p.ID), lock.Shared, e.Self)
	if err != nil {
		return err
	}
	defer func() { _ = held.Release() }()
	if err := e.packUntilPruned(ctx, p, h); err != nil {
		return err
	}
	return lost
}

// packUntilPruned packs a project and sweeps it, unless somebody prunes it: that waits until
// nobody packs it, and packs what stays itself.
func (e *Examiner) packUntilPruned(ctx context.Context, p *projects.Project, h *missions.Housekeeping) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go e.stopWhenPruned(ctx, p, stop)
	err := errors.Join(e.rooms.Remotes.ClearTransfers(p), packAndSweep(ctx, p, h))
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, lock.ErrHeld) {
		return cause
	}
	return err
}

func packAndSweep(ctx context.Context, p *projects.Project, h *missions.Housekeeping) error {
	stats, err := upkeep.Repack(ctx, p.Store)
	h.Packed, h.Removed, h.FreedBytes = stats.Packed, stats.Loose+stats.Packs, stats.Freed
	if err != nil {
		return err
	}
	swept, err := upkeep.Sweep(ctx, p.Store)
	h.FreedBytes += swept.Bytes
	if err != nil {
		return fmt.Errorf("after the repack: %w", err)
	}
	return nil
}

// stopWhenPruned stops with a lock.ErrHeld once somebody prunes a project.
func (e *Examiner) stopWhenPruned(ctx context.Context, p *projects.Project, stop context.CancelCauseFunc) {
	const every = 200 * time.Millisecond
	for projects.Sleep(ctx, every) == nil {
		if e.isBeingPruned(p) {
			stop(&lock.HeldError{Path: lock.PruningFile(e.Home.Dir, p.ID)})
			return
		}
	}
}

// isBeingPruned reports whether a process prunes a project now: housekeeping would be of no use.
func (e *Examiner) isBeingPruned(p *projects.Project) bool {
	held, err := lock.Try(lock.PruningFile(e.Home.Dir, p.ID), lock.Shared, e.Self)
	if err == nil {
		_ = held.Release()
	}
	return errors.Is(err, lock.ErrHeld)
}
