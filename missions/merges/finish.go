package merges

import (
	"context"
	"fmt"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/restores"
	"github.com/umbra-vcs/umbra/missions/updates"
)

// finish ends a merge of which nothing is open, else it says what is.
func (g *Merger) finish(ctx context.Context, p *plan, r missions.MergeRequest) (missions.MergeResult, error) {
	result := p.result()
	result.Left = g.viewsOf(p.into, p.state.Ended)
	if r.Force && p.state.Check != "" && p.state.isBad(result.Tree) {
		result.Conflicts, result.Notes = p.state.withoutCheck(result.Conflicts), append(result.Notes, "the check did not pass, and --force takes it all the same")
	} else {
		sayFailedCheck(p, &result)
	}
	if len(result.Conflicts) > 0 || p.state.Check != "" && !p.state.isGood(result.Tree) && !(r.Force && p.state.isBad(result.Tree)) {
		return result, nil
	}
	failpoint.Hit("merge.planned")
	merged := p.request()
	done, err := g.apply(ctx, p.into, r, merged)
	if err != nil {
		return result, err
	}
	result.Restore = &done
	if !done.Done {
		return result, nil
	}
	failpoint.Hit("merge.applied")
	result.Done, result.Result = true, done.Snapshot
	result.Notes = append(result.Notes, done.Notes...)
	return g.end(p.into, p.state, result, r.Leave)
}

// sayFailedCheck says that a check stands in the way of a merge of which nothing else is open.
func sayFailedCheck(p *plan, result *missions.MergeResult) {
	if len(result.Conflicts) == 0 && p.state.isBad(result.Tree) {
		result.Conflicts = append(result.Conflicts, missions.MergedPath{
			Path: ".", Missions: p.names(), Severity: missions.SeverityCritical, Reason: "the check does not pass on the whole", Options: []missions.MergeTake{},
		})
	}
}

// withoutCheck are the questions that are open for another reason than the check.
func (s *state) withoutCheck(open []missions.MergedPath) (list []missions.MergedPath) {
	list = []missions.MergedPath{}
	for _, q := range open {
		if q.Severity != missions.SeverityMedium || s.Auto == missions.MergeNone {
			list = append(list, q)
		}
	}
	return list
}

func (p *plan) names() (list []string) {
	for _, from := range p.sides {
		list = append(list, from.mission.Name)
	}
	return list
}

// request is what the restore engine is to put in place.
func (p *plan) request() missions.Merge {
	m := missions.Merge{ID: p.state.ID, Names: p.names(), Ours: p.ours.String(), Tree: p.tree.String(), Modes: p.modes.Document()}
	for _, from := range p.sides {
		m.Tips = append(m.Tips, from.tip.ID.String())
	}
	return m
}

// apply makes the merged tree a mission's, by one operation that undo takes back.
func (g *Merger) apply(ctx context.Context, m *projects.Mission, r missions.MergeRequest, merged missions.Merge) (missions.RestoreResult, error) {
	return g.rooms.Handovers.RunAction(ctx, m, projects.Action{Restore: &missions.RestoreRequest{
		Caller: r.Caller, Mission: m.ID, Moment: m.Tip.ID.String(), FilesOnly: true, Force: r.Force, Merge: &merged,
	}})
}

// end tells the agent, and forgets the merge.
func (g *Merger) end(into *projects.Mission, s *state, result missions.MergeResult, leave bool) (missions.MergeResult, error) {
	for _, from := range s.Sides {
		m, err := g.LoadMissionOrRemoved(into.Project, from.Mission)
		if err == nil {
			_, err = g.rooms.Updates.Queue(into, missions.Update{
				ID: updates.MergedID(s.ID, from.Mission), From: m.Name, FromID: m.ID, Kind: missions.UpdateMerged, Text: updateText(result),
			})
		}
		if err != nil {
			result.Notes = append(result.Notes, fmt.Sprintf("the agent of %s is not told: %v", into.Name, err))
		}
	}
	failpoint.Hit("merge.told")
	return g.forget(into, s, result, leave)
}

// mostTold is how many paths an agent is told.
const mostTold = 20

// updateText is what the agent of the mission merged into is told.
func updateText(r missions.MergeResult) string {
	var paths []string
	for _, q := range r.Taken {
		if q.Severity == missions.SeverityLow {
			continue
		}
		text := q.Path.String() + " (" + q.Reason
		if q.Chosen != "" {
			text += "; chosen: " + q.Chosen
		}
		if len(paths) == mostTold {
			paths = append(paths, "and more")
			break
		}
		paths = append(paths, text+")")
	}
	text := "Its files are merged into this workspace."
	if len(paths) > 0 {
		text += " Look at: " + strings.Join(paths, ", ") + "."
	}
	return text
}

// finishIfDone ends a merge that is in place already; a step that only reads says that alone.
func (g *Merger) finishIfDone(into *projects.Mission, s *state, r missions.MergeRequest) (missions.MergeResult, bool, error) {
	op, found, err := restores.FindMerge(into, s.ID, s.BeganAt)
	if err != nil || !found {
		return missions.MergeResult{}, false, err
	}
	result := s.result(into)
	result.Done, result.Result = true, op.Snapshot.ID.String()
	for _, from := range s.Sides {
		at := missions.MergeSide{Mission: from.Mission}
		if m, err := g.LoadMissionOrRemoved(into.Project, from.Mission); err == nil {
			at.Mission = m.Name
			if id, err := gitstore.ParseID(from.Snapshot); err == nil {
				at.Address = restores.AddressOfSnapshot(m, id)
			}
		}
		result.From = append(result.From, at)
	}
	if !r.OnlyReads() {
		result, err = g.end(into, s, result, r.Leave)
	}
	return result, true, err
}

// makeScratch makes a workspace that has the merged files: a fork of the mission merged
// into, with what Git ignores, in which nobody works. Where there is one, it is what is left.
func (g *Merger) makeScratch(ctx context.Context, p *plan, r missions.MergeRequest) (missions.MergeResult, error) {
	result := p.result()
	m, err := g.loadScratch(p.into, p.state.Scratch)
	if err != nil {
		return result, err
	}
	if m != nil { // whoever asks knows whether its check runs
		result.Left = []missions.Mission{g.rooms.Presence.MissionView(m)}
		return result, nil
	}
	p.state.Scratch = g.NewID() // noted before it is there, so that no kill leaves one that nobody knows
	if err := p.state.save(p.into.Project); err != nil {
		return result, err
	}
	name, err := g.scratchName(p.into, checkSuffix)
	if err != nil {
		return result, err
	}
	made, err := g.rooms.Forks.Fork(ctx, missions.ForkRequest{
		Caller: r.Caller, From: p.into.Name, ID: p.state.Scratch, Name: name, NoWait: true, Yes: true, Force: r.Force,
	})
	if err != nil {
		return result, err
	}
	result.Scratch = &made.Missions[0]
	fork, err := g.LoadMission(p.into.Project, p.state.Scratch)
	if err != nil {
		return result, err
	}
	merged := p.request()
	if result.ProposedTree != "" {
		result.Tree, merged.Tree = result.ProposedTree, result.ProposedTree
	}
	merged.Scratch = true
	_, err = g.apply(ctx, fork, r, merged)
	return result, err
}

// mostOfName is how much of its mission's name a workspace of a merge has in its own.
const mostOfName = 52

// The suffixes of the names of workspaces that a merge makes.
const (
	checkSuffix  = "-check"
	mergerSuffix = "-merger"
)

// nameStart is what such a name begins with.
func nameStart(into *projects.Mission) string { return into.Name[:min(len(into.Name), mostOfName)] }

// scratchName is a name that no mission has: a mission of a user's may be called so.
func (g *Merger) scratchName(into *projects.Mission, suffix string) (string, error) {
	return g.rooms.Addresses.TakenNamesOf(into.Project).FreeName(nameStart(into) + suffix)
}

// loadScratch loads a mission that a merge has made, nil if it is not there any more.
func (g *Merger) loadScratch(into *projects.Mission, id string) (*projects.Mission, error) {
	if id == "" {
		return nil, nil
	}
	return g.LoadPublishedMission(into.Project, id)
}

// made are the missions that a merge has made for its check and its merger.
func (s *state) made() []string {
	ids := append([]string{s.Scratch}, s.Ended...)
	if s.Merger != nil {
		ids = append(ids, s.Merger.Mission)
	}
	return ids
}

// viewsOf are those missions that are still there, and can be read.
func (g *Merger) viewsOf(into *projects.Mission, ids []string) (list []missions.Mission) {
	for _, id := range ids {
		if m, err := g.loadScratch(into, id); m != nil && err == nil {
			list = append(list, g.rooms.Presence.MissionView(m))
		}
	}
	return list
}
