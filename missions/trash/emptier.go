package trash

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/expiry"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/settings"
)

// Emptier empties the trash by itself, where the configuration asks for it.
type Emptier struct {
	bin  *Bin
	ages Ages
}

// NewEmptier makes the one of a trash.
func NewEmptier(b *Bin) *Emptier {
	return &Emptier{b, Ages{Desk: b.Desk, File: "trash.json", Lock: "emptying", Keep: func(r settings.Retention) settings.Duration { return r.Trash }}}
}

// returnsLockFile is the lock that is held, shared, while a mission is brought back: its files are not taken away
// meanwhile.
func returnsLockFile(h home.Home) string { return h.Path("locks", "trash") }

// IsExpiryDue reports whether a process is to be started that calls ExpireWhenDue.
func (e *Emptier) IsExpiryDue() bool { return e.ages.IsDue() }

// NoteExpiryBegun notes that such a process is about to be started.
func (e *Emptier) NoteExpiryBegun() error { return e.ages.NoteBegun() }

// ExpireWhenDue counts on how old the missions in the trash are, and removes the files of those
// for good that are there for as long as the configuration says, if that is due and no other
// process is at it. Where anything of the trash can't be read, nothing goes.
func (e *Emptier) ExpireWhenDue(ctx context.Context) error {
	return e.ages.LookWhenDue(ctx, func(keep time.Duration, a *Aged) error { return e.expire(ctx, keep, a) })
}

// finishTaken removes what was taken out of the trash by a process that was killed, also where
// nothing goes by itself any more.
func (e *Emptier) finishTaken(result *missions.TrashResult) {
	result.Unfinished = 0 // where another process has the lock, that one finishes it
	held, err := e.ages.Hold()
	if held != nil {
		defer func() { _ = held.Release() }()
		var bytes int64
		result.Unfinished, bytes, err = e.bin.Home.FinishTaken()
		result.Bytes += bytes
	}
	if err != nil {
		said := missions.AsError(err)
		result.Left = append(result.Left, missions.LeftInTrash{Path: e.bin.Home.Path(home.ErasedDir), Why: said.Message, Fix: said.Hint})
	}
}

// expire looks once. What was taken out of the trash before is removed first, and what goes
// now is noted before it is removed: a process that is killed leaves nothing unsaid.
func (e *Emptier) expire(ctx context.Context, keep time.Duration, a *Aged) error {
	left, bytes, unfinished := e.bin.Home.FinishTaken()
	if left > 0 {
		a.WentAt, a.Went, a.Bytes = e.bin.Now(), left, bytes
	}
	there, byID, err := e.expirable(ctx)
	if err != nil {
		return errors.Join(unfinished, err) // all ages stay, and it is looked again soon
	}
	due, failed := a.Look(e.bin.Now(), keep, there), unfinished
	slices.Sort(due)
	var taken int
	for _, id := range due {
		if ctx.Err() != nil {
			break
		}
		err := e.takeExpired(ctx, byID[id], there[id], keep)
		if err == nil {
			taken++
			delete(a.Of, id)
		} else if missions.AsError(err).Kind != missions.KindBusy { // else it is tried again
			failed = errors.Join(failed, fmt.Errorf("%s stays in the trash: %w", byID[id].Name, err))
		}
	}
	if taken == 0 {
		return failed
	}
	a.WentAt, a.Went, a.Bytes = e.bin.Now(), taken, 0
	e.bin.Logger.Info("emptied the trash", "missions", taken)
	if err := e.ages.Write(*a); err != nil {
		failed = errors.Join(failed, err)
	}
	_, a.Bytes, err = e.bin.Home.FinishTaken()
	return errors.Join(failed, err)
}

// expirable are the removed missions whose files may go by themselves, with the time since when
// they are what they are. What is only left of something, is a mission's that is back, or is on
// another disk is the user's to remove.
func (e *Emptier) expirable(ctx context.Context) (there map[string]time.Time, byID map[string]removedMission, err error) {
	all, _, problems := e.bin.removedMissions()
	if len(problems) > 0 {
		return nil, nil, missions.Errorf(missions.KindDamaged, cmp.Or(problems[0].Fix, "umbra doctor"),
			"nothing goes from the trash while not all of it can be read: %s", problems[0].Message)
	}
	there, byID = map[string]time.Time{}, map[string]removedMission{}
	for _, m := range all {
		if since, may := e.inTrashSince(ctx, m); may {
			there[m.ID], byID[m.ID] = since, m
		}
	}
	return there, byID, ctx.Err() // else a look that was cut short would forget ages
}

// inTrashSince is when a removed mission's files were last moved there or changed there, however
// deep, and whether they may go by themselves: an agent may still write where it works. Files
// that can't all be looked at may not.
func (e *Emptier) inTrashSince(ctx context.Context, m removedMission) (since time.Time, may bool) {
	if e.bin.Home.IsElsewhereInTrash(m.ID) {
		return time.Time{}, false
	}
	dir, entries := e.bin.Home.Path("trash", m.ID), 0
	top, err := os.Lstat(dir)
	if err != nil {
		return time.Time{}, false
	}
	device := home.IdentityOf(top).Device
	err = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if home.IdentityOf(info).Device != device {
			return errMounted
		}
		if at := time.Unix(0, home.ChangeTime(info)); at.After(since) {
			since = at
		}
		entries++
		return nil
	})
	return since, err == nil && entries > 1
}

var errMounted = errors.New("something is mounted there")

// takeExpired takes a mission's files out of the trash, unless it is being brought back, or
// anything is not as it was a moment ago.
func (e *Emptier) takeExpired(ctx context.Context, m removedMission, since time.Time, keep time.Duration) error {
	held, err := lock.Try(returnsLockFile(e.bin.Home), lock.Exclusive, e.bin.Self)
	if err != nil {
		return home.LockError(err)
	}
	defer func() { _ = held.Release() }()
	busy := func(why string) error { return missions.Errorf(missions.KindBusy, "", "%s", why) }
	_, err = m.project.Store.Ref(gitstore.AgentRef(m.ID))
	_, removed := m.project.Store.Ref(gitstore.TrashAgentRef(m.ID))
	switch {
	case removed != nil || !errors.Is(err, gitstore.ErrRefNotFound):
		return busy("it is back")
	case e.bin.hasUnfinishedOperation(m.ID):
		return busy("an operation that may need it is not finished")
	case e.ages.Asked() != keep:
		return busy("the configuration was changed meanwhile")
	}
	if now, may := e.inTrashSince(ctx, m); !may || !now.Equal(since) {
		return busy("it was changed meanwhile")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return errors.Join(e.bin.Home.TakeTrash(m.ID), e.bin.removeOutputs(m.ID))
}

// expiryTimes are when the missions in the trash go by themselves at the earliest, by id.
func (e *Emptier) expiryTimes(ctx context.Context, all []removedMission) map[string]time.Time {
	keep := e.ages.Asked()
	if keep <= 0 {
		return nil
	}
	times, a := map[string]time.Time{}, e.ages.Read()
	for _, m := range all {
		if since, may := e.inTrashSince(ctx, m); may && m.mission != nil {
			times[m.ID] = a.GoesAt(e.bin.Now(), keep, m.ID, since)
		}
	}
	return times
}

// TrashExpiry says what becomes of the trash by itself, nil where nothing does.
func (e *Emptier) TrashExpiry() *missions.TrashExpiry {
	keep, a := e.ages.Asked(), e.ages.Read()
	if keep <= 0 {
		return nil
	}
	said := missions.TrashExpiry{
		Keep: settings.DurationText(keep), EmptiedAt: a.WentAt, Emptied: a.Went, Bytes: a.Bytes, Problem: a.Problem, Fix: a.Fix,
	}
	if a.LookedAt.IsZero() || a.Keep != keep { // nobody has looked yet what goes
		return &said
	}
	said.NextAt = a.LookedAt.Add(expiry.Every)
	for _, id := range a.Said() {
		if !home.IsThere(e.bin.Home.Path("trash", id)) {
			continue // the user was faster
		}
		said.Waiting++
		if at := a.GoesAt(e.bin.Now(), keep, id, a.Of[id].Since); said.GoesAt.IsZero() || at.Before(said.GoesAt) {
			said.GoesAt = at
		}
	}
	return &said
}
