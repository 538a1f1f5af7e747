package addresses

import (
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// NearestWord is the known word that was most likely meant, or "": one that a third of
// the letters or fewer tell apart, else the only one that begins with what was typed.
func NearestWord(word string, known []string) string {
	best, least := "", max(1, len(word)/3)+1
	var longer []string
	for _, k := range known {
		if len(k) < 2 {
			continue
		}
		if d := editDistance(word, k); d < least && d < len(k) {
			best, least = k, d
		}
		if len(word) > 2 && strings.HasPrefix(k, word) {
			longer = append(longer, k)
		}
	}
	if best == "" && len(longer) == 1 {
		return longer[0]
	}
	return best
}

// editDistance counts the insertions, deletions, replacements and swaps of
// neighbours that make b of a (optimal string alignment).
func editDistance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}

// suggestName is a hint for a name that nothing has, in a project or, for what only reads,
// in another one: the mission or pin that may have been meant, as typed says it,
// before what lists them.
func (f *Finder) suggestName(here *projects.Project, name string, r SearchScope, pins bool, typed func(name string) string, lists string) string {
	list := []*projects.Project{}
	if here != nil {
		list = append(list, here)
	}
	if r == InAnyProject {
		others, _ := f.AllProjects()
		list = append(list, slices.DeleteFunc(others, func(p *projects.Project) bool { return here != nil && p.ID == here.ID })...)
	}
	for _, p := range list {
		var known []string
		all, _ := f.ProjectMissions(p)
		for _, m := range all {
			known = append(known, m.Name)
		}
		if pins {
			known = slices.Concat(known, pinNames(p))
		}
		if near := NearestWord(strings.ToLower(name), known); near != "" {
			return "did you mean " + typed(near) + "? (" + lists + ")"
		}
	}
	return lists
}

// nameAsTyped is for names that stand alone.
func nameAsTyped(name string) string { return name }

// pinNames are the names of a project's pins, as far as they can be read.
func pinNames(p *projects.Project) (names []string) {
	list, err := p.Store.Refs(gitstore.RefPin)
	if err != nil {
		return nil
	}
	for _, ref := range list.Refs {
		names = append(names, ref.Name.Arg())
	}
	return names
}
