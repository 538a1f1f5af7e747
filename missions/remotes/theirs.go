package remotes

import (
	"context"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/transfer"
	"github.com/umbra-vcs/umbra/missions"
)

// theirs is what a remote has of a project.
type theirs struct {
	missions map[string]theirMission
	left     []missions.LeftRef
	projects []string // the other projects that it has
	isSealed bool     // what it has of the project is encrypted
}

// theirMission is a mission on a remote. One of the two is zero where a push was cut off.
type theirMission struct{ agent, record gitstore.ID }

// readTheirs asks a remote what it has.
func (c *Carrier) readTheirs(ctx context.Context, r savedRemote, at transfer.Remote) (theirs, error) {
	t := theirs{missions: map[string]theirMission{}}
	refs, err := transfer.List(ctx, at, refsAbove)
	if err != nil {
		return t, remoteError(r, err)
	}
	t.sort(refs, r.Project)
	return t, nil
}

// sort tells the missions of a project from refs that are none.
func (t *theirs) sort(refs []transfer.Ref, project string) {
	others := map[string]bool{}
	for _, ref := range refs {
		of, rest, _ := strings.Cut(strings.TrimPrefix(ref.Name, refsAbove), "/")
		if of != project {
			if rest != "" && !others[of] {
				others[of], t.projects = true, append(t.projects, of)
			}
			continue
		}
		if ref.Name == sealedRef(project) {
			t.isSealed = true
			continue
		}
		name, err := gitstore.ParseRefName("refs/" + rest)
		m := t.missions[name.Mission()]
		switch {
		case err != nil:
			t.left = append(t.left, missions.LeftRef{Ref: ref.Name, Reason: "its name is none of Umbra's"})
			continue
		case name.Kind() == gitstore.RefAgent:
			m.agent = ref.ID
		case name.Kind() == gitstore.RefRecord:
			m.record = ref.ID
		default:
			t.left = append(t.left, missions.LeftRef{Ref: ref.Name, Reason: "its name is none of Umbra's"})
			continue
		}
		t.missions[name.Mission()] = m
	}
}

// tips are the commits that a remote has.
func (t *theirs) tips() (ids []gitstore.ID) {
	for _, m := range t.missions {
		for _, id := range []gitstore.ID{m.agent, m.record} {
			if !id.IsZero() {
				ids = append(ids, id)
			}
		}
	}
	return ids
}
