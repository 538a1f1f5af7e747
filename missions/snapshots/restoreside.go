package snapshots

import (
	"bytes"
	"context"
	"errors"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/restore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// PresentSide is what is on disk now, as a side of a plan. It publishes nothing.
func (wk *Workspaces) PresentSide(ctx context.Context, m *projects.Mission) (restore.Side, error) {
	return wk.PresentSideWith(ctx, m, nil)
}

// PresentSideWith is PresentSide with the files at some paths, whatever rule leaves them out.
func (wk *Workspaces) PresentSideWith(ctx context.Context, m *projects.Mission, putBack []string) (restore.Side, error) {
	captured, err := wk.captureWith(ctx, m, putBack)
	if err != nil {
		return restore.Side{}, err
	}
	return captureSide(m.Project, captured)
}

// hasRecordedModes reports whether permissions and empty directories are as the mission's
// newest snapshot has them. If what that has is lost, they count as the same: to write it
// anew is for doctor.
func hasRecordedModes(m *projects.Mission, c *capture.Result) bool {
	recorded, err := m.Project.ReadRecordDoc(m.Tip, projects.ModesDoc)
	return err != nil || bytes.Equal(recorded, c.Modes.Document())
}

// RecordedSide is a snapshot as a side of a plan, with what its record says of the
// capture. What can't be read is an error and never taken for empty.
func RecordedSide(p *projects.Project, s *gitstore.Snapshot) (restore.Side, error) {
	side := restore.Side{Tree: s.Tree}
	damaged := func(err error) error { return damagedRecordError(s, err) }
	var err error
	if side.Rules, err = RecordedRules(p, s); err != nil {
		return side, err
	}
	skipped, err := p.ReadRecordDoc(s, projects.SkippedDoc)
	if err != nil {
		return side, err
	}
	if side.Skipped, err = documents.ParseSkipped(skipped); err != nil {
		return side, damaged(err)
	}
	modes, err := p.ReadRecordDoc(s, projects.ModesDoc)
	if err != nil {
		return side, err
	}
	if side.Modes, err = documents.ParseModes(modes); err != nil {
		return side, damaged(err)
	}
	return side, nil
}

// RecordedRules are the rules by which a snapshot was taken.
func RecordedRules(p *projects.Project, s *gitstore.Snapshot) (*documents.Rules, error) {
	return RecordedRulesIn(p, s, s.Tree)
}

// RecordedRulesIn are the rules by which a snapshot was taken, as they are in another
// tree, with the ignore files that are there.
func RecordedRulesIn(p *projects.Project, s *gitstore.Snapshot, tree gitstore.ID) (*documents.Rules, error) {
	doc, err := p.ReadRecordDoc(s, projects.RulesDoc)
	if err != nil {
		return nil, err
	}
	rules, err := documents.ParseRules(doc, treeFileReader(p, tree))
	if err != nil {
		return nil, damagedRecordError(s, err)
	}
	return rules, nil
}

func damagedRecordError(s *gitstore.Snapshot, err error) error {
	return missions.Errorf(missions.KindDamaged, "umbra doctor", "record of snapshot %s: %w", s.ID.Short(), err)
}

// captureSide is a capture without a record, as a side of a plan.
func captureSide(p *projects.Project, c *capture.Result) (restore.Side, error) {
	rules, err := documents.ParseRules(c.Rules, treeFileReader(p, c.Tree))
	if err != nil {
		return restore.Side{}, err
	}
	return restore.Side{Tree: c.Tree, Rules: rules, Skipped: documents.NewSkippedSet(c.Skipped), Modes: c.Modes}, nil
}

// treeFileReader reads the regular files of a tree, for the ignore rules in it.
func treeFileReader(p *projects.Project, tree gitstore.ID) documents.FileReader {
	return func(path string) ([]byte, bool, error) {
		e, err := p.Store.Lookup(tree, path)
		if errors.Is(err, gitstore.ErrNoEntry) {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		if e.Mode != gitstore.ModeFile && e.Mode != gitstore.ModeExec {
			return nil, false, nil
		}
		content, err := p.Store.Blob(e.ID)
		return content, true, err
	}
}
