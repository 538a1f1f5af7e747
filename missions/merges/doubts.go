package merges

import (
	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/syntax"
)

// mostParsed is how many bytes a text may have that is parsed: a source that people write
// has less.
const mostParsed = 4 << 20

// doubt raises a question whose path was merged without a conflict, and can't be meant so:
// what was merged does not parse any more, though it does on each side, or is no text.
func (p *plan) doubt(q *question) error {
	if len(q.conflicts) > 0 || q.Severity != missions.SeverityMedium || !isRegular(q.merged) {
		return nil
	}
	if isText, err := p.isText(q.merged); err != nil || !isText {
		if p.state.Driver.Name != "" { // Git itself never merges the content of what is no text
			q.raise(missions.SeverityCritical, "no text, and merged by "+p.state.engine())
		}
		return err
	}
	if !syntax.Known(q.Path) {
		return nil
	}
	problem, err := p.problemOf(q.Path, q.merged)
	if err != nil || problem == "" {
		return err
	}
	for _, tree := range p.trees() {
		e, err := p.entryAt(tree, q.Path)
		if err != nil {
			return err
		}
		if before, err := p.problemOf(q.Path, e); err != nil || before != "" {
			return err
		}
	}
	q.raise(missions.SeverityCritical, "does not parse any more as "+p.state.engine()+" merged it: "+problem)
	return nil
}

// problemOf is why what a path could be does not parse.
func (r contents) problemOf(path string, e gitstore.TreeEntry) (string, error) {
	if !isRegular(e) {
		return "", nil
	}
	content, size, err := r.store.BlobReader(e.ID)
	if err != nil {
		return "", err
	}
	_ = content.Close()
	if size > mostParsed {
		return "", nil
	}
	text, err := r.read(e)
	return syntax.Problem(path, text), err
}

// engine is the program that merges texts.
func (s *state) engine() string {
	if s.Driver.Name != "" {
		return s.Driver.Name
	}
	return "Git"
}
