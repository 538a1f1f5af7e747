package missions

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/sessions"
)

// talkPlan is what a restore or fork does with a conversation.
type talkPlan struct {
	record  gitstore.ID // holds the source's conversation
	beside  string      // the agent's own file, which may hold it too
	source  gitstore.SessionMeta
	cut     sessions.Cut
	empty   bool   // nothing that could be resumed is left: the agent begins anew
	session string // an existing session to go back to, for undo
	path    string
}

// planTalk plans the conversation's side of a restore: a new session, cut at
// the target. None where there is no conversation, or where the present one
// says no more than the target's.
func (l *Local) planTalk(m *loaded, j *job) error {
	a := l.adapter(m.Agent)
	if a == nil || m.stored.Session == "" {
		return nil
	}
	if !m.movable(a) {
		if m.bind.Session != "" {
			j.result.Notes = append(j.result.Notes, m.unmovable())
		}
		return nil
	}
	plan, err := l.cutOf(m, j.target)
	if errors.Is(err, sessions.ErrNoSession) {
		plan, err = &talkPlan{empty: true}, nil
	}
	if err != nil {
		return err
	}
	now, err := l.presentConversation(m)
	if err != nil {
		return err
	}
	j.result.Conversation = ConversationRestore{Kept: plan.cut.Events, Dropped: max(0, now.Events-plan.cut.Events)}
	if plan.source.SessionID == m.stored.Session && plan.cut.Length == now.Length || plan.empty && now.Events == 0 {
		return nil
	}
	for _, tool := range plan.cut.Open {
		j.result.Notes = append(j.result.Notes, fmt.Sprintf("the files are of a moment when %s had begun; the conversation is cut before it", tool.Name))
	}
	j.talk = plan
	return nil
}

// placed is a session that was put into an agent's store.
type placed struct {
	id        string
	path      string
	files     []string // everything that was made, to be taken away if the rest fails
	inherited *gitstore.Inherited
	strayed   bool // the agent's own file is not what was recorded, and copied
}

// place writes a copy of a planned conversation, under a new id, where the
// agent running in cwd finds it. Nothing that exists is replaced.
func (l *Local) place(p *project, plan *talkPlan, env sessions.Environ, to sessions.Rewrite) (placed, error) {
	a := l.adapter(plan.source.Agent)
	if a == nil {
		return placed{}, fmt.Errorf("no adapter for %s", plan.source.Agent)
	}
	if to.Version == 0 {
		to.Version = a.RewriteVersion()
	}
	out := placed{id: to.NewID, path: a.Path(env, to.NewCwd, to.NewID)}
	if err := l.nameWorkspace(p, plan, a, &to); err != nil {
		return out, err
	}
	recipe, err := json.Marshal(recipeOf(plan.source.Agent, to))
	if err != nil {
		return out, err
	}
	// The session file comes last: where it is, its side files are too.
	if err := l.placeSides(p, plan, a, env, to, &out); err != nil {
		return out, errors.Join(err, out.remove())
	}
	proof := gitstore.NewInheritedProof()
	err = journal.Place(out.path, 0o600, func(w io.Writer) error {
		r, _, err := l.sessionBeside(p, plan.record, plan.beside)
		if err != nil {
			return err
		}
		defer r.Close()
		err = a.Rewrite(io.MultiWriter(w, proof), r, plan.cut.Length, to)
		out.strayed = r.own.Strayed()
		return err
	}, journal.PlaceOptions{})
	if errors.Is(err, fs.ErrExist) {
		return out, fmt.Errorf("place the session: %w", err)
	}
	if err != nil {
		return out, errors.Join(fmt.Errorf("place the session: %w", err), out.remove())
	}
	out.files = append(out.files, out.path)
	out.inherited = &gitstore.Inherited{Record: plan.record, SourceLength: plan.cut.Length, Recipe: recipe}
	proof.Describe(out.inherited)
	return out, nil
}

// placeSides puts the copied session's side files beside it.
func (l *Local) placeSides(p *project, plan *talkPlan, a sessions.Adapter, env sessions.Environ, to sessions.Rewrite, out *placed) error {
	sided, ok := a.(sessions.Sided)
	if !ok {
		return nil
	}
	stored, err := p.store.SessionSides(plan.record)
	if err != nil {
		return Errorf(KindDamaged, "umbra doctor", "side files of record %s: %w", plan.record.Short(), err)
	}
	byName := map[string]gitstore.StoredSide{}
	var names []string
	for _, s := range stored {
		byName[s.Name] = s
		names = append(names, s.Name)
	}
	open := func(name string) (io.ReadCloser, error) {
		r, _, err := p.store.BlobReader(byName[name].ID)
		return r, err
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
		out.files = append(out.files, f.Path)
	}
	return nil
}

// remove takes away what was placed.
func (p placed) remove() error {
	var errs []error
	for _, file := range p.files {
		if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func recipeOf(agent string, r sessions.Rewrite) recipe {
	return recipe{
		Agent: agent, OldID: r.OldID, NewID: r.NewID, OldCwd: r.OldCwd, NewCwd: r.NewCwd,
		OldRoot: r.OldRoot, NewRoot: r.NewRoot, OldName: r.OldName, NewName: r.NewName, Now: r.Now, Version: r.Version,
	}
}

// placeAgain places the copy that a restore has announced. It may be there
// already, from a process that was killed.
func (l *Local) placeAgain(m *loaded, talk *talkDoc, r recipe) (placed, error) {
	source, err := m.project.store.SessionMeta(talk.Record)
	if err != nil {
		return placed{}, Errorf(KindDamaged, "umbra doctor", "conversation in record %s: %w", talk.Record.Short(), err)
	}
	plan := &talkPlan{record: talk.Record, source: source, cut: sessions.Cut{Length: talk.Length}}
	done, err := l.place(m.project, plan, m.adapterEnv(), r.rewrite())
	if errors.Is(err, fs.ErrExist) {
		return placed{id: talk.Session, path: talk.Path}, nil
	}
	return done, err
}

// follow makes another session the mission's own.
func (m *loaded) follow(id, path string) {
	if m.stored.Session != "" && m.stored.Session != id {
		m.Sessions = append(m.Sessions, m.stored.Session)
	}
	kept := m.Sessions[:0]
	for _, s := range m.Sessions {
		if s != id {
			kept = append(kept, s)
		}
	}
	m.Sessions = kept
	m.stored.Session, m.bind.Session, m.live.Bound = id, path, ""
}

// noteOfRestore is what the agent is told with its next prompt, and that of a fork which
// remembers the same files.
func noteOfRestore(j *job) string {
	if j.files == nil || j.files.empty() {
		return ""
	}
	return fmt.Sprintf("Umbra has put files that you may remember back to an earlier state (%d changed, %d created, %d deleted). Read a file again before you rely on what you remember of it.",
		len(j.result.Modify), len(j.result.Create), len(j.result.Delete))
}
