// Package retention decides which snapshots of a project stay when old ones are pruned,
// and why. It is pure: it opens no file and asks no clock.
package retention

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
)

// Policy says how much of a history stays. It counts turns. A turn stays whole or goes
// whole, so that the addresses of its snapshots stay what they are. A snapshot outside of
// turns counts as a turn of its own.
type Policy struct {
	KeepLast   int           // so many of the newest turns
	KeepWithin time.Duration // turns that ended no longer ago
	KeepHourly int           // the newest turn of so many hours that have one
	KeepDaily  int           // and of so many days
}

// Reason is why a snapshot stays.
type Reason string

// The reasons. The last four are the policy's; the others hold under each.
const (
	Tip       Reason = "tip"        // a mission's newest snapshot
	Start     Reason = "start"      // a mission's first one: what its work is held against
	ForkPoint Reason = "fork_point" // a mission was forked there
	Pinned    Reason = "pin"
	Undo      Reason = "undo"         // an operation, and what takes it back
	Said      Reason = "conversation" // the newest snapshot with one of the mission's sessions
	Unpushed  Reason = "unpushed"     // it came after what a remote has of the mission
	InUse     Reason = "in_use"       // an operation, a merge, a landing or another file of the home names it
	Shared    Reason = "shared"       // it is in the history of another mission, which is not pruned
	Merged    Reason = "merged"       // a promotion or merge that stays took it in
	SameTurn  Reason = "turn"         // another snapshot of its turn stays
	Last      Reason = "last"
	Within    Reason = "within"
	Hourly    Reason = "hourly"
	Daily     Reason = "daily"
)

// Snapshot is what the decision needs of a snapshot.
type Snapshot struct {
	ID gitstore.ID
	// Parents are its parents. The first is the snapshot before it; where a history has
	// been cut, the newest one that is left.
	Parents []gitstore.ID
	Mission string
	Turn    int
	Session string // "" if it has no conversation
	At      time.Time
	// Operation marks a restore, promotion, merge, undo or redo. Needs are the snapshots
	// that it takes to undo or redo it.
	Operation bool
	Needs     []gitstore.ID
}

// Before is the snapshot before it, zero if there is none.
func (s Snapshot) Before() gitstore.ID {
	if len(s.Parents) == 0 {
		return gitstore.ID{}
	}
	return s.Parents[0]
}

// History is the history of a mission, from its newest snapshot back.
type History struct {
	Mission string
	Tip     gitstore.ID
	Policy  Policy
	// Whole says that all of it stays: nobody asked for it to be pruned.
	Whole bool
	// Pushed are snapshots that remotes have. All that came after one of them stays, since
	// Git pushes no history that was cut there.
	Pushed map[gitstore.ID]bool
}

// Claim is a snapshot that somebody relies on, whatever the policy.
type Claim struct {
	ID     gitstore.ID
	Reason Reason
}

// Material is all that is known of a project. Snapshots must have every snapshot that
// a history leads to.
type Material struct {
	Snapshots map[gitstore.ID]Snapshot
	Histories []History
	Claims    []Claim
}

// Plan is what a project's snapshots become.
type Plan struct {
	// Kept are the snapshots that stay, each with the reasons. All others go.
	Kept map[gitstore.ID][]Reason
	// Cuts are the snapshots that stay though the one before them goes: for each the
	// newest one that is left before it, zero if none is.
	Cuts map[gitstore.ID]gitstore.ID
}

// ErrNothingKept is the error where nothing would stay: then nothing is to go.
var ErrNothingKept = errors.New("no mission was found whose snapshots would stay")

// Decide says what stays at a moment. A history that can't be followed is an error, since
// what lies behind the gap might be relied on.
func Decide(m Material, now time.Time) (Plan, error) {
	d := decision{Material: m, kept: map[gitstore.ID][]Reason{}, turns: map[turn][]gitstore.ID{}}
	for id, s := range m.Snapshots {
		d.turns[s.turn()] = append(d.turns[s.turn()], id)
	}
	for _, h := range m.Histories {
		line, err := d.line(h.Tip)
		if err != nil {
			return Plan{}, fmt.Errorf("the history of mission %s: %w", h.Mission, err)
		}
		d.keepAlways(h, line)
		if !h.Whole {
			d.keepByPolicy(h.Policy, line, now)
			continue
		}
		for _, s := range line {
			d.keep(s.ID, Shared)
		}
	}
	for _, c := range m.Claims {
		if _, known := m.Snapshots[c.ID]; known {
			d.keep(c.ID, c.Reason)
		}
	}
	if len(m.Histories) == 0 || len(d.kept) == 0 {
		return Plan{}, ErrNothingKept
	}
	d.follow()
	cuts, err := d.cuts()
	return Plan{Kept: d.kept, Cuts: cuts}, err
}

type decision struct {
	Material
	kept  map[gitstore.ID][]Reason
	todo  []gitstore.ID // kept, and not followed yet
	turns map[turn][]gitstore.ID
}

// turn names a turn. Numbers are never used again, so a mission and a number name one; a
// snapshot outside of turns is named by itself.
type turn struct {
	mission string
	number  int
	outside gitstore.ID
}

func (s Snapshot) turn() turn {
	if s.Turn == 0 {
		return turn{outside: s.ID}
	}
	return turn{mission: s.Mission, number: s.Turn}
}

// line lists a history by first parents, the newest snapshot first.
func (d *decision) line(tip gitstore.ID) (line []Snapshot, err error) {
	for id := tip; !id.IsZero(); {
		s, known := d.Snapshots[id]
		if !known || len(line) > len(d.Snapshots) {
			return nil, fmt.Errorf("snapshot %s is not known", id)
		}
		line, id = append(line, s), s.Before()
	}
	return line, nil
}

func (d *decision) keep(id gitstore.ID, why Reason) {
	had := d.kept[id]
	if slices.Contains(had, why) {
		return
	}
	if len(had) == 0 {
		d.todo = append(d.todo, id)
	}
	if len(had) == 1 && had[0] == SameTurn {
		had = nil // that is no reason of its own
	}
	d.kept[id] = append(had, why)
}

// keepAlways keeps of a mission what no policy takes.
func (d *decision) keepAlways(h History, line []Snapshot) {
	for i := len(line) - 1; i >= 0; i-- {
		if !h.Pushed[line[i].ID] {
			continue
		}
		for _, s := range line[:i+1] {
			d.keep(s.ID, Unpushed)
		}
		break
	}
	sessions := map[string]bool{"": true}
	for i, s := range line {
		if i == 0 {
			d.keep(s.ID, Tip)
		}
		if s.Mission != h.Mission {
			continue
		}
		if !sessions[s.Session] {
			sessions[s.Session] = true
			d.keep(s.ID, Said)
		}
		if s.Operation {
			d.keep(s.ID, Undo)
		}
		if i+1 == len(line) || line[i+1].Mission != h.Mission {
			d.keep(s.ID, Start)
			if i+1 < len(line) {
				d.keep(line[i+1].ID, ForkPoint)
			}
		}
	}
}

// keepByPolicy keeps turns. Those before a fork point count in the fork's history too: its
// user can go back to them.
func (d *decision) keepByPolicy(p Policy, line []Snapshot, now time.Time) {
	hours, days := map[string]bool{}, map[string]bool{}
	n := -1
	for _, run := range runs(line) {
		ended := run[0].At.In(now.Location())
		if ended.After(now.Truncate(time.Second)) { // since it was decided: it takes no other's place
			for _, s := range run {
				d.keep(s.ID, Within)
			}
			continue
		}
		n++
		newestOf := func(seen map[string]bool, layout string, limit int) bool {
			at := ended.Format(layout)
			if seen[at] || len(seen) >= limit {
				return false
			}
			seen[at] = true
			return true
		}
		why := []Reason{}
		if n < p.KeepLast {
			why = append(why, Last)
		}
		if p.KeepWithin > 0 && now.Sub(ended) <= p.KeepWithin {
			why = append(why, Within)
		}
		if newestOf(hours, "2006-01-02 15", p.KeepHourly) {
			why = append(why, Hourly)
		}
		if newestOf(days, "2006-01-02", p.KeepDaily) {
			why = append(why, Daily)
		}
		for _, s := range run {
			for _, reason := range why {
				d.keep(s.ID, reason)
			}
		}
	}
}

// runs splits a history into what it has of each turn, newest first.
func runs(line []Snapshot) (list [][]Snapshot) {
	for i, s := range line {
		if i > 0 && s.turn() == line[i-1].turn() {
			list[len(list)-1] = append(list[len(list)-1], s)
			continue
		}
		list = append(list, []Snapshot{s})
	}
	return list
}

// follow keeps what the kept snapshots need.
func (d *decision) follow() {
	for len(d.todo) > 0 {
		s := d.Snapshots[d.todo[0]]
		d.todo = d.todo[1:]
		for _, id := range d.turns[s.turn()] {
			if d.kept[id] == nil {
				d.keep(id, SameTurn)
			}
		}
		for _, id := range s.Needs {
			if _, known := d.Snapshots[id]; known {
				d.keep(id, Undo)
			}
		}
		if len(s.Parents) < 2 {
			continue
		}
		// Git's boundary takes all parents of a commit away: this one is to have none.
		for _, id := range s.Parents {
			if _, known := d.Snapshots[id]; known {
				d.keep(id, Merged)
			}
		}
	}
}

// cuts finds where kept snapshots follow dropped ones.
func (d *decision) cuts() (map[gitstore.ID]gitstore.ID, error) {
	cuts := map[gitstore.ID]gitstore.ID{}
	for id := range d.kept {
		before := d.Snapshots[id].Before()
		if before.IsZero() || d.kept[before] != nil {
			continue
		}
		for steps := 0; !before.IsZero() && d.kept[before] == nil; steps++ {
			s, known := d.Snapshots[before]
			if !known || steps > len(d.Snapshots) {
				return nil, fmt.Errorf("snapshot %s is not known", before)
			}
			before = s.Before()
		}
		cuts[id] = before
	}
	return cuts, nil
}
