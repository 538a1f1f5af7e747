package remotes

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/seal"
	"github.com/umbra-vcs/umbra/gitstore/transfer"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// Export writes moments of missions, with all before them, to a file: a Git bundle. An export
// that is there is replaced when the new one is whole, and no other file is.
func (c *Carrier) Export(ctx context.Context, r missions.ExportRequest) (missions.Transfer, error) {
	result := missions.Transfer{Missions: []missions.TransferMission{}}
	if err := checkAllowed(r.Allow); err != nil {
		return result, err
	}
	if r.File == "" || len(r.Moments) == 0 {
		return result, missions.Errorf(missions.KindUsage, "umbra export MOMENT… -o FILE", "an export needs moments and a file")
	}
	file := projects.ResolveLinks(projects.AbsolutePath(r.Caller.Cwd, r.File))
	if err := checkReplaceable(file); err != nil {
		return result, err
	}
	result.Remote = file
	key, err := c.exportKey(r, file)
	if err != nil {
		return result, err
	}
	moments, err := c.momentsOf(ctx, r)
	if err != nil {
		return result, err
	}
	p := moments[0].Project
	if err := checkProjectName(p.Name); err != nil {
		return result, err
	}
	err = c.withProject(ctx, p, func() error {
		s, err := readSaved(p)
		if err != nil {
			return err
		}
		if err := s.allow(p, r.Allow); err != nil {
			return err
		}
		var list []*projects.Mission
		for _, at := range moments {
			list = append(list, at.Mission)
		}
		look, err := c.newSearch(p, r.Caller, s.Allowed, list)
		if err != nil {
			return err
		}
		out, err := c.openMoments(ctx, p, r.NoSessions, moments)
		if err != nil {
			return err
		}
		defer out.close()
		look.of(out)
		result.NoSessions = r.NoSessions
		return c.export(ctx, p, key, moments, look, &result)
	})
	return result, err
}

// checkReplaceable refuses to write an export over what is none: a key, or something of the user's.
func checkReplaceable(file string) error {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return nil // it is not there, or the write says why
	case !info.Mode().IsRegular():
		return missions.Errorf(missions.KindUsage, "umbra export MOMENT… -o FILE", "%s is there, and is no file", file)
	case info.Size() == 0:
		return nil
	}
	f, err := disk.Open(file)
	if err == nil {
		defer f.Close()
		head := make([]byte, headBytes)
		n, _ := io.ReadFull(f, head)
		if transfer.IsBundle(head[:n]) || seal.Begins(head[:n]) {
			return nil
		}
	}
	return missions.Errorf(missions.KindConflict, "name another file", "%s is there, and is no export that could be replaced", file)
}

// momentsOf are the moments of a request, one of each mission at most, in one project.
func (c *Carrier) momentsOf(ctx context.Context, r missions.ExportRequest) (list []addresses.ResolvedMoment, err error) {
	for _, text := range r.Moments {
		at, err := c.addresses.FindMoment(ctx, r.Caller, text, addresses.InAnyProject)
		if err != nil {
			return nil, err
		}
		for _, before := range list {
			if before.ID == at.ID {
				return nil, missions.Errorf(missions.KindUsage, "name the later one", "%s was named twice: a moment has all before it", at.Name)
			}
			if before.Project.ID != at.Project.ID {
				return nil, missions.Errorf(missions.KindUsage, "export each to a file of its own", "%s and %s are of two projects", before.Name, at.Name)
			}
		}
		list = append(list, at)
	}
	return list, nil
}

// tipsAt are the snapshot and the record of a moment.
func tipsAt(at addresses.ResolvedMoment) []gitstore.ID {
	if at.Snapshot.ID == at.Tip.ID {
		return []gitstore.ID{at.Tip.ID, at.Record} // with what was changed of the mission since
	}
	return []gitstore.ID{at.Snapshot.ID, at.Snapshot.Record}
}

// openMoments makes what is to leave of moments.
func (c *Carrier) openMoments(ctx context.Context, p *projects.Project, noSessions bool, moments []addresses.ResolvedMoment) (*leaving, error) {
	tips := map[string][]gitstore.ID{}
	for _, at := range moments {
		tips[at.ID] = tipsAt(at)
	}
	return c.openLeaving(ctx, p, noSessions, tips, nil)
}

func (c *Carrier) export(ctx context.Context, p *projects.Project, key exportKey, moments []addresses.ResolvedMoment, s *search, result *missions.Transfer) error {
	var refs []transfer.Ref
	var known []gitstore.ID
	var list []*projects.Mission
	for _, at := range moments {
		if err := s.leaving.failed[at.ID]; err != nil {
			return err
		}
		tips := s.leaving.copiesOf(tipsAt(at))
		one := missions.TransferMission{Mission: at.Name, ID: at.ID, State: missions.TransferNew}
		var err error
		if one.Objects, one.Bytes, err = s.look(ctx, at.Mission, tips, known); err != nil {
			return err
		}
		known = append(known, tips...)
		refs = append(refs,
			transfer.Ref{Name: remoteRef(p.Name, gitstore.AgentRef(at.ID)), ID: tips[0]},
			transfer.Ref{Name: remoteRef(p.Name, gitstore.RecordRef(at.ID)), ID: tips[1]})
		result.Missions, list = append(result.Missions, one), append(list, at.Mission)
	}
	if result.Findings = s.findings(list); len(result.Findings) > 0 {
		result.Missions = []missions.TransferMission{}
		return nil
	}
	return writeExport(ctx, s.project, refs, key, result)
}

// writeExport writes the file of an export. A key that was drawn for it is saved once the file is
// whole and before it has its place: no file is there whose key is lost.
func writeExport(ctx context.Context, p *projects.Project, refs []transfer.Ref, key exportKey, result *missions.Transfer) error {
	file := result.Remote
	area, err := transfer.Open(p.Store)
	if err != nil {
		return err
	}
	defer area.Remove()
	missions.Notify(ctx, missions.Notice{Text: "writing " + file})
	failed := func(err error) error {
		return missions.Errorf(missions.KindFailed, "look at the place and its room; nothing was replaced", "write %s: %w", file, err)
	}
	out, err := transfer.CreateFile(file)
	if err != nil {
		return failed(err)
	}
	defer out.Drop()
	to, err := key.through(out.File)
	if err == nil {
		err = area.Bundle(ctx, refs, nil, to)
	}
	if errors.Is(err, transfer.ErrCut) {
		return missions.Errorf(missions.KindConflict, "umbra push sends such missions where they were before; umbra log shows where a history was cut",
			"%w: a file of it could not be read anywhere", err)
	}
	if err == nil {
		err = errors.Join(to.Close(), out.Sync())
	}
	if err != nil {
		return failed(err)
	}
	if err := checkReplaceable(file); err != nil { // somebody may have put it there meanwhile
		return err
	}
	if err := key.save(); err != nil {
		return err
	}
	result.KeyFile, result.KeyMade = key.path, key.drawn != nil
	if err := out.Publish(); err != nil && result.KeyMade {
		return missions.Errorf(missions.KindFailed, "do it again with --encrypt "+home.ShellQuote(key.path), "a key was made, %s; write %s: %w", key.path, file, err)
	} else if err != nil {
		return failed(err)
	}
	return nil
}

// ImportFile brings the missions of a file that Export has written, as if they were fetched
// from a remote. The same file, or a later one in its place, may be imported again.
func (c *Carrier) ImportFile(ctx context.Context, r missions.ImportFileRequest) (missions.Transfer, error) {
	result := missions.Transfer{Missions: []missions.TransferMission{}}
	file := projects.AbsolutePath(r.Caller.Cwd, r.File)
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return result, missions.Errorf(missions.KindNotFound,
			"umbra export MOMENT… -o FILE writes one; umbra import agents takes in the sessions of your agents", "there is no file %s", file)
	}
	name := r.Name
	if name == "" {
		name = missions.NameFromPrompt(strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)))
	}
	if err := missions.CheckName(name); err != nil {
		return result, missions.Errorf(missions.KindUsage, "say which name the missions are to have here: --as NAME", "%s gives no name: %w", file, err)
	}
	at, err := c.addresses.LocateCaller(r.Caller)
	if err != nil {
		return result, err
	}
	one := savedRemote{Name: name, URL: file, File: true}
	if r.KeyFile != "" {
		one.KeyFile = projects.AbsolutePath(r.Caller.Cwd, r.KeyFile)
	}
	in, err := c.openFile(one, r.Caller)
	if err != nil {
		return result, err
	}
	defer in.close()
	if one.Project, err = c.projectIn(ctx, one, in.at); err != nil {
		return result, err
	}
	p := at.Project
	if p == nil {
		if p, err = c.FindOrCreateProject(ctx, at.Directory); err != nil {
			return result, err
		}
	}
	result.Remote = name
	err = c.withProject(ctx, p, func() error {
		s, err := readSaved(p)
		if err != nil {
			return err
		}
		have, none := s.find(name)
		if none == nil && !have.File {
			return missions.Errorf(missions.KindConflict, "umbra import "+r.File+" --as NAME", "there is a remote %s already", name)
		}
		f := &fetching{Carrier: c, project: p, remote: one, saved: s, at: in.at, result: &result}
		f.note = func() error {
			if none == nil {
				*have = one
			} else {
				s.Remotes = append(s.Remotes, one)
			}
			return s.write(p)
		}
		return f.fetch(ctx)
	})
	return result, err
}

// projectIn is the project whose missions a file has.
func (c *Carrier) projectIn(ctx context.Context, file savedRemote, at transfer.Remote) (string, error) {
	t, err := c.readTheirs(ctx, file, at)
	var failed *transfer.Error
	if errors.As(err, &failed) {
		return "", missions.Errorf(missions.KindUsage, "umbra export MOMENT… -o FILE writes one", "%s is no file of missions: %w", file.URL, err)
	}
	if err != nil {
		return "", err
	}
	if len(t.projects) != 1 {
		return "", missions.Errorf(missions.KindUsage, "umbra export MOMENT… -o FILE writes one", "%s holds the missions of %d projects", file.URL, len(t.projects))
	}
	return t.projects[0], nil
}
