package conversations

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// PlacedSession is a session that was put into an agent's store.
type PlacedSession struct {
	ID          string
	Path        string
	Files       []string // everything that was made, to be taken away if the rest fails
	Inherited   *records.Inherited
	FileDiffers bool             // the agent's own file is not what was recorded, and copied
	Move        sessions.Rewrite // what the copy was made by
}

// Remove takes away what was placed.
func (p PlacedSession) Remove() error {
	var errs []error
	for _, file := range p.Files {
		if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	if dir := filepath.Dir(p.Path); filepath.Base(dir) == p.ID {
		_ = os.Remove(dir) // it was made for this session alone; it stays if something is in it
	}
	return errors.Join(errs...)
}

// PlaceFile writes a file that an adapter asks for, anew at the next launch: below home,
// where one is given, which is not made.
func PlaceFile(home string, f sessions.File) error {
	var content bytes.Buffer
	if err := f.Write(&content); err != nil {
		return fmt.Errorf("make %s: %w", f.Path, err)
	}
	return journal.WriteVolatile(home, f.Path, f.Mode, content.Bytes())
}

// ConversationPlan is what a restore or fork does with a conversation.
type ConversationPlan struct {
	Record        gitstore.ID // holds the source's conversation
	agentFile     string      // the agent's own file, which may hold it too
	SourceMeta    records.SessionMeta
	Cut           sessions.Cut
	Moment        ToolMoment // where programs of the user's are to copy it
	IsEmpty       bool       // nothing that could be resumed is left: the agent begins anew
	ReturnSession string     // an existing session to go back to, for undo
	ReturnPath    string
}

// PlaceConversation writes a copy of a planned conversation, under a new id, where the
// agent running in cwd finds it. Nothing that exists is replaced.
func (l *Library) PlaceConversation(ctx context.Context, p *projects.Project, plan *ConversationPlan, env sessions.Environ, to sessions.Rewrite) (PlacedSession, error) {
	a := l.Adapter(plan.SourceMeta.Agent)
	if a == nil {
		return PlacedSession{}, fmt.Errorf("no adapter for %s", plan.SourceMeta.Agent)
	}
	if to.Version == 0 {
		to.Version = a.RewriteVersion()
	}
	out := PlacedSession{ID: to.NewID, Path: a.Path(env, to.NewCwd, to.NewID)}
	if err := l.addLinkNames(p, plan, a, &to); err != nil {
		return out, err
	}
	out.Move = to
	recipe, err := json.Marshal(RecipeOf(plan.SourceMeta.Agent, to))
	if err != nil {
		return out, err
	}
	// The session file comes last: where it is, its side files are too.
	if err := l.PlaceSideFiles(p, plan, a, env, to, &out); err != nil {
		return out, errors.Join(err, out.Remove())
	}
	var options journal.PlaceOptions
	if dated, ok := a.(sessions.Dated); ok {
		options.ModTime = dated.WrittenAt(env, to)
	}
	proof := records.NewInheritedProof()
	byPrograms := plan.Moment != ToolMoment{} && !toolCopies{l}.programs(plan.Moment.Tool).None()
	var failed error
	err = journal.Place(out.Path, 0o600, func(w io.Writer) error {
		r, _, err := l.openConversationWithFile(p, plan.Record, plan.agentFile)
		if err != nil {
			return err
		}
		defer r.Close()
		if byPrograms {
			failed = toolCopies{l}.make(ctx, p, plan, w, r, to)
			err = failed
		} else {
			err = a.Rewrite(io.MultiWriter(w, proof), r, plan.Cut.Length, to)
		}
		out.FileDiffers = r.recordedPart.Strayed()
		return err
	}, options)
	if failed != nil {
		return out, errors.Join(failed, out.Remove())
	}
	if errors.Is(err, fs.ErrExist) {
		return out, fmt.Errorf("place the session: %w", err)
	}
	if err != nil {
		return out, errors.Join(fmt.Errorf("place the session: %w", err), out.Remove())
	}
	out.Files = append(out.Files, out.Path)
	if byPrograms { // no program need make the same again: the copy is kept whole
		return out, nil
	}
	out.Inherited = &records.Inherited{Record: plan.Record, SourceLength: plan.Cut.Length, Recipe: recipe}
	proof.Describe(out.Inherited)
	return out, nil
}

// PlaceSideFiles puts the copied session's side files beside it.
func (l *Library) PlaceSideFiles(p *projects.Project, plan *ConversationPlan, a sessions.Adapter, env sessions.Environ, to sessions.Rewrite, out *PlacedSession) error {
	sided, ok := a.(sessions.Sided)
	if !ok {
		return nil
	}
	stored, err := records.SessionSides(p.Store, plan.Record)
	if err != nil {
		return missions.Errorf(missions.KindDamaged, "umbra doctor", "side files of record %s: %w", plan.Record.Short(), err)
	}
	byName := map[string]records.StoredSide{}
	var names []string
	for _, s := range stored {
		byName[s.Name] = s
		names = append(names, s.Name)
	}
	open := func(name string) (io.ReadCloser, error) {
		r, _, err := p.Store.BlobReader(byName[name].ID)
		return r, err
	}
	if names, err = sidesOfCut(l, p, plan, a, names, open); err != nil {
		return fmt.Errorf("side files of the session: %w", err)
	}
	files, err := sided.PlaceSides(env, names, open, to)
	if err != nil {
		return fmt.Errorf("side files of the session: %w", err)
	}
	for _, f := range files {
		if byName[f.Side].Executable {
			f.Mode |= f.Mode & 0o444 >> 2
		}
		err := journal.Place(f.Path, f.Mode, f.Write, journal.PlaceOptions{ModTime: f.ModTime})
		if errors.Is(err, fs.ErrExist) {
			continue // of a placing that was cut off: the name holds the new session's id
		}
		if err != nil {
			return fmt.Errorf("side files of the session: %w", err)
		}
		out.Files = append(out.Files, f.Path)
	}
	return nil
}

// sidesOfCut are those of a session's side files that belong to the conversation as it is cut.
func sidesOfCut(l *Library, p *projects.Project, plan *ConversationPlan, a sessions.Adapter, names []string, open func(string) (io.ReadCloser, error)) ([]string, error) {
	chooser, ok := a.(sessions.SideChoosing)
	if !ok || len(names) == 0 {
		return names, nil
	}
	r, _, err := l.openConversationWithFile(p, plan.Record, plan.agentFile)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return chooser.SidesOf(io.LimitReader(r, plan.Cut.Length), names, open)
}
