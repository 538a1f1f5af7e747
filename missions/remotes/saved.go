package remotes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/transfer"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/excerpts"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// savedFormat is the version of a project's remotes.
const savedFormat = 1

// saved are the remotes of a project, as in its directory.
type saved struct {
	Format  int           `json:"format"`
	Remotes []savedRemote `json:"remotes"`
	// Allowed are findings that are no secrets, by the words of the user: RULE:FINGERPRINT.
	Allowed []string `json:"allowed,omitempty"`
	// Sent is what remotes have that were removed.
	Sent []sentSnapshot `json:"sent,omitempty"`
}

// allow remembers findings that are no secrets, whatever becomes of what is to leave.
func (s *saved) allow(p *projects.Project, list []string) error {
	if len(list) == 0 {
		return nil
	}
	s.Allowed = append(s.Allowed, list...)
	slices.Sort(s.Allowed)
	s.Allowed = slices.Compact(s.Allowed)
	return s.write(p)
}

type savedRemote struct {
	Name    string `json:"name"`
	URL     string `json:"url"` // with its password, if it has one
	Project string `json:"project"`
	File    bool   `json:"file,omitempty"` // it is a file that was imported
	// Pushed has for each mission the snapshot that the remote had after the last push.
	Pushed map[string]gitstore.ID `json:"pushed,omitempty"`
	// Sending has what a push sends, until its end: the remote may have it, or not.
	Sending map[string]gitstore.ID `json:"sending,omitempty"`
	// NoSessions says that no conversation leaves for it; Links what it has of the missions then.
	NoSessions bool                     `json:"no_sessions,omitempty"`
	Links      map[string]excerpts.Link `json:"links,omitempty"`
	// KeyFile has the key that what leaves is encrypted with, "" if it is not.
	KeyFile string `json:"encrypt,omitempty"`
	// Auto is how missions are pushed there by themselves, nil if they are not.
	Auto *automatic `json:"auto,omitempty"`
}

// withoutWords says of a remote what is kept from it.
func (r savedRemote) withoutWords() (words string) {
	if r.NoSessions {
		words = ", without conversations"
	}
	if r.KeyFile != "" {
		words += ", encrypted by " + r.KeyFile
	}
	return words
}

// has are the snapshots that a remote has or may have, each with its mission.
func (r savedRemote) has() iter.Seq2[string, gitstore.ID] {
	return func(yield func(string, gitstore.ID) bool) {
		for _, list := range []map[string]gitstore.ID{r.Pushed, r.Sending} {
			for mission, id := range list {
				if !yield(mission, id) {
					return
				}
			}
		}
	}
}

func readSaved(p *projects.Project) (saved, error) {
	s := saved{Format: savedFormat}
	data, err := disk.ReadFile(p.RemotesFile())
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	err = json.Unmarshal(data, &s)
	if err == nil && s.Format != savedFormat {
		err = fmt.Errorf("its format is %d, not %d", s.Format, savedFormat)
	}
	if err != nil {
		return s, missions.Errorf(missions.KindDamaged, "mend it, or remove it and add the remotes again", "%s can't be read: %w", p.RemotesFile(), err)
	}
	return s, nil
}

// PushedTo are the remotes that have a path, and the refs there that lead to it: of missions of
// this home, by the snapshot that was pushed, and of those that were fetched, by remote.
func PushedTo(p *projects.Project, leads func(mission string, pushed gitstore.ID) bool, fetched map[string][]string) ([]missions.PushedTo, error) {
	s, err := readSaved(p)
	if err != nil {
		return nil, err
	}
	var list []missions.PushedTo
	for _, r := range s.Remotes {
		there := slices.Clone(fetched[r.Name])
		for mission, id := range r.has() {
			if leads(mission, id) {
				there = append(there, mission)
			}
		}
		if len(there) == 0 {
			continue
		}
		one := missions.PushedTo{Remote: r.Name, Fetched: len(fetched[r.Name]) > 0}
		if r.File {
			one.File = r.URL
		} else if r.KeyFile != "" {
			one.Refs = []string{sealedRef(r.Project)}
		} else {
			one.Refs = refsOf(r.Project, there)
		}
		list = append(list, one)
	}
	return list, nil
}

// refsOf are the refs that missions have on a remote.
func refsOf(project string, ids []string) (refs []string) {
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		refs = append(refs, remoteRef(project, gitstore.AgentRef(id)), remoteRef(project, gitstore.RecordRef(id)))
	}
	return refs
}

func (s saved) write(p *projects.Project) error {
	data, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	return journal.WriteFile(p.RemotesFile(), 0o600, append(data, '\n'))
}

// find is the remote with a name, "" for the only one.
func (s saved) find(name string) (*savedRemote, error) {
	var names []string
	for i, r := range s.Remotes {
		if r.Name == name || name == "" && len(s.Remotes) == 1 {
			return &s.Remotes[i], nil
		}
		names = append(names, r.Name)
	}
	switch {
	case len(names) == 0:
		return nil, missions.Errorf(missions.KindNotFound, "umbra remote add NAME URL", "this project has no remote")
	case name == "":
		return nil, missions.Errorf(missions.KindAmbiguous, "name one of them", "this project has the remotes %s", strings.Join(names, ", "))
	}
	return nil, missions.Errorf(missions.KindNotFound, "umbra remote ls lists them; for one mission: umbra push REMOTE MISSION", "this project has no remote %q", name)
}

// findRepository is find, where "" is the only one that is no file which was imported.
func (s saved) findRepository(name string) (*savedRemote, error) {
	if name != "" {
		return s.find(name)
	}
	repositories := saved{Remotes: slices.DeleteFunc(slices.Clone(s.Remotes), func(r savedRemote) bool { return r.File })}
	one, err := repositories.find("")
	if err != nil {
		return nil, err
	}
	return s.find(one.Name)
}

// AddRemote notes a remote. It is not asked for anything yet. A directory that has no
// project becomes one: whoever fetches needs no mission.
func (c *Carrier) AddRemote(ctx context.Context, r missions.AddRemoteRequest) (missions.Remote, error) {
	at, err := c.addresses.LocateCaller(r.Caller)
	if err != nil {
		return missions.Remote{}, err
	}
	if err := missions.CheckName(r.Name); err != nil {
		return missions.Remote{}, err
	}
	url, err := c.addressOf(at, r)
	if err != nil {
		return missions.Remote{}, err
	}
	keyFile, err := c.keyPath(at, r)
	if err != nil {
		return missions.Remote{}, err
	}
	p := at.Project
	if p == nil {
		if p, err = c.FindOrCreateProject(ctx, at.Directory); err != nil {
			return missions.Remote{}, err
		}
	}
	one := savedRemote{Name: r.Name, URL: url, Project: r.Project, NoSessions: r.NoSessions, KeyFile: keyFile}
	if one.Project == "" {
		one.Project = p.Name
	}
	if err := checkProjectName(one.Project); err != nil {
		return missions.Remote{}, err
	}
	made := false
	err = c.withProject(ctx, p, func() error {
		s, err := readSaved(p)
		if err != nil {
			return err
		}
		if have, err := s.find(r.Name); err == nil && have.Name == r.Name {
			if have.URL == one.URL && have.Project == one.Project && have.NoSessions == one.NoSessions && have.KeyFile == one.KeyFile {
				return nil
			}
			return missions.Errorf(missions.KindConflict, "umbra remote rm "+r.Name+", or choose another name",
				"there is a remote %s already: %s, project %s%s", r.Name, transfer.WithoutPassword(have.URL), have.Project, have.withoutWords())
		}
		if keyFile != "" {
			if made, err = readyKey(keyFile); err != nil {
				return err
			}
		}
		s.Remotes = append(s.Remotes, one)
		if err := s.write(p); err != nil && made {
			return missions.Errorf(missions.KindFailed, "the same command again takes it", "a key was made, %s, and the remote not noted: %w", keyFile, err)
		} else if err != nil {
			return err
		}
		return nil
	})
	if err != nil {
		return missions.Remote{}, err
	}
	view := c.remoteView(p, one)
	view.KeyMade = made
	return view, nil
}

// checkProjectName refuses what can't be a part of a ref.
func checkProjectName(name string) error {
	err := gitstore.PinRef(name).Validate()
	if err != nil {
		return missions.Errorf(missions.KindUsage, "use letters, digits, '.', '_' and '-'", "%q can't be the name of a project on a remote", name)
	}
	return nil
}

// RemoveRemote forgets a remote, and what was fetched from it. The remote itself stays as
// it is, and forks of its missions too.
func (c *Carrier) RemoveRemote(ctx context.Context, r missions.RemoteRequest) (missions.Remote, error) {
	p, err := c.project(r.Caller)
	if err != nil {
		return missions.Remote{}, err
	}
	var gone savedRemote
	err = c.withProject(ctx, p, func() error {
		s, err := readSaved(p)
		if err != nil {
			return err
		}
		one, err := s.find(r.Name)
		if err != nil {
			return err
		}
		gone = *one
		for _, kind := range []gitstore.RefKind{gitstore.RefFetchedAgent, gitstore.RefFetchedRecord} {
			list, err := p.Store.Refs(kind)
			if err != nil {
				return err
			}
			for _, ref := range list.Refs {
				if ref.Name.Remote() != gone.Name {
					continue
				}
				if err := p.Store.DeleteRef(ctx, ref.Name, ref.ID); err != nil {
					return err
				}
			}
		}
		s.forget(p.Store, gone.Name)
		if err := s.write(p); err != nil || gone.KeyFile == "" || gone.File {
			return err
		}
		return os.RemoveAll(chainDir(p, gone.Name)) // a copy of what the remote has
	})
	if err != nil {
		return missions.Remote{}, err
	}
	return missions.Remote{Name: gone.Name, URL: transfer.WithoutPassword(gone.URL), Project: gone.Project, Missions: []missions.TransferMission{}}, nil
}

// Remotes lists the remotes of the caller's project. It asks none of them.
func (c *Carrier) Remotes(_ context.Context, r missions.RemoteRequest) ([]missions.Remote, error) {
	at, err := c.addresses.LocateCaller(r.Caller)
	if err != nil {
		return nil, err
	}
	list := []missions.Remote{}
	if at.Project == nil {
		return list, nil
	}
	s, err := readSaved(at.Project)
	if err != nil {
		return nil, err
	}
	for _, one := range s.Remotes {
		if r.Name == "" || r.Name == one.Name {
			list = append(list, c.remoteView(at.Project, one))
		}
	}
	if _, err := s.find(r.Name); r.Name != "" && err != nil {
		return nil, err
	}
	return list, nil
}

// remoteView is a remote as the user sees it: the missions of this home that were pushed, by
// whether there is more of them by now, and those that were fetched.
func (c *Carrier) remoteView(p *projects.Project, r savedRemote) missions.Remote {
	v := missions.Remote{Name: r.Name, URL: transfer.WithoutPassword(r.URL), Project: r.Project, File: r.File, NoSessions: r.NoSessions, KeyFile: r.KeyFile, Missions: []missions.TransferMission{}}
	if r.Auto != nil && r.Auto.isOf(c.Home) {
		v.Auto = r.Auto.view(p, r.Name)
	}
	for _, id := range slices.Sorted(maps.Keys(r.Pushed)) {
		m, err := c.LoadMission(p, id)
		if err != nil {
			continue // it was removed
		}
		one := missions.TransferMission{Mission: m.Name, ID: id, State: missions.TransferSame}
		if m.Tip.ID != r.Pushed[id] {
			one.State = missions.TransferAhead
		}
		v.Missions = append(v.Missions, one)
	}
	fetched, _ := c.FetchedMissions(p) // what can't be read, umbra fetch says
	for _, m := range fetched {
		if m.Remote == r.Name {
			v.Missions = append(v.Missions, missions.TransferMission{Mission: m.Name, ID: m.ID, State: missions.TransferFetched})
		}
	}
	return v
}
