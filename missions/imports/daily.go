package imports

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/missions"
)

// Every is how long after an import by itself the next is due.
const Every = 24 * time.Hour

// daily is what is remembered of importing by itself, which goes on with what the user has
// asked for. Where the file is lost or damaged, nothing is imported until the user asks again.
type daily struct {
	Home     string    `json:"home"`            // where that was: a copy of a home imports nothing by itself
	Asked    []asked   `json:"asked"`           // one for each agent, or one for all
	LookedAt time.Time `json:"looked,omitzero"` // when the last import came to its end, the user's own too
	Imported int       `json:"imported,omitempty"`
	Problem  string    `json:"problem,omitempty"`
	Fix      string    `json:"fix,omitempty"`
}

// asked is what the user has once asked for.
type asked struct {
	Caller missions.Caller `json:"caller"` // who asked, for where the agents keep their sessions
	Agent  string          `json:"agent,omitempty"`
	// From is since when a session must have been written to be looked at: what the user left
	// out at first, by --since, is not taken in later, nor is what was there before a project
	// was erased.
	From time.Time `json:"from"`
}

func (im *Importer) dailyFile() string { return im.Home.Path("importing.json") }

func (im *Importer) readDaily() (d daily) {
	text, err := disk.ReadFile(im.dailyFile())
	if err != nil || json.Unmarshal(text, &d) != nil || d.Home != im.Home.Dir {
		return daily{}
	}
	return d
}

func (im *Importer) writeDaily(d daily) error {
	d.Home = im.Home.Dir
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return journal.WriteVolatile(im.Home.Dir, im.dailyFile(), 0o600, append(text, '\n'))
}

// remember has an import that the user asked for be done daily from now on.
func (im *Importer) remember(r missions.ImportRequest, begun time.Time, result missions.ImportResult) error {
	one := asked{Caller: r.Caller, Agent: r.Agent, From: nextFrom(begun, result)}
	one.Caller.Cwd, one.Caller.Mission = im.Home.Dir, "" // it is nobody's who works somewhere
	d := im.readDaily()
	if r.Agent == "" {
		d.Asked = nil
	}
	d.Asked = slices.DeleteFunc(d.Asked, func(before asked) bool { return before.Agent == r.Agent })
	d.Asked, d.LookedAt, d.Problem, d.Fix = append(d.Asked, one), im.Now(), "", ""
	return im.writeDaily(d)
}

// again is for how long after a session was written last it is tried again, if it could not be
// imported: it may be open in an agent, or its directory on a disk that is not there.
const again = 30 * 24 * time.Hour

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

// IsImportDue reports whether sessions are to be imported by themselves now. It is cheap enough for
// each idle point.
func (im *Importer) IsImportDue() bool {
	if !im.CurrentConfig().Import.Daily {
		return false
	}
	d, now := im.readDaily(), im.Now()
	return len(d.Asked) > 0 && (d.LookedAt.After(now) || now.Sub(d.LookedAt) >= Every)
}

// ImportWhenDue imports what the user has once asked for, if that is due and no other process
// is at it. What is wrong is said by DailyImport, and tried again a day later.
func (im *Importer) ImportWhenDue(ctx context.Context) error {
	if !im.IsImportDue() {
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
	var failed error
	done, imported := im.readDaily().Asked, 0
	for i, one := range done {
		begun, r := im.Now(), missions.ImportRequest{Caller: one.Caller, Agent: one.Agent}
		if one.From.Before(begun) { // else the clock was wrong, and nobody knows since when
			r.Since = one.From.UTC().Format(time.RFC3339)
		}
		result, err := im.importSessions(ctx, r)
		imported += result.Count(missions.ImportNew)
		if failed = cmp.Or(failed, err); err == nil {
			done[i].From = nextFrom(begun, result)
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	d := im.readDaily() // the user may have asked for more meanwhile
	for i, one := range d.Asked {
		at := slices.IndexFunc(done, func(before asked) bool { return before.Agent == one.Agent })
		if at >= 0 && done[at].From.After(one.From) {
			d.Asked[i].From = done[at].From
		}
	}
	d.LookedAt, d.Imported, d.Problem, d.Fix = im.Now(), d.Imported+imported, "", ""
	if failed != nil {
		said := missions.AsError(failed)
		d.Problem, d.Fix = said.Message, said.Hint
	}
	return errors.Join(failed, im.writeDaily(d))
}

// DailyImport says how sessions are imported by themselves, nil if they are not.
func (im *Importer) DailyImport() *missions.DailyImport {
	d := im.readDaily()
	if len(d.Asked) == 0 || !im.CurrentConfig().Import.Daily {
		return nil
	}
	said := missions.DailyImport{LookedAt: d.LookedAt, NextAt: d.LookedAt.Add(Every), Imported: d.Imported, Problem: d.Problem, Fix: d.Fix}
	for _, one := range d.Asked {
		said.Agents = append(said.Agents, cmp.Or(one.Agent, "all"))
	}
	return &said
}
