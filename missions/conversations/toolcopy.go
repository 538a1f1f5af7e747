package conversations

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/callbacks"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// ToolMoment is the moment of a conversation that programs of the user's copy; the zero
// value is of one that Umbra copies itself.
type ToolMoment struct {
	Tool string `json:"tool"` // whose conversation it is
	Turn int    `json:"turn"`
}

// toolCopies are the copies that programs of the user's make.
type toolCopies struct{ *Library }

// find is the moment of a snapshot, if the user has programs for its tool.
func (l toolCopies) find(p *projects.Project, a sessions.Adapter, s *gitstore.Snapshot) (ToolMoment, error) {
	if !projects.IsForeignAdapter(a) {
		return ToolMoment{}, nil
	}
	then, err := p.ReadStored(s.Record)
	if err != nil || l.programs(then.AgentName()).None() {
		return ToolMoment{}, err
	}
	return ToolMoment{Tool: then.AgentName(), Turn: s.Turn}, nil
}

// programs are what the user has configured for a tool by now.
func (l toolCopies) programs(tool string) callbacks.Programs {
	return l.Callbacks.For(l.CurrentConfig().Tools, tool)
}

// make has the user's programs copy a conversation. They are to write nothing but
// their output: a source that is another afterwards is an error.
func (l toolCopies) make(ctx context.Context, p *projects.Project, plan *ConversationPlan, w io.Writer, r io.Reader, to sessions.Rewrite) error {
	programs := l.programs(plan.Moment.Tool)
	source, err := l.watchSource(p, plan.Record)
	if err != nil {
		return err
	}
	err = l.Callbacks.Copy(ctx, w, io.LimitReader(r, plan.Cut.Length), programs, callbacks.Description{
		Agent: plan.Moment.Tool, Turn: plan.Moment.Turn, Length: plan.Cut.Length, OldSession: to.OldID, NewSession: to.NewID,
		OldWorkspace: to.OldRoot, NewWorkspace: to.NewRoot, OldCwd: to.OldCwd, NewCwd: to.NewCwd,
	})
	if same, cannot := source.isUnchanged(); !same && cannot == nil {
		return missions.Errorf(missions.KindConflict, "try again; if the program writes there, mend it: docs/agents/generic.md",
			"%s was changed while a program of tools.cut or tools.rewrite copied it: the snapshots have it as it was", source.path)
	} else if err == nil {
		err = cannot
	}
	if err == nil { // whether the source is what was recorded shows at its end
		_, err = io.Copy(io.Discard, r)
	}
	return err
}

// watchedSource is the file of a conversation that is being copied, as it was before. What
// its tool adds meanwhile is no change.
type watchedSource struct {
	path   string // "" if there is none
	length int64
	sum    string
}

// watchSource notes what the file holds of which a record is.
func (l toolCopies) watchSource(p *projects.Project, record gitstore.ID) (watchedSource, error) {
	doc, err := p.Store.RecordFile(record, projects.BindingDoc(l.Home.Machine))
	if errors.Is(err, gitstore.ErrNoEntry) { // it is of another machine
		return watchedSource{}, nil
	}
	if err != nil {
		return watchedSource{}, err
	}
	var then projects.Binding
	if err := projects.ParseDoc(projects.BindingDoc(l.Home.Machine), doc, &then); err != nil {
		return watchedSource{}, err
	}
	if then.SessionPath == "" {
		return watchedSource{}, nil
	}
	file, info, err := disk.OpenRegular(then.SessionPath)
	if errors.Is(err, fs.ErrNotExist) {
		return watchedSource{}, nil
	}
	if err != nil {
		return watchedSource{}, err
	}
	defer file.Close()
	source := watchedSource{path: then.SessionPath, length: info.Size()}
	source.sum, err = sumOfBeginning(file, source.length)
	return source, err
}

// isUnchanged reports whether the file holds what it held, whatever follows that by now.
func (s watchedSource) isUnchanged() (bool, error) {
	if s.path == "" {
		return true, nil
	}
	file, _, err := disk.OpenRegular(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer file.Close()
	sum, err := sumOfBeginning(file, s.length)
	return sum == s.sum, err
}

// sumOfBeginning is a hash of so many bytes, or of all if there are fewer.
func sumOfBeginning(r io.Reader, length int64) (string, error) {
	sum := sha256.New()
	_, err := io.Copy(sum, io.LimitReader(r, length))
	return hex.EncodeToString(sum.Sum(nil)), err
}
