package projects

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/missions"
)

// LoadFetchedMission reads a mission as it was fetched from a remote, which may be hostile:
// what its record says is believed only where it can do no harm. It belongs to no machine
// that is known, and has the remote in its name.
func (r *MissionReader) LoadFetchedMission(p *Project, remote, id string) (*Mission, error) {
	tip, err := p.Store.Ref(gitstore.FetchedAgentRef(remote, id))
	if err != nil {
		return nil, missionRefError(id, err)
	}
	record, err := p.Store.Ref(gitstore.FetchedRecordRef(remote, id))
	if err != nil {
		return nil, missionRefError(id, err)
	}
	return p.ReadForeignMission(remote, id, tip, record)
}

// ReadForeignMission reads a mission of a remote by its newest snapshot and record, and
// refuses one that is not what its name says or that could do harm here.
func (p *Project) ReadForeignMission(remote, id string, tip, record gitstore.ID) (*Mission, error) {
	m := &Mission{Project: p, Remote: remote, Record: record}
	wrong := func(format string, args ...any) error {
		return missions.Errorf(missions.KindDamaged, "whoever has pushed it knows more", "mission %s of %s: "+format, append([]any{id, remote}, args...)...)
	}
	var err error
	if m.Tip, err = p.Store.Snapshot(tip); err != nil {
		return nil, wrong("%w", err)
	}
	for _, at := range []gitstore.ID{record, m.Tip.Record} {
		if _, err := p.Store.Record(at); err != nil {
			return nil, wrong("its record: %w", err)
		}
	}
	if err := m.ReadRecord(""); err != nil {
		return nil, wrong("%w", err)
	}
	switch {
	case m.ID != id:
		return nil, wrong("its record is of mission %q", m.ID)
	case missions.CheckName(m.Name) != nil:
		return nil, wrong("%q can't be a name", m.Name)
	case !missions.NamePattern().MatchString(m.Agent):
		return nil, wrong("%q can't be an agent", m.Agent)
	case m.Subdir != "" && !filepath.IsLocal(m.Subdir):
		return nil, wrong("its agent works in %q, outside of the workspace", m.Subdir)
	case slices.ContainsFunc(append(slices.Clone(m.FormerSessions), m.Stored.Session), func(id string) bool { return id != "" && filepath.Base(id) != id }):
		return nil, wrong("the id of its session is a path")
	}
	if m.Lifecycle, err = missions.UnmarshalLifecycle(m.Stored.LifecycleJSON); err != nil {
		return nil, wrong("%w", err)
	}
	// What runs here is the choice of who forks it.
	m.Command, m.ResumeCommand, m.ToolName, m.EnvNames, m.FirstPrompt = []string{}, nil, "", nil, ""
	m.Config, m.ConfigFixed, m.Notes, m.Contest, m.StartedBy = "", false, nil, nil, ""
	m.Binding, m.StateSince = Binding{}, m.Stored.RecordedStateSince
	m.Name = remote + "/" + m.Name
	return m, nil
}

// FetchedMissions are the missions of a project that were fetched, the oldest first. One
// that can't be read hides no other.
func (r *MissionReader) FetchedMissions(p *Project) (found []*Mission, problems []missions.Problem) {
	list, err := p.Store.Refs(gitstore.RefFetchedAgent)
	if err != nil {
		return nil, []missions.Problem{{Invariant: "I1", Project: p.Name, Message: err.Error(), Fix: "umbra doctor"}}
	}
	for _, ref := range list.Refs {
		m, err := r.LoadFetchedMission(p, ref.Name.Remote(), ref.Name.Mission())
		if err != nil {
			problems = append(problems, missions.Problem{Invariant: "I3", Project: p.Name, Mission: ref.Name.Mission(), Message: err.Error(), Fix: "umbra fetch " + ref.Name.Remote()})
			continue
		}
		found = append(found, m)
	}
	slices.SortStableFunc(found, func(a, b *Mission) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return found, problems
}

// fetchedFormat is the version of the list of missions that were fetched.
const fetchedFormat = 1

// fetchedList are the missions of other homes that snapshots of the project are of, be it
// before a fork. They were fetched; no ref need lead to them any more.
type fetchedList struct {
	Format   int      `json:"format"`
	Missions []string `json:"missions"`
}

func (p *Project) fetchedFile() string { return filepath.Join(p.Dir, "fetched.json") }

// FetchedBefore are the ids of missions of which snapshots were fetched.
func (p *Project) FetchedBefore() (map[string]bool, error) {
	ids := map[string]bool{}
	data, err := disk.ReadFile(p.fetchedFile())
	if errors.Is(err, fs.ErrNotExist) {
		return ids, nil
	}
	var list fetchedList
	if err == nil {
		err = json.Unmarshal(data, &list)
	}
	for _, id := range list.Missions {
		ids[id] = true
	}
	return ids, err
}

// NoteFetched adds to these.
func (p *Project) NoteFetched(missions map[string]bool) error {
	ids, err := p.FetchedBefore()
	if err != nil {
		return fmt.Errorf("read %s: %w", p.fetchedFile(), err)
	}
	before := len(ids)
	maps.Copy(ids, missions)
	if len(ids) == before {
		return nil
	}
	data, err := json.MarshalIndent(fetchedList{Format: fetchedFormat, Missions: slices.Sorted(maps.Keys(ids))}, "", " ")
	if err != nil {
		return err
	}
	return journal.WriteFile(p.fetchedFile(), 0o600, append(data, '\n'))
}

// CheckOwn refuses to change a mission that was fetched.
func (m *Mission) CheckOwn() error {
	return missions.Mission{Name: m.Name, Remote: m.Remote}.CheckOwn()
}
