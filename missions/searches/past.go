package searches

import (
	"context"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// past is what a project's missions have been.
type past struct {
	project  *projects.Project
	missions []*projects.Mission // oldest first, those in the trash too
	own      map[string][]projects.NumberedSnapshot
}

func (sr *Searcher) readPast(p *projects.Project) (*past, []missions.Problem) {
	all, problems := sr.ProjectMissions(p)
	removed, more := sr.RemovedMissionsIn(p)
	all = append(all, removed...)
	slices.SortStableFunc(all, func(a, b *projects.Mission) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return &past{project: p, missions: all, own: map[string][]projects.NumberedSnapshot{}}, append(problems, more...)
}

// snapshotsOf are the snapshots of a mission, the newest first: its own, and inherited ones
// of missions that are gone for good.
func (p *past) snapshotsOf(m *projects.Mission) ([]projects.NumberedSnapshot, error) {
	if list, known := p.own[m.ID]; known {
		return list, nil
	}
	if m.Tip == nil {
		return nil, nil
	}
	var list []projects.NumberedSnapshot
	err := p.project.WalkTurns(m.Tip.ID, func(turn []projects.NumberedSnapshot) error {
		for _, s := range turn {
			if s.Mission != m.ID && p.has(s.Mission) {
				return projects.ErrStopWalk
			}
			list = append(list, s)
		}
		return nil
	})
	p.own[m.ID] = list
	return list, err
}

func (p *past) has(mission string) bool {
	return slices.ContainsFunc(p.missions, func(m *projects.Mission) bool { return m.ID == mission })
}

// newestIn is a time that nothing in snapshots is after. Commits count whole seconds.
func newestIn(list []projects.NumberedSnapshot) time.Time {
	var newest time.Time
	for _, s := range list {
		if at := s.At.Add(time.Second); at.After(newest) {
			newest = at
		}
	}
	return newest
}

// ownedSnapshot is a snapshot, and the mission that it counts as one of.
type ownedSnapshot struct {
	projects.NumberedSnapshot
	mission *projects.Mission
}

// allSnapshots are the snapshots of all missions, each once and the oldest first. What is
// lost of a history is left out.
func (p *past) allSnapshots(ctx context.Context) []ownedSnapshot {
	var all []ownedSnapshot
	seen := map[gitstore.ID]bool{}
	for _, m := range p.missions {
		list, err := p.snapshotsOf(m)
		if err != nil {
			notifyUnread(ctx, m, err)
		}
		for _, s := range slices.Backward(list) {
			if !seen[s.ID] {
				seen[s.ID] = true
				all = append(all, ownedSnapshot{s, m})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b ownedSnapshot) int { return a.At.Compare(b.At) })
	return all
}

// notifyUnread says that something of a mission can't be read.
func notifyUnread(ctx context.Context, m *projects.Mission, err error) {
	addresses.NotifyProblems(ctx, []missions.Problem{{Project: m.Project.Name, Mission: m.ID, Message: m.Name + " can't be searched whole: " + err.Error(), Fix: "umbra doctor"}})
}

// conversationPlaces are the places that are in conversations.
var conversationPlaces = [...]missions.SearchPlace{
	missions.SearchPrompts, missions.SearchAnswers, missions.SearchTools, missions.SearchCommands, missions.SearchOutput,
}

// sourcesOf are what is to be searched of a project.
func (s *scope) sourcesOf(ctx context.Context, p *past) ([]source, error) {
	all := p.allSnapshots(ctx)
	if len(all) == 0 {
		return nil, ctx.Err()
	}
	var sources []source
	var told map[string]bool // the sessions whose conversations can be read; nil if none is searched
	if slices.ContainsFunc(conversationPlaces[:], func(place missions.SearchPlace) bool { return s.places[place] }) {
		told = map[string]bool{}
		bySession := map[sessionID][]*run{}
		for _, r := range findRuns(ctx, p, all) {
			id := sessionID{r.meta.Agent, r.meta.SessionID}
			bySession[id] = append(bySession[id], r)
			told[id.id] = true
		}
		sources = s.conversationSources(p, bySession)
	}
	var list []projects.NumberedSnapshot
	for _, one := range all {
		list = append(list, one.NumberedSnapshot)
	}
	newest := newestIn(list)
	sources = append(sources, source{newest, func(ctx context.Context, page *page) (time.Time, error) {
		return time.Time{}, s.searchRecords(ctx, page, all, told)
	}})
	if s.places[missions.SearchPaths] || s.places[missions.SearchFiles] {
		sources = append(sources, source{newest, func(ctx context.Context, page *page) (time.Time, error) {
			return time.Time{}, s.searchTrees(ctx, page, p, all)
		}})
	}
	return sources, ctx.Err()
}
