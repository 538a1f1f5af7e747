package missions

import (
	"errors"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/restore"
)

// recordedSide reads a snapshot with what its record says of the capture.
// Nothing that can't be read is taken for empty.
func (l *Local) recordedSide(p *project, s *gitstore.Snapshot) (restore.Side, error) {
	side := restore.Side{Tree: s.Tree}
	damaged := func(err error) error {
		return Errorf(KindDamaged, "umbra doctor", "record of snapshot %s: %w", s.ID.Short(), err)
	}
	rules, err := p.recordDoc(s, rulesDoc)
	if err != nil {
		return side, err
	}
	if side.Rules, err = capture.ParseRules(rules, p.filesOf(s.Tree)); err != nil {
		return side, damaged(err)
	}
	skipped, err := p.recordDoc(s, skippedDoc)
	if err != nil {
		return side, err
	}
	if side.Skipped, err = capture.ParseSkipped(skipped); err != nil {
		return side, damaged(err)
	}
	modes, err := p.recordDoc(s, modesDoc)
	if err != nil {
		return side, err
	}
	if side.Modes, err = capture.ParseModes(modes); err != nil {
		return side, damaged(err)
	}
	return side, nil
}

// filesOf reads the regular files of a tree, for the ignore rules in it.
func (p *project) filesOf(tree gitstore.ID) capture.FileReader {
	return func(path string) ([]byte, bool, error) {
		e, err := p.store.Lookup(tree, path)
		if errors.Is(err, gitstore.ErrNoEntry) {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		if e.Mode != gitstore.ModeFile && e.Mode != gitstore.ModeExec {
			return nil, false, nil
		}
		content, err := p.store.Blob(e.ID)
		return content, true, err
	}
}

// captureSide is a capture that was not recorded, as a side of a plan.
func captureSide(p *project, c *capture.Result) (restore.Side, error) {
	rules, err := capture.ParseRules(c.Rules, p.filesOf(c.Tree))
	if err != nil {
		return restore.Side{}, err
	}
	return restore.Side{Tree: c.Tree, Rules: rules, Skipped: capture.NewSkippedSet(c.Skipped), Modes: c.Modes}, nil
}
