package remotes

import (
	"context"
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/transfer"
	"github.com/umbra-vcs/umbra/missions/excerpts"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// leaving is what leaves of a project's missions: they themselves, or excerpts of them without
// their conversations.
type leaving struct {
	project *projects.Project // what leaves is in its store
	excerpt *excerpts.Excerpt // nil: all of it leaves
	area    *transfer.Area    // where git finds the excerpts
	failed  map[string]error  // by mission: why there is no excerpt of it
}

// openLeaving makes what is to leave of snapshots and records, by mission. Links say what of
// the excerpts the remote has.
func (c *Carrier) openLeaving(
	ctx context.Context, p *projects.Project, noSessions bool, tips map[string][]gitstore.ID, links map[string]excerpts.Link,
) (l *leaving, err error) {
	l = &leaving{project: p, failed: map[string]error{}}
	if !noSessions {
		return l, nil
	}
	if l.excerpt, err = excerpts.New(p); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	l.project = l.excerpt.Project()
	for _, link := range links {
		if err := l.excerpt.Continue(link); err != nil {
			return nil, err
		}
	}
	for mission, ids := range tips {
		for _, id := range ids {
			if err := l.excerpt.Add(ctx, id); err != nil {
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				l.failed[mission] = err
				break
			}
		}
	}
	if err := l.excerpt.Write(ctx); err != nil {
		return nil, err
	}
	if l.area, err = transfer.Open(l.project.Store); err != nil {
		return nil, err
	}
	return l, l.area.EndAt(l.excerpt.Ends())
}

func (l *leaving) close() {
	if l.area != nil {
		l.area.Remove()
	}
	if l.excerpt != nil {
		_ = l.excerpt.Close() // a scratch whose process is gone is swept away
	}
}

// dir is the repository that git sends from.
func (l *leaving) dir() string {
	if l.area != nil {
		return l.area.Dir()
	}
	return l.project.Store.Dir()
}

// copyOf is what leaves for a commit of this home.
func (l *leaving) copyOf(commit gitstore.ID) gitstore.ID {
	if l.excerpt == nil {
		return commit
	}
	return l.excerpt.CopyOf(commit)
}

// sourceOf is the commit of this home that a commit on the other side is of. One that is not
// known stays as it is.
func (l *leaving) sourceOf(there gitstore.ID) gitstore.ID {
	if l.excerpt == nil {
		return there
	}
	if source := l.excerpt.SourceOf(there); !source.IsZero() {
		return source
	}
	return there
}

func (l *leaving) copiesOf(commits []gitstore.ID) (list []gitstore.ID) {
	for _, id := range commits {
		list = append(list, l.copyOf(id))
	}
	return list
}

// linksFor are the links that a push goes on from, none where all is copied from its beginning:
// if a mission is new to the remote, since a fork may share what was sent of another, or if the
// remote has not what was sent last, as one that was put back. What was pruned can't be copied.
func (u *pushing) linksFor(list []*projects.Mission) (map[string]excerpts.Link, error) {
	pruned, err := shadow.LastPruned(u.project.Store)
	if err != nil {
		return nil, err
	}
	links := map[string]excerpts.Link{}
	for _, m := range list {
		there, isThere := u.theirs.missions[m.ID]
		link, is := u.remote.Links[m.ID]
		switch {
		case isThere && is && (link.Has(there.agent, there.record) || !pruned.IsZero()):
			links[m.ID] = link
		case pruned.IsZero():
			return nil, nil
		}
	}
	return links, nil
}

// openExcerpts makes what is to leave, and says of what the remote has which commits here it
// is of.
func (u *pushing) openExcerpts(ctx context.Context, list []*projects.Mission) error {
	links, tips := map[string]excerpts.Link{}, map[string][]gitstore.ID{}
	if u.remote.NoSessions {
		var err error
		if links, err = u.linksFor(list); err != nil {
			return err
		}
		for _, m := range list {
			tips[m.ID] = []gitstore.ID{m.Tip.ID, m.Record}
		}
	}
	var err error
	if u.leaving, err = u.openLeaving(ctx, u.project, u.remote.NoSessions, tips, links); err != nil {
		return err
	}
	for _, id := range u.theirs.tips() {
		if _, err := u.leaving.project.Store.Commit(id); err == nil {
			u.known = append(u.known, id)
		}
	}
	u.had = slices.Clone(u.known)
	if u.sealed != nil && u.leaving.area == nil {
		if u.leaving.area, err = transfer.Open(u.project.Store); err != nil {
			u.leaving.close()
			return err
		}
	}
	for id, there := range u.theirs.missions {
		u.theirs.missions[id] = theirMission{u.leaving.sourceOf(there.agent), u.leaving.sourceOf(there.record)}
	}
	return nil
}

// noteLink notes what the remote has of a mission's excerpt.
func (u *pushing) noteLink(m *projects.Mission) error {
	if u.leaving.excerpt == nil {
		return nil
	}
	link, err := u.leaving.excerpt.LinkAt(m.Tip.ID, m.Record)
	if err != nil {
		return err
	}
	if u.remote.Links == nil {
		u.remote.Links = map[string]excerpts.Link{}
	}
	u.remote.Links[m.ID] = link
	return nil
}
