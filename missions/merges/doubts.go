package merges

import (
	"slices"
	"strings"

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
			q.raise(missions.SeverityCritical, "no text, and merged by "+p.state.engine()+q.without)
		}
		return err
	}
	if !syntax.Known(string(q.Path)) {
		return nil
	}
	problem, err := p.problemOf(string(q.Path), q.merged)
	if err != nil || problem == "" {
		return err
	}
	for _, tree := range p.trees() {
		e, err := p.entryAt(tree, string(q.Path))
		if err != nil {
			return err
		}
		if before, err := p.problemOf(string(q.Path), e); err != nil || before != "" {
			return err
		}
	}
	q.raise(missions.SeverityCritical, "does not parse any more as "+p.state.engine()+" merged it: "+problem+q.without)
	return nil
}

// absences tells where a plan's sides have no file.
type absences struct{ *plan }

// say says of what Git merged which choices leave no file there: of a file that one
// side renamed those of its old name and of its new one may be different ones.
func (p absences) say() error {
	for _, q := range p.paths {
		if q.Severity != missions.SeverityMedium || len(q.conflicts) > 0 {
			continue
		}
		names := []string{p.into.Name}
		for _, from := range p.sidesOf(q) {
			names = append(names, from.mission.Name)
		}
		without, err := p.whoHas(string(q.Path), names, false)
		if err != nil {
			return err
		}
		for i, name := range without {
			switch {
			case name == p.into.Name:
				without[i] = "ours (" + name + ")"
			case len(p.sides) == 1:
				without[i] = "theirs (" + name + ")"
			}
		}
		merged, err := p.entryAt(p.git, string(q.Path))
		if err != nil {
			return err
		}
		if merged.ID.IsZero() {
			without = append([]string{"merged"}, without...)
		}
		if len(without) > 0 {
			q.without = "; with " + strings.Join(without, " or ") + " no file is left there"
			q.Reason += q.without
		}
	}
	return nil
}

// whoHas are those of some missions that have something at a path, or that have nothing.
func (p absences) whoHas(path string, names []string, has bool) (list []string, err error) {
	for i, tree := range p.trees() {
		name := p.into.Name
		if i > 0 {
			name = p.sides[i-1].mission.Name
		}
		if !slices.Contains(names, name) {
			continue
		}
		e, err := p.entryAt(tree, path)
		if err != nil {
			return nil, err
		}
		if e.ID.IsZero() != has {
			list = append(list, name)
		}
	}
	return list, nil
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
