package merges

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/merge"
)

// joinParts gives the conflicts of a side, without those below a path that is a directory on
// one side and something else on another: they are part of that one conflict, whose answer
// is for all of it.
func (p *plan) joinParts(step merge.Sides, conflicts []merge.Conflict) ([]merge.Conflict, error) {
	byPath := map[string]merge.Conflict{}
	for _, c := range conflicts {
		byPath[c.Path] = c
		if c.Base.Mode.IsDir() || c.Ours.Mode.IsDir() || c.Theirs.Mode.IsDir() {
			p.types[c.Path] = true
		}
	}
	for _, c := range conflicts {
		at := p.partOf(c.Path)
		if at == "" {
			continue
		}
		delete(byPath, c.Path)
		whole, err := merge.Conflict{Path: at, Database: byPath[at].Database}, error(nil)
		if whole.Base, err = p.entryAt(step.Base, at); err != nil {
			return nil, err
		}
		if whole.Ours, err = p.entryAt(step.Ours, at); err != nil {
			return nil, err
		}
		if whole.Theirs, err = p.entryAt(step.Theirs, at); err != nil {
			return nil, err
		}
		byPath[at] = whole
	}
	return slices.SortedFunc(maps.Values(byPath), func(a, b merge.Conflict) int { return strings.Compare(a.Path, b.Path) }), nil
}

// partOf is the topmost path in conflict of which a path is only a part, "" if there is none.
func (p *plan) partOf(path string) (top string) {
	for at := range p.types {
		if strings.HasPrefix(path, at+"/") && (top == "" || len(at) < len(top)) {
			top = at
		}
	}
	return top
}

// mostParts is how many parts of a conflict its reason names.
const mostParts = 3

// dropParts leaves out the questions that are part of another one, and names them there.
func (p *plan) dropParts() {
	parts := map[string][]string{}
	for path, q := range p.paths {
		at := p.partOf(path)
		if whole := p.paths[at]; whole != nil {
			for _, name := range q.Missions {
				if !slices.Contains(whole.Missions, name) {
					whole.Missions = append(whole.Missions, name)
				}
			}
			parts[at] = append(parts[at], path)
		}
	}
	for at, below := range parts {
		slices.Sort(below)
		for _, path := range below {
			delete(p.paths, path)
		}
		text := strings.Join(below[:min(len(below), mostParts)], ", ")
		if more := len(below) - mostParts; more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		p.paths[at].Reason += ", with " + text
	}
}
