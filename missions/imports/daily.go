package imports

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// Every is how long after an import by itself the next is due: a little less than a day, so
// that one which is looked for once a day is not missed by a minute.
const Every = 22 * time.Hour

const (
	// rest is how long after an import that did not come to its end the next is begun.
	rest = 2 * time.Hour
	// settled is for how long a session must not have been written, to be imported by itself:
	// its agent may be at work.
	settled = time.Hour
	// again is for how long after a session was written last it is tried again, if it could
	// not be imported: it may be open in an agent, or its directory on a disk that is not there.
	again = 30 * 24 * time.Hour
)

// daily is what is remembered of importing by itself, which goes on with what the user has
// asked for. Where the file is lost or damaged, nothing is imported until the user asks again.
type daily struct {
	Home     string    `json:"home"` // where that was: a copy of a home imports nothing by itself
	Machine  string    `json:"machine"`
	Asked    []asked   `json:"asked"`
	LookedAt time.Time `json:"looked,omitzero"` // when the last import came to its end, the user's own too
	TriedAt  time.Time `json:"tried,omitzero"`  // when one was begun last, by itself
	Imported int       `json:"imported,omitempty"`
	Problem  string    `json:"problem,omitempty"`
	Fix      string    `json:"fix,omitempty"`
	// LeftOut are sessions that imports by themselves have left out, the oldest first. Told are
	// those that an import of the user's has listed so, and when they were written last.
	LeftOut []missions.ImportedSession `json:"left_out,omitempty"`
	Told    map[string]time.Time       `json:"told,omitempty"`
}

// tellsOf is the name of a session in Told.
func tellsOf(s missions.ImportedSession) string { return s.Agent + " " + s.Session }

// tell notes which sessions the user was just told of, and forgets those that are tried no more.
func (d *daily) tell(result missions.ImportResult, now time.Time) {
	if d.Told == nil {
		d.Told = map[string]time.Time{}
	}
	for _, s := range result.Sessions {
		if s.Outcome == missions.ImportLeftOut {
			d.Told[tellsOf(s)] = s.At
		}
	}
	maps.DeleteFunc(d.Told, func(_ string, at time.Time) bool { return at.Before(now.Add(-again)) })
	taken := map[string]bool{}
	for _, s := range result.Sessions {
		taken[tellsOf(s)] = true
	}
	d.LeftOut = slices.DeleteFunc(d.LeftOut, func(s missions.ImportedSession) bool { return taken[tellsOf(s)] })
}

// leaveOut notes which sessions were left out that the user has not been told of since they were
// written last. Those of before stay, though they are not looked at any more, while wanting says so.
func (d *daily) leaveOut(list []missions.ImportedSession, wanting func(missions.ImportedSession) bool) {
	noted := map[string]missions.ImportedSession{}
	for _, s := range d.LeftOut {
		if wanting(s) {
			noted[tellsOf(s)] = s
		}
	}
	for _, s := range list {
		noted[tellsOf(s)] = s
	}
	maps.DeleteFunc(noted, func(name string, s missions.ImportedSession) bool {
		at, told := d.Told[name]
		return told && !s.At.After(at)
	})
	d.LeftOut = slices.SortedFunc(maps.Values(noted), func(a, b missions.ImportedSession) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(tellsOf(a), tellsOf(b)))
	})
}

// isWanting returns what tells whether a session that was left out is still in no mission, or
// not all of it, and could come to be in one.
func (im *Importer) isWanting() func(missions.ImportedSession) bool {
	owners, adopt := im.sessionOwners(), im.CurrentConfig().Adopt
	return func(s missions.ImportedSession) bool {
		info, err := os.Stat(s.File)
		if errors.Is(err, fs.ErrNotExist) || !adopt.Adopts(s.Directory) {
			return false
		}
		owner, owned := owners[sessionKey{s.Agent, s.Session}]
		return !owned || err == nil && im.hasGrown(owner, found{Session: sessions.Session{ID: s.Session, Size: info.Size()}})
	}
}

// asked is what the user has once asked for: one for each agent, or for all, and for each
// place where they keep their sessions.
type asked struct {
	Env   map[string]string `json:"env"` // where that is
	Agent string            `json:"agent,omitempty"`
	// Since is what the user left out: no session that was written last before is taken in.
	Since time.Time `json:"since,omitzero"`
	// From is since when a session must have been written to be looked at.
	From time.Time `json:"from"`
}

func (a asked) is(b asked) bool { return a.Agent == b.Agent && maps.Equal(a.Env, b.Env) }

func (im *Importer) dailyFile() string { return im.Home.Path("importing.json") }

func (im *Importer) readDaily() (d daily) {
	text, err := disk.ReadFile(im.dailyFile())
	if err != nil || json.Unmarshal(text, &d) != nil || d.Home != im.Home.Dir || d.Machine != im.Home.Machine {
		return daily{}
	}
	return d
}

// changeDaily changes what is remembered; one process at a time does.
func (im *Importer) changeDaily(ctx context.Context, change func(*daily)) error {
	held, err := lock.Wait(ctx, im.Home.Path("locks", "importing-note"), lock.Exclusive, im.Self)
	if err != nil {
		return err
	}
	d := im.readDaily()
	change(&d)
	d.Home, d.Machine = im.Home.Dir, im.Home.Machine
	text, err := json.Marshal(d)
	if err == nil {
		err = journal.WriteVolatile(im.Home.Dir, im.dailyFile(), 0o600, append(text, '\n'))
	}
	return errors.Join(err, held.Release())
}

// remember has an import that the user asked for be done daily from now on.
func (im *Importer) remember(ctx context.Context, r missions.ImportRequest, begun time.Time, result missions.ImportResult) error {
	one := asked{Env: map[string]string{}, Agent: r.Agent, From: nextFrom(begun, result)}
	if r.Since != "" {
		var err error
		if one.Since, err = missions.ParseWhen(r.Since, begun); err != nil {
			return err
		}
	}
	names := []string{"HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"}
	for _, a := range im.Adapters {
		names = append(names, projects.AgentVariables(a)...)
	}
	for _, name := range names {
		if value := r.Caller.Env[name]; value != "" {
			one.Env[name] = value
		}
	}
	return im.changeDaily(ctx, func(d *daily) {
		d.Asked = slices.DeleteFunc(d.Asked, func(before asked) bool {
			if !one.is(before) && (one.Agent != "" || !maps.Equal(before.Env, one.Env)) {
				return false
			}
			if r.Since != "" && before.From.Before(one.From) { // what was asked for before is not narrowed
				one.From = before.From
			}
			if before.Since.Before(one.Since) {
				one.Since = before.Since
			}
			return true
		})
		d.Asked, d.LookedAt, d.Problem, d.Fix = append(d.Asked, one), im.Now(), "", ""
		d.tell(result, d.LookedAt)
	})
}

// nextFrom is since when a session must have been written for the next import: since this one
// has begun, or since the first was that is to be tried again.
func nextFrom(begun time.Time, result missions.ImportResult) time.Time {
	from := begun
	for _, s := range result.Sessions {
		if s.Outcome == missions.ImportLeftOut && s.At.Before(from) && s.At.After(begun.Add(-again)) {
			from = s.At
		}
	}
	return from
}

// isWanted reports whether the configuration lets sessions be imported by themselves. The file
// says so, as it is now; one that is broken lets nothing. A variable can only switch it off.
func (im *Importer) isWanted() bool {
	if !im.Config.Import.Daily {
		return false
	}
	config, broken, err := im.Home.ReadConfig()
	return err == nil && broken == nil && config.Import.Daily
}

func (d daily) isDue(now time.Time) bool {
	return len(d.Asked) > 0 && (d.LookedAt.After(now) || now.Sub(d.LookedAt) >= Every)
}

// sayIfCutOff has it say that the last one was begun and did not come to its end.
func (d *daily) sayIfCutOff(now time.Time) {
	if d.TriedAt.After(d.LookedAt) && now.Sub(d.TriedAt) >= rest {
		d.Problem, d.Fix = "the last one did not come to its end", "umbra import"
	}
}

// IsImportDue reports whether a process is to be started that calls ImportWhenDue. It is cheap
// enough for each idle point.
func (im *Importer) IsImportDue() bool {
	d, now := im.readDaily(), im.Now()
	return d.isDue(now) && now.Sub(d.TriedAt).Abs() >= rest && im.isWanted()
}

// NoteImportBegun notes that such a process is about to be started: another is not for a
// while, whatever becomes of this one.
func (im *Importer) NoteImportBegun(ctx context.Context) error {
	return im.changeDaily(ctx, func(d *daily) {
		now := im.Now()
		d.sayIfCutOff(now)
		d.TriedAt = now
	})
}

// ImportWhenDue imports what the user has once asked for, if that is due and no other process
// is at it. What is wrong is said by DailyImport, and tried again a day later.
func (im *Importer) ImportWhenDue(ctx context.Context) error {
	if !im.readDaily().isDue(im.Now()) || !im.isWanted() {
		return nil
	}
	held, err := lock.Try(im.Home.Path("locks", "importing"), lock.Exclusive, im.Self)
	if errors.Is(err, lock.ErrHeld) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = held.Release() }()
	if !im.readDaily().isDue(im.Now()) {
		return nil // another process has just done it
	}
	if err := im.NoteImportBegun(ctx); err != nil {
		return err
	}
	before, imported, failed := im.readDaily().Asked, 0, error(nil)
	done := slices.Clone(before)
	var out []missions.ImportedSession
	for i, one := range before {
		from, result, err := im.importAgain(ctx, one)
		done[i].From, imported, failed = from, imported+result.Count(missions.ImportNew), errors.Join(failed, err)
		out = append(out, im.leftOut(result)...)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	wanting := im.isWanting()
	err = im.changeDaily(ctx, func(d *daily) {
		for i, one := range d.Asked { // the user may have asked meanwhile
			if at := slices.IndexFunc(before, one.is); at >= 0 && before[at].From.Equal(one.From) {
				d.Asked[i].From = done[at].From
			}
		}
		d.LookedAt, d.Imported, d.Problem, d.Fix = im.Now(), d.Imported+imported, "", ""
		d.leaveOut(out, wanting)
		if failed != nil {
			said := missions.AsError(failed)
			d.Problem, d.Fix = said.Message, said.Hint
		}
	})
	return errors.Join(failed, err)
}

// importAgain imports what came since; from is since when the next import looks.
func (im *Importer) importAgain(ctx context.Context, one asked) (from time.Time, result missions.ImportResult, err error) {
	until := im.Now().Add(-settled)
	since := one.From
	if since.After(until) { // it was just now, or the clock was wrong
		since = until.Add(-again)
	}
	if since.Before(one.Since) {
		since = one.Since
	}
	r := missions.ImportRequest{Caller: missions.Caller{Cwd: im.Home.Dir, Env: one.Env}, Agent: one.Agent, Since: since.UTC().Format(time.RFC3339)}
	if result, err = im.importSessions(ctx, r, until); err != nil {
		return one.From, result, err
	}
	return nextFrom(until, result), result, nil
}

// leftOut are the sessions of a result that were left out, but for those that the configuration
// leaves out.
func (im *Importer) leftOut(result missions.ImportResult) (list []missions.ImportedSession) {
	for _, s := range result.Sessions {
		if s.Outcome == missions.ImportLeftOut && im.CurrentConfig().Adopt.Adopts(s.Directory) {
			list = append(list, s)
		}
	}
	return list
}

// DailyImport says how sessions are imported by themselves, nil if they are not.
func (im *Importer) DailyImport() *missions.DailyImport {
	d := im.readDaily()
	if len(d.Asked) == 0 || !im.isWanted() {
		return nil
	}
	d.sayIfCutOff(im.Now())
	said := missions.DailyImport{LookedAt: d.LookedAt, NextAt: d.LookedAt.Add(Every), Imported: d.Imported, LeftOut: d.LeftOut, Problem: d.Problem, Fix: d.Fix}
	for _, one := range d.Asked {
		name := one.Agent
		if name == "" {
			name = "all"
		}
		if !slices.Contains(said.Agents, name) {
			said.Agents = append(said.Agents, name)
		}
	}
	return &said
}
