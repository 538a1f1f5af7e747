package trash

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/expiry"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/settings"
)

// expiryRest is how long after a look that did not come to its end the next is begun.
const expiryRest = time.Hour

// Emptier empties the trash by itself, where the configuration asks for it.
type Emptier struct{ bin *Bin }

// NewEmptier makes the one of a trash.
func NewEmptier(b *Bin) *Emptier { return &Emptier{b} }

// aged is what is remembered of the trash, to be emptied by itself. Where the file is lost or
// damaged, every age is counted anew.
type aged struct {
	Home string `json:"home"` // a copy of a home, such as a backup, counts anew
	expiry.Counts
	TriedAt   time.Time `json:"tried,omitzero"` // when a look was begun last
	EmptiedAt time.Time `json:"emptied_at,omitzero"`
	Emptied   int       `json:"emptied,omitempty"`
	Bytes     int64     `json:"bytes,omitempty"`
	Problem   string    `json:"problem,omitempty"`
	Fix       string    `json:"fix,omitempty"`
}

func (e *Emptier) agedFile() string { return e.bin.Home.Path("trash.json") }

// returnsLockFile is the lock that is held, shared, while a mission is brought back: its files are not taken away
// meanwhile.
func returnsLockFile(h home.Home) string { return h.Path("locks", "trash") }

// readAged reads what is remembered. A copy that has kept its time was changed after it.
func (e *Emptier) readAged() (a aged) {
	info, err := os.Stat(e.agedFile())
	if err != nil || home.ChangeTime(info)-info.ModTime().UnixNano() > int64(time.Minute) {
		return aged{}
	}
	text, err := disk.ReadFile(e.agedFile())
	if err != nil || json.Unmarshal(text, &a) != nil || a.Home != e.bin.Home.Dir {
		return aged{}
	}
	return a
}

func (e *Emptier) writeAged(a aged) error {
	a.Home = e.bin.Home.Dir
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return journal.WriteVolatile(e.bin.Home.Dir, e.agedFile(), 0o600, append(text, '\n'))
}

// askedKeep is for how long what was removed stays, 0 for ever. The file of the configuration
// says so, as it is now; one that is broken or gone asks for nothing. A variable can only
// switch it off.
func (e *Emptier) askedKeep() time.Duration {
	if e.bin.Config.Retention.Trash <= 0 {
		return 0
	}
	config, broken, err := e.bin.Home.ReadConfig()
	if err != nil || broken != nil {
		return 0
	}
	return time.Duration(config.Retention.Trash)
}

// IsExpiryDue reports whether a process is to be started that calls ExpireWhenDue. It is cheap
// enough for each idle point.
func (e *Emptier) IsExpiryDue() bool {
	if e.askedKeep() <= 0 {
		return false
	}
	a, now := e.readAged(), e.bin.Now()
	return a.IsDue(now) && now.Sub(a.TriedAt).Abs() >= expiryRest
}

// NoteExpiryBegun notes that such a process is about to be started: another is not for a while,
// whatever becomes of this one.
func (e *Emptier) NoteExpiryBegun() error {
	held, err := e.holdExpiry()
	if held == nil || err != nil {
		return err
	}
	a := e.readAged()
	a.TriedAt = e.bin.Now()
	return errors.Join(e.writeAged(a), held.Release())
}

// holdExpiry keeps all but one process from emptying the trash by itself; nil: another has it.
func (e *Emptier) holdExpiry() (*lock.Lock, error) {
	held, err := lock.Try(e.bin.Home.Path("locks", "emptying"), lock.Exclusive, e.bin.Self)
	if errors.Is(err, lock.ErrHeld) {
		return nil, nil
	}
	return held, err
}

// ExpireWhenDue counts on how old the missions in the trash are, and removes the files of those
// for good that are there for as long as the configuration says, if that is due and no other
// process is at it. Where anything of the trash can't be read, nothing goes.
func (e *Emptier) ExpireWhenDue(ctx context.Context) error {
	keep := e.askedKeep()
	if keep <= 0 || !e.readAged().IsDue(e.bin.Now()) {
		return nil
	}
	held, err := e.holdExpiry()
	if held == nil || err != nil {
		return err
	}
	defer func() { _ = held.Release() }()
	a := e.readAged()
	if !a.IsDue(e.bin.Now()) {
		return nil // another process has just done it
	}
	a.TriedAt = e.bin.Now()
	if err := e.writeAged(a); err != nil {
		return err
	}
	failed := e.expire(ctx, keep, &a)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if a.Problem, a.Fix = "", ""; failed != nil {
		said := missions.AsError(failed)
		a.Problem, a.Fix = said.Message, said.Hint
	}
	return errors.Join(failed, e.writeAged(a))
}

// finishTaken removes what was taken out of the trash by a process that was killed, also where
// nothing goes by itself any more.
func (e *Emptier) finishTaken(result *missions.TrashResult) {
	result.Unfinished = 0 // where another process has the lock, that one finishes it
	held, err := e.holdExpiry()
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
func (e *Emptier) expire(ctx context.Context, keep time.Duration, a *aged) error {
	left, bytes, unfinished := e.bin.Home.FinishTaken()
	if left > 0 {
		a.EmptiedAt, a.Emptied, a.Bytes = e.bin.Now(), left, bytes
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
	a.EmptiedAt, a.Emptied, a.Bytes = e.bin.Now(), taken, 0
	e.bin.Logger.Info("emptied the trash", "missions", taken)
	if err := e.writeAged(*a); err != nil {
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
	case e.askedKeep() != keep:
		return busy("the configuration was changed meanwhile")
	}
	if now, may := e.inTrashSince(ctx, m); !may || !now.Equal(since) {
		return busy("it was changed meanwhile")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return e.bin.Home.TakeTrash(m.ID)
}

// expiryTimes are when the missions in the trash go by themselves at the earliest, by id.
func (e *Emptier) expiryTimes(ctx context.Context, all []removedMission) map[string]time.Time {
	keep := e.askedKeep()
	if keep <= 0 {
		return nil
	}
	times, a := map[string]time.Time{}, e.readAged()
	for _, m := range all {
		if since, may := e.inTrashSince(ctx, m); may && m.mission != nil {
			times[m.ID] = a.GoesAt(e.bin.Now(), keep, m.ID, since)
		}
	}
	return times
}

// TrashExpiry says what becomes of the trash by itself, nil where nothing does.
func (e *Emptier) TrashExpiry() *missions.TrashExpiry {
	keep, a := e.askedKeep(), e.readAged()
	if keep <= 0 {
		return nil
	}
	said := missions.TrashExpiry{
		Keep: settings.DurationText(keep), EmptiedAt: a.EmptiedAt, Emptied: a.Emptied, Bytes: a.Bytes, Problem: a.Problem, Fix: a.Fix,
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
