package remotes

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/seal"
	"github.com/umbra-vcs/umbra/gitstore/transfer"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// sealed is what a remote has of a project that is not to be read there: one ref, and a file for
// each push. A file is encrypted: a line that says which push it comes after, lines that say which
// refs it has moved, as a remote that is not encrypted would have them, an empty line, and a Git
// bundle of what was new.
type sealed struct {
	remote savedRemote
	key    *seal.Key
	chain  *transfer.Chain
	pushes []sealedPush // the oldest first
}

type sealedPush struct {
	link  gitstore.ID
	after gitstore.ID // the push before it, zero for the first
	refs  []transfer.Ref
}

func sealedRef(project string) string { return refsAbove + project + "/sealed" }

func chainDir(p *projects.Project, remote string) string {
	return filepath.Join(p.Dir, "sealed", remote)
}

// readProject asks a remote what it has of a project. If it is encrypted, what was pushed is
// brought to be read.
func (c *Carrier) readProject(ctx context.Context, p *projects.Project, r savedRemote, at transfer.Remote) (theirs, *sealed, error) {
	if r.KeyFile == "" || r.File {
		t, err := c.readTheirs(ctx, r, at)
		if err == nil && t.isSealed {
			err = missions.Errorf(missions.KindConflict, "umbra remote rm "+r.Name+", then umbra remote add "+r.Name+" URL --encrypt KEYFILE",
				"what the remote %s has of %s is encrypted", r.Name, r.Project)
		}
		return t, nil, err
	}
	inClear, err := c.readTheirs(ctx, r, at)
	if err != nil {
		return inClear, nil, err
	}
	if len(inClear.missions) > 0 {
		return inClear, nil, missions.Errorf(missions.KindConflict, "add a remote at another place for what is encrypted, or have them removed there: git push URL --delete REF…, for each of refs/umbra/"+r.Project+"/",
			"the remote %s has missions of %s that anybody reads there; nothing was changed there or here", r.Name, r.Project)
	}
	t := theirs{missions: map[string]theirMission{}}
	s := &sealed{remote: r}
	if s.key, err = keyIn(r.KeyFile); err != nil {
		return t, nil, err
	}
	if s.chain, err = transfer.OpenChain(ctx, chainDir(p, r.Name), sealedRef(r.Project)); err != nil {
		return t, nil, remoteError(r, err)
	}
	err = s.chain.Fetch(ctx, at)
	if errors.Is(err, transfer.ErrRewound) {
		return t, nil, missions.Errorf(missions.KindConflict, "find out why; umbra remote rm "+r.Name+" and adding it again takes it as it is now",
			"the remote %s has no longer what was there before: somebody has put an older state back, or changed it", r.Name)
	}
	if err != nil {
		return t, nil, remoteError(r, err)
	}
	links, err := s.chain.Links(ctx)
	if err != nil {
		return t, nil, err
	}
	state := map[string]gitstore.ID{}
	for _, link := range links {
		push := sealedPush{link: link}
		if n := len(s.pushes); n > 0 {
			push.after = s.pushes[n-1].link
		}
		if err := s.open(ctx, push, func(refs []transfer.Ref, _ io.Reader) error {
			push.refs = refs
			return nil
		}); err != nil {
			return t, nil, err
		}
		for _, ref := range push.refs {
			state[ref.Name] = ref.ID
		}
		s.pushes = append(s.pushes, push)
	}
	var refs []transfer.Ref
	for name, id := range state {
		refs = append(refs, transfer.Ref{Name: name, ID: id})
	}
	t.sort(refs, r.Project)
	return t, s, nil
}

// open reads a push: which refs it has moved, and its bundle.
func (s *sealed) open(ctx context.Context, push sealedPush, read func(refs []transfer.Ref, bundle io.Reader) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out, in := io.Pipe()
	copied := make(chan struct{})
	go func() {
		in.CloseWithError(s.chain.Copy(ctx, push.link, in))
		close(copied)
	}()
	err := func() error {
		text, err := s.key.Open(out)
		if err != nil {
			return err
		}
		lines := bufio.NewReader(text)
		after, refs, err := readMoved(lines)
		if err == nil && after != push.after {
			err = errors.New("it is one of before, put behind others") // by who can't read it
		}
		if err != nil {
			return err
		}
		return read(refs, lines)
	}()
	out.Close()
	cancel()
	<-copied
	switch {
	case errors.Is(err, seal.ErrOtherKey):
		return missions.Errorf(missions.KindConflict, "umbra remote rm "+s.remote.Name+", then umbra remote add "+s.remote.Name+" URL --encrypt with the right one",
			"the remote %s is not for the key in %s: %w; nothing was changed there or here", s.remote.Name, s.remote.KeyFile, err)
	case err != nil:
		return missions.Errorf(missions.KindDamaged, "have the remote put back from a backup, or push to an empty one; nothing was changed there or here",
			"push %s of the remote %s can't be read: %w", push.link.Short(), s.remote.Name, err)
	}
	return nil
}

// readMoved reads the lines that begin a push: which one it comes after, and the refs.
func readMoved(lines *bufio.Reader) (after gitstore.ID, refs []transfer.Ref, err error) {
	for first := true; ; first = false {
		line, err := lines.ReadString('\n')
		if err != nil {
			return after, nil, err
		}
		line = strings.TrimSuffix(line, "\n")
		if line == "" && !first {
			return after, refs, nil
		}
		hex, name, _ := strings.Cut(line, " ")
		id, err := gitstore.ParseID(hex)
		if err != nil {
			return after, nil, err
		}
		if first {
			after = id
			continue
		}
		refs = append(refs, transfer.Ref{Name: name, ID: id})
	}
}

// sendRefs has git push, or adds an encrypted push.
func (u *pushing) sendRefs(ctx context.Context, refs []transfer.Ref) (refused map[string]string, err error) {
	if u.sealed == nil {
		return transfer.Push(ctx, u.leaving.dir(), u.at, refs)
	}
	bundle, err := os.Create(filepath.Join(u.leaving.area.Dir(), "new.bundle"))
	if err != nil {
		return nil, err
	}
	defer bundle.Close()
	err = u.leaving.area.Bundle(ctx, refs, u.had, bundle)
	if errors.Is(err, transfer.ErrNothingNew) {
		err = bundle.Truncate(0)
	}
	if err == nil {
		_, err = bundle.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, err
	}
	var after gitstore.ID
	if n := len(u.sealed.pushes); n > 0 {
		after = u.sealed.pushes[n-1].link
	}
	var moved strings.Builder
	fmt.Fprintf(&moved, "%s\n", after)
	for _, ref := range refs {
		fmt.Fprintf(&moved, "%s %s\n", ref.ID, ref.Name)
	}
	moved.WriteString("\n")
	out, in := io.Pipe()
	go func() {
		in.CloseWithError(u.sealed.key.Seal(in, io.MultiReader(strings.NewReader(moved.String()), bundle)))
	}()
	why, err := u.sealed.chain.Push(ctx, u.at, out)
	out.Close()
	refused = map[string]string{}
	if why != "" {
		for _, ref := range refs {
			refused[ref.Name] = why + "; if somebody else has pushed meanwhile, push again"
		}
	}
	return refused, err
}

// unsealInto brings what was pushed into an area, in the order of the pushes. What is here is
// passed over, unless all is asked for: a later push may need of it what was pruned here. Whole
// is that of Fetch.
func (f *fetching) unsealInto(ctx context.Context, area *transfer.Area, all, whole bool) error {
	passed := false
	for _, push := range f.sealed.pushes {
		has, err := f.hasPush(push)
		if err != nil {
			return err
		}
		if has && !all {
			passed = true
			continue
		}
		err = f.unseal(ctx, area, push, whole)
		var failed *transfer.Error
		if errors.As(err, &failed) && passed {
			return f.unsealInto(ctx, area, true, whole)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hasPush reports whether all that a push has moved is behind what is here.
func (f *fetching) hasPush(push sealedPush) (bool, error) {
	t := theirs{missions: map[string]theirMission{}}
	t.sort(push.refs, f.remote.Project)
	for id, m := range t.missions {
		for ref, there := range map[gitstore.RefName]gitstore.ID{
			gitstore.FetchedAgentRef(f.remote.Name, id): m.agent, gitstore.FetchedRecordRef(f.remote.Name, id): m.record,
		} {
			have, err := f.project.Store.Ref(ref)
			if errors.Is(err, gitstore.ErrRefNotFound) {
				return false, nil
			}
			if err != nil {
				return false, err
			}
			if is, err := isBehind(f.project.Store, there, have); err != nil || !is {
				return false, err
			}
		}
	}
	return true, nil
}

// unseal brings one push into an area.
func (f *fetching) unseal(ctx context.Context, area *transfer.Area, push sealedPush, whole bool) error {
	file := filepath.Join(area.Dir(), "push.bundle")
	var size int64
	if err := f.sealed.open(ctx, push, func(_ []transfer.Ref, bundle io.Reader) error {
		out, err := os.OpenFile(file, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		size, err = io.Copy(out, bundle)
		return errors.Join(err, out.Close())
	}); err != nil || size == 0 {
		return err
	}
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	refs, err := transfer.BundleRefs(in)
	if err != nil {
		return err
	}
	if err := area.Fetch(ctx, transfer.Remote{URL: file}, refs, whole); err != nil {
		return missions.Errorf(missions.KindDamaged, "have the remote put back from a backup, or push to an empty one; nothing was changed there or here",
			"push %s of the remote %s can't be taken over: %w", push.link.Short(), f.remote.Name, err)
	}
	return nil
}
