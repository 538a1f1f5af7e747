package conversations

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// OpenRecordedConversation opens the whole conversation that a record holds. ErrNoSession if it
// holds none.
func (l *Library) OpenRecordedConversation(p *projects.Project, record gitstore.ID) (io.ReadCloser, records.SessionMeta, error) {
	r, meta, err := l.openConversationWithFile(p, record, "")
	if err != nil {
		return nil, meta, err
	}
	return r, meta, nil
}

// openConversationWithFile is OpenRecordedConversation, and faster where the file at path, the agent's own,
// still holds what was recorded of it. There need be no such file.
func (l *Library) openConversationWithFile(p *projects.Project, record gitstore.ID, path string) (*conversationReader, records.SessionMeta, error) {
	j, meta, err := l.OpenNewestFile(p, record, path)
	if err != nil {
		return nil, meta, err
	}
	if err := l.joinEarlierRecorded(p, record, meta.Agent, j); err != nil {
		return nil, meta, errors.Join(missions.Errorf(missions.KindDamaged, "umbra doctor", "conversation in record %s: %w", record.Short(), err), j.Close())
	}
	return j, meta, nil
}

// OpenNewestFile opens what a record holds of the session's newest file: exactly the
// bytes that the file held.
func (l *Library) OpenNewestFile(p *projects.Project, record gitstore.ID, path string) (*conversationReader, records.SessionMeta, error) {
	reader, err := openOwnSession(p, record, path)
	if errors.Is(err, gitstore.ErrNoEntry) {
		return nil, records.SessionMeta{}, sessions.ErrNoSession
	}
	if err != nil {
		return nil, records.SessionMeta{}, missions.Errorf(missions.KindDamaged, "umbra doctor", "conversation in record %s: %w", record.Short(), err)
	}
	own := reader.recordedPart
	if own.Meta.Inherited == nil {
		return reader, own.Meta, nil
	}
	inherited, err := l.RemakeInherited(p, *own.Meta.Inherited)
	if err != nil {
		reader.Close()
		return nil, own.Meta, missions.Errorf(missions.KindDamaged, "umbra doctor", "conversation in record %s: its inherited part: %w", record.Short(), err)
	}
	reader.Reader = io.MultiReader(inherited, own)
	reader.closers = append(reader.closers, inherited)
	return reader, own.Meta, nil
}

// conversationReader reads parts, and closes what they are read from.
type conversationReader struct {
	io.Reader
	recordedPart  *records.SessionReader // what the record itself holds
	earlierPart   io.Reader              // what is in earlier files than the newest; nil: nothing
	offsetInWhole int64                  // by how much what is in the newest file stands later in the whole
	closers       []io.Closer
}

// Close implements io.Closer.
func (j *conversationReader) Close() error {
	var errs []error
	for _, c := range j.closers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// openOwnSession opens what a record itself holds of its session's newest file.
func openOwnSession(p *projects.Project, record gitstore.ID, path string) (*conversationReader, error) {
	own, err := records.OpenSession(p.Store, record)
	if err != nil {
		return nil, err
	}
	return besideFile(own, path), nil
}

// besideFile has a conversation read from a file too, which need not be there.
func besideFile(own *records.SessionReader, path string) *conversationReader {
	r := &conversationReader{Reader: own, recordedPart: own}
	if file, _, err := disk.OpenRegular(path); err == nil {
		own.Beside(file)
		r.closers = append(r.closers, file)
	}
	return r
}

// openOwnSessionFrom opens what a record holds of its session's newest file from about offset on,
// and says where that begins: what is inherited is no part of it. The file at path, if
// there is one, makes it faster: see openConversationWithFile.
func (l *Library) openOwnSessionFrom(p *projects.Project, record gitstore.ID, path string, offset int64) (*conversationReader, int64, error) {
	r, err := openOwnSession(p, record, path)
	if err != nil {
		return nil, 0, err
	}
	return r, r.recordedPart.From(offset), nil
}

// CopyRecipe is how a fork's or restored session was made of another: stored with
// the inherited part, which is made again by it instead of being kept twice.
type CopyRecipe struct {
	Agent   string    `json:"agent"`
	OldID   string    `json:"old_id"`
	NewID   string    `json:"new_id"`
	OldCwd  string    `json:"old_cwd"`
	NewCwd  string    `json:"new_cwd"`
	OldRoot string    `json:"old_root"`
	NewRoot string    `json:"new_root"`
	OldName string    `json:"old_name,omitempty"`
	NewName string    `json:"new_name,omitempty"`
	Home    string    `json:"home,omitempty"`
	Names   []string  `json:"names,omitempty"`
	Now     time.Time `json:"now"`
	Version int       `json:"version"` // of the adapter's Rewrite
}

func (r CopyRecipe) AsRewrite() sessions.Rewrite {
	return sessions.Rewrite{
		OldID: r.OldID, NewID: r.NewID, OldCwd: r.OldCwd, NewCwd: r.NewCwd,
		OldRoot: r.OldRoot, NewRoot: r.NewRoot, OldName: r.OldName, NewName: r.NewName, Home: r.Home, Names: r.Names, Now: r.Now, Version: r.Version,
	}
}

// RecipeOf is the recipe of a copy.
func RecipeOf(agent string, r sessions.Rewrite) CopyRecipe {
	return CopyRecipe{
		Agent: agent, OldID: r.OldID, NewID: r.NewID, OldCwd: r.OldCwd, NewCwd: r.NewCwd,
		OldRoot: r.OldRoot, NewRoot: r.NewRoot, OldName: r.OldName, NewName: r.NewName, Home: r.Home, Names: r.Names, Now: r.Now, Version: r.Version,
	}
}

// RemakeInherited makes an inherited part again from its source, as it is read. The
// bytes are proved against the id that was recorded: a part that comes out
// otherwise is an error of Read.
func (l *Library) RemakeInherited(p *projects.Project, in records.Inherited) (io.ReadCloser, error) {
	var r CopyRecipe
	if err := json.Unmarshal(in.Recipe, &r); err != nil {
		return nil, fmt.Errorf("recipe: %w", err)
	}
	a := l.Adapter(r.Agent)
	if a == nil {
		return nil, fmt.Errorf("no adapter for %s", r.Agent)
	}
	source, _, err := l.OpenRecordedConversation(p, in.Record)
	if err != nil {
		return nil, err
	}
	out, w := io.Pipe()
	go func() {
		defer source.Close()
		proof := records.NewInheritedProof()
		err := a.Rewrite(io.MultiWriter(w, proof), source, in.SourceLength, r.AsRewrite())
		if err == nil && !proof.Proves(&in) {
			err = fmt.Errorf("made again, it differs from what was recorded: %w", gitstore.ErrDamaged)
		}
		w.CloseWithError(err)
	}()
	return out, nil
}
