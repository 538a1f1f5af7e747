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
	project *projects.Project
	// missions are the oldest first, those in the trash too, and then those that were fetched:
	// what is here and there counts as here.
	missions []*projects.Mission
	own      map[*projects.Mission][]projects.NumberedSnapshot
	held     map[*projects.Mission]map[gitstore.ID]bool // the same, where it was asked for
}

func (sr *Searcher) readPast(p *projects.Project) (*past, []missions.Problem) {
	all, problems := sr.ProjectMissions(p)
	removed, more := sr.RemovedMissionsIn(p)
	all = append(all, removed...)
	slices.SortStableFunc(all, func(a, b *projects.Mission) int { return a.CreatedAt.Compare(b.CreatedAt) })
	fetched, others := sr.FetchedMissions(p)
	return &past{
		project: p, missions: append(all, fetched...),
		own: map[*projects.Mission][]projects.NumberedSnapshot{}, held: map[*projects.Mission]map[gitstore.ID]bool{},
	}, slices.Concat(problems, more, others)
}

// snapshotsOf are the snapshots of a mission, the newest first: its own, and inherited ones
// that no other mission has of its own, such as those of missions that are gone for good.
func (p *past) snapshotsOf(m *projects.Mission) ([]projects.NumberedSnapshot, error) {
	if list, known := p.own[m]; known || m.Tip == nil {
		return list, nil
	}
	p.own[m] = nil // histories that claim each other's snapshots end here
	var list []projects.NumberedSnapshot
	err := p.project.WalkTurns(m.Tip.ID, func(turn []projects.NumberedSnapshot) error {
		for _, s := range turn {
			if s.Mission != m.ID && p.isOfAnother(s) {
				return projects.ErrStopWalk
			}
			list = append(list, s)
		}
		return nil
	})
	p.own[m] = list
	return list, err
}

// isOfAnother reports whether the mission that took a snapshot has it.
func (p *past) isOfAnother(s projects.NumberedSnapshot) bool {
	return slices.ContainsFunc(p.missions, func(m *projects.Mission) bool {
		if m.ID != s.Mission {
			return false
		}
		list, _ := p.snapshotsOf(m) // who lists them all says what can't be read
		if p.held[m] == nil && len(list) > 0 {
			p.held[m] = make(map[gitstore.ID]bool, len(list))
			for _, one := range list {
				p.held[m][one.ID] = true
			}
		}
		return p.held[m][s.ID]
	})
}

// putFirst has what a mission shares with others count as its own.
func (p *past) putFirst(m *projects.Mission) {
	slices.SortStableFunc(p.missions, func(a, b *projects.Mission) int {
		is := func(o *projects.Mission) int {
			if o.ID == m.ID && o.Remote == m.Remote {
				return 0
			}
			return 1
		}
		return is(a) - is(b)
	})
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
