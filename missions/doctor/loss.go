package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/upkeep"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/remotes"
)

// maxPathsNamed is how many lost paths a line names; the details have all.
const maxPathsNamed = 20

// reportLost says what snapshots hold and can't be read, in a line for the files of
// each mission and one for its records. After mending it is lost for good, which is
// a problem once.
func (x *Examination) reportLost(p *projects.Project, problem upkeep.Problem) {
	x.unreadable = map[gitstore.ID]bool{}
	groups := map[lostGroup][]upkeep.Loss{}
	for _, loss := range problem.Lost {
		x.unreadable[loss.ID] = true
		g := lostGroup{loss.Mission, loss.Record, loss.Path == "" && !loss.Record, loss.Known && loss.Remote == "", loss.Remote}
		groups[g] = append(groups[g], loss)
	}
	for _, g := range slices.SortedFunc(maps.Keys(groups), lostGroup.compare) {
		mended := g.known || x.request.Fix && g.remote == ""
		said := missions.Problem{Invariant: "I1", Project: p.Name, Mission: x.holderOf(p, g), Message: g.message(groups[g], mended)}
		for _, loss := range groups[g] {
			said.Details = append(said.Details, lossDetail(loss))
		}
		switch {
		case g.known:
			x.Result.Lost = append(x.Result.Lost, said)
			continue
		case g.remote != "": // whoever it is of has it whole
			advice, fix := remotes.Anew(p, g.remote)
			said.Message, said.Fix = said.Message+advice, fix
		case x.request.Fix:
			said.Message += " (from now on umbra doctor only notes it)"
		default:
			said.Fix = problem.Fix
		}
		x.report(said, nil)
	}
}

// holderOf names the mission that has lost something.
func (x *Examination) holderOf(p *projects.Project, g lostGroup) string {
	if g.remote != "" {
		return x.Examiner.rooms.Remotes.NameOf(p, g.remote, g.mission)
	}
	if m, err := x.Examiner.LoadMissionOrRemoved(p, g.mission); err == nil {
		return m.Name
	}
	return g.mission
}

// lostGroup is what is said of in one line.
type lostGroup struct {
	mission string
	record  bool
	history bool // snapshots themselves
	known   bool // it was said before
	remote  string
}

func (g lostGroup) compare(o lostGroup) int {
	return strings.Compare(fmt.Sprint(g.remote, g.mission, g.record, g.history, g.known), fmt.Sprint(o.remote, o.mission, o.record, o.history, o.known))
}

func (g lostGroup) message(list []upkeep.Loss, mended bool) string {
	state := "can't be read"
	if mended {
		state = "lost for good"
	}
	var paths []string
	snapshots := map[gitstore.ID]bool{}
	var first, last gitstore.ID
	for _, loss := range list {
		if loss.Path != "" && !slices.Contains(paths, loss.Path) {
			paths = append(paths, loss.Path)
		}
		for i, id := range loss.Snapshots {
			if i == 0 && len(snapshots) == 0 {
				last = id
			}
			first, snapshots[id] = id, true
		}
	}
	slices.Sort(paths)
	in := ""
	switch len(snapshots) {
	case 0:
	case 1:
		in = " in snapshot " + first.Short()
	default:
		in = fmt.Sprintf(" in %d snapshots, %s to %s", len(snapshots), first.Short(), last.Short())
	}
	switch {
	case g.mission == "":
		return fmt.Sprintf("%s: %s of records that no snapshot names", state, objectsAre(len(list)))
	case g.history && in == "":
		return fmt.Sprintf("%s: snapshot %s, at which the history breaks off", state, list[0].ID.Short())
	case g.history:
		return fmt.Sprintf("%s%s: all files", state, in)
	case g.record:
		return fmt.Sprintf("%s%s: what was recorded with the files, %s", state, in, listPaths(paths))
	}
	return fmt.Sprintf("%s%s: %s", state, in, listPaths(paths))
}

// listPaths names the first of many paths.
func listPaths(paths []string) string {
	if len(paths) == 0 {
		return "all of it"
	}
	named := make([]string, 0, maxPathsNamed)
	for _, p := range paths[:min(len(paths), maxPathsNamed)] {
		named = append(named, gitstore.QuotePath(p))
	}
	text := strings.Join(named, ", ")
	if more := len(paths) - len(named); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// lossDetail is a line with everything known of a loss.
func lossDetail(loss upkeep.Loss) string {
	ids := make([]string, len(loss.Snapshots))
	for i, id := range loss.Snapshots {
		ids[i] = id.Short()
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", loss.ID, gitstore.QuotePath(loss.Path), strings.Join(ids, " ")))
}

func lossesIn(problems []upkeep.Problem) []upkeep.Loss {
	var lost []upkeep.Loss
	for _, p := range problems {
		lost = append(lost, p.Lost...)
	}
	return lost
}

// ownLosses are those of the missions of this home. What was fetched is not given up: it may
// be fetched again.
func ownLosses(lost []upkeep.Loss) []upkeep.Loss {
	return slices.DeleteFunc(slices.Clone(lost), func(l upkeep.Loss) bool { return l.Remote != "" })
}

// acceptFetched notes, once the user says to know, what is lost in files and records of missions
// that were fetched, so that pruning does not wait for it. For a lost snapshot it does wait: all
// that is before it would go, though fetching the snapshot again makes it a history once more.
// For what is there and damaged, too: git would pack none of it.
// What missions of this home have lost too is for doctor --fix.
func (x *Examination) acceptFetched(ctx context.Context, p *projects.Project, lost []upkeep.Loss) error {
	if !x.request.Known {
		return nil
	}
	own := map[gitstore.ID]bool{}
	for _, l := range ownLosses(lost) {
		own[l.ID] = true
	}
	fetched := slices.DeleteFunc(slices.Clone(lost), func(l upkeep.Loss) bool {
		return own[l.ID] || l.Path == "" || !errors.Is(l.Err, gitstore.ErrMissing)
	})
	if len(fetched) == 0 {
		return nil
	}
	return upkeep.AcceptLost(ctx, p.Store, fetched)
}

func countObjects(lost []upkeep.Loss) int {
	ids := map[gitstore.ID]bool{}
	for _, l := range lost {
		ids[l.ID] = true
	}
	return len(ids)
}

// isReportedLost reports whether an error is about an object that was reported as lost.
func (x *Examination) isReportedLost(err error) bool {
	var object *gitstore.ObjectError
	return errors.As(err, &object) && x.unreadable[object.ID]
}
