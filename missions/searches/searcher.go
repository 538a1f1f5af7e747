// Package searches finds the moments at which something was said or done: in
// conversations, in the messages of snapshots, in the names and the content of files. It
// changes nothing but its cache.
package searches

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/searches/trigrams"
)

// Searcher searches.
type Searcher struct {
	*projects.Desk
	addresses     *addresses.Finder
	conversations *conversations.Library
}

// New makes a Searcher.
func New(d *projects.Desk, a *addresses.Finder, c *conversations.Library) *Searcher {
	return &Searcher{Desk: d, addresses: a, conversations: c}
}

// mostHits is how many hits one request gives at most.
const mostHits = 10_000

// Search finds moments, the newest first. What can't be read is left out, with a notice.
func (sr *Searcher) Search(ctx context.Context, r missions.SearchRequest) (missions.SearchResult, error) {
	p := &page{after: r.After, limit: min(cmp.Or(max(r.Limit, 0), missions.SearchPage), mostHits)}
	var err error
	if p.query, err = parseQuery(r.Query); err != nil {
		return missions.SearchResult{}, err
	}
	if r.Since != "" {
		if p.since, err = missions.ParseWhen(r.Since, sr.Now()); err != nil {
			return missions.SearchResult{}, err
		}
	}
	s, err := sr.newScope(ctx, r)
	if err != nil {
		return missions.SearchResult{}, err
	}
	s.grams = p.query.grams()
	defer s.closeIndexes()
	var sources []source
	for _, past := range s.pasts {
		more, err := s.sourcesOf(ctx, past)
		if err != nil {
			return missions.SearchResult{}, err
		}
		sources = append(sources, more...)
	}
	if err := p.fill(ctx, sources); err != nil {
		return missions.SearchResult{}, err
	}
	return missions.SearchResult{Hits: append([]missions.SearchHit{}, p.hits...), More: p.more}, nil
}

// scope is where a request is to be looked for.
type scope struct {
	*Searcher
	pasts   []*past
	mission *projects.Mission // the only one that is meant; nil for all
	agent   string
	places  map[missions.SearchPlace]bool
	names   map[string]int // how many missions have a name, those in the trash left out
	here    *projects.Project
	grams   []trigrams.Gram // what a text must have
	indexes map[*projects.Project]*trigrams.Index
	chunks  records.Chunks // of conversations
}

// index is the index of a project, which is opened where it is needed first.
func (s *scope) index(p *projects.Project) *trigrams.Index {
	x := s.indexes[p]
	if x == nil {
		x = trigrams.Open(indexDir(p), readerVersion())
		x.Ask(s.grams)
		s.indexes[p] = x
	}
	return x
}

func (s *scope) closeIndexes() {
	for _, x := range s.indexes {
		_ = x.Close() // it was only read
	}
}

// newScope reads which missions there are.
func (sr *Searcher) newScope(ctx context.Context, r missions.SearchRequest) (*scope, error) {
	s := &scope{Searcher: sr, agent: r.Agent, places: map[missions.SearchPlace]bool{}, names: map[string]int{}, indexes: map[*projects.Project]*trigrams.Index{}}
	for _, place := range r.In {
		if !slices.Contains(missions.SearchPlaces[:], place) {
			return nil, missions.Errorf(missions.KindUsage, "use prompts, answers, tools, commands, output, messages, paths or files", "--in: nothing is searched that is called %q", place)
		}
		s.places[place] = true
	}
	if len(r.In) == 0 {
		for _, place := range missions.SearchPlaces {
			s.places[place] = place != missions.SearchFiles && place != missions.SearchOutput
		}
	}
	at, err := sr.addresses.LocateCaller(r.Caller)
	if err != nil {
		return nil, err
	}
	s.here = at.Project
	all, problems := sr.AllProjects()
	addresses.NotifyProblems(ctx, problems)
	for _, p := range all {
		past, problems := sr.readPast(p)
		addresses.NotifyProblems(ctx, problems)
		s.pasts = append(s.pasts, past)
		for _, m := range past.missions {
			if !m.InTrash {
				s.names[m.Name]++
			}
		}
	}
	if r.Mission == "" {
		return s, nil
	}
	m, err := s.findMission(ctx, r)
	if err != nil {
		return nil, err
	}
	s.mission = m
	s.pasts = slices.DeleteFunc(s.pasts, func(p *past) bool { return p.project.ID != m.Project.ID })
	for _, p := range s.pasts {
		p.putFirst(m)
	}
	return s, nil
}

// findMission finds the mission that is meant, in the trash too.
func (s *scope) findMission(ctx context.Context, r missions.SearchRequest) (*projects.Mission, error) {
	m, err := s.addresses.FindMission(ctx, r.Caller, r.Mission, addresses.InAnyProject)
	if err == nil {
		return m, nil
	}
	var removed []*projects.Mission
	for _, past := range s.pasts {
		for _, m := range past.missions {
			if m.InTrash && (m.Name == r.Mission || m.ID == r.Mission) {
				removed = append(removed, m)
			}
		}
	}
	if len(removed) != 1 {
		return nil, err
	}
	return removed[0], nil
}

// isMeant reports whether hits of a mission are.
func (s *scope) isMeant(m *projects.Mission) bool {
	return s.mission == nil || s.mission.ID == m.ID && s.mission.Remote == m.Remote
}

// hitAt is a hit at a snapshot.
func (s *scope) hitAt(m *projects.Mission, at projects.NumberedSnapshot, when time.Time, in missions.SearchPlace) missions.SearchHit {
	hit := missions.SearchHit{
		Snapshot: at.ID.String(), Mission: m.Name, Project: m.Project.Name, Agent: m.Agent, Turn: at.Turn, At: when.UTC(), In: in, Removed: m.InTrash,
	}
	here := s.here != nil && s.here.ID == m.Project.ID
	switch others := s.names[m.Name]; {
	case m.Remote != "" && others > 1:
		hit.Address = at.Address(m.Remote + "/" + m.ID)
	case m.InTrash && others > 0, !m.InTrash && others > 1 && !here, !here && s.here != nil && s.isNameHere(m.Name):
		hit.Address = at.ID.Short()
	default:
		hit.Address = at.Address(m.Name)
	}
	return hit
}

// isNameHere reports whether a mission of the caller's own project has a name.
func (s *scope) isNameHere(name string) bool {
	for _, past := range s.pasts {
		if past.project.ID == s.here.ID {
			return slices.ContainsFunc(past.missions, func(m *projects.Mission) bool { return m.Name == name && !m.InTrash })
		}
	}
	return false
}
