package snapshots

import (
	"fmt"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// LeftOutReason says that a path is in no snapshot, and why.
func LeftOutReason(why documents.Reason) string {
	return "in no snapshot: " + missions.PathReason{Reason: string(why)}.Words()
}

// leavesOutOthers reports whether a capture leaves out other files than the mission's
// newest snapshot does: some of those that were new over a budget or a cap, or are gone.
func (ws *WorkspaceCache) leavesOutOthers(m *projects.Mission, c *capture.Result) bool {
	if m.Tip.Skipped == 0 && len(c.Skipped) == 0 {
		return false
	}
	if before := &ws.published; before.leftOutOf != m.Tip.ID { // else a quiet look would read the record each time
		before.leftOut, before.leftOutOf = recordedFiles(m), m.Tip.ID
	}
	isSame := func(a, b documents.Skipped) bool { return a.Path == b.Path }
	return !slices.EqualFunc(filesWithContent(c.Skipped), ws.published.leftOut, isSame)
}

// RecordedSkipped is what a snapshot leaves out, nil if that can't be read: doctor says so.
func RecordedSkipped(p *projects.Project, s *gitstore.Snapshot) *documents.SkippedSet {
	doc, err := p.ReadRecordDoc(s, projects.SkippedDoc)
	if err != nil {
		return nil
	}
	skipped, err := documents.ParseSkipped(doc)
	if err != nil {
		return nil
	}
	return skipped
}

// recordedFiles are the files that a mission's newest snapshot leaves out for what they are.
func recordedFiles(m *projects.Mission) []documents.Skipped {
	return FilesLeftOut(RecordedSkipped(m.Project, m.Tip))
}

// filesWithContent are the files of a list that are left out for what they are.
func filesWithContent(list []documents.Skipped) []documents.Skipped {
	return slices.DeleteFunc(slices.Clone(list), func(s documents.Skipped) bool { return !s.HasContent() })
}

// BudgetProblem names the files that a mission's newest snapshot lacks since the workspace
// is over its budget, nil if there are none.
func (tk *Taker) BudgetProblem(m *projects.Mission) *missions.Problem {
	if m.Tip.Skipped == 0 {
		return nil
	}
	p := &missions.Problem{Project: m.Project.Name, Mission: m.Name}
	for _, s := range recordedFiles(m) {
		if s.Reason == documents.ReasonBudget {
			p.Details = append(p.Details, s.Path)
		}
	}
	if len(p.Details) == 0 {
		return nil
	}
	first := p.Details[:min(len(p.Details), maxLeftOutPaths)]
	p.Message = fmt.Sprintf("new files of %s are in no snapshot, since the workspace is over its budget: %s", m.Name, strings.Join(first, ", "))
	if more := len(p.Details) - len(first); more > 0 {
		p.Message += fmt.Sprintf(" and %d more", more)
	}
	p.Fix = "leave some of it out in .gitignore or .umbraignore, or raise capture.max_files or max_bytes in config.yml"
	return p
}

// FilesLeftOut are the files that a snapshot leaves out for what they are.
func FilesLeftOut(set *documents.SkippedSet) []documents.Skipped {
	if set == nil {
		return nil
	}
	return filesWithContent(set.All())
}

// LeftOutChanges lists the files that one side or both leave out for what they are and that
// are not the same in both, as far as their sizes and times tell. Of a file that one side
// holds the difference of the trees says the rest.
func LeftOutChanges(from, to *documents.SkippedSet) []missions.PathReason {
	then, now := map[string]documents.Skipped{}, map[string]documents.Skipped{}
	for _, s := range FilesLeftOut(from) {
		then[s.Path] = s
	}
	for _, s := range FilesLeftOut(to) {
		now[s.Path] = s
	}
	var list []missions.PathReason
	for path, s := range then {
		switch other, both := now[path]; {
		case !both:
			list = append(list, missions.PathReason{Path: path, Reason: "then " + LeftOutReason(s.Reason)})
		case other != s:
			list = append(list, missions.PathReason{Path: path, Reason: "changed, and " + LeftOutReason(other.Reason)})
		}
	}
	for path, s := range now {
		if _, both := then[path]; !both {
			list = append(list, missions.PathReason{Path: path, Reason: "now " + LeftOutReason(s.Reason)})
		}
	}
	slices.SortFunc(list, func(a, b missions.PathReason) int { return strings.Compare(a.Path, b.Path) })
	return list
}
