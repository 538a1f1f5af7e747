package snapshots

import (
	"slices"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/restore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// heldBefore is what a mission's newest snapshot holds, and what the mission withholds.
// The workspace's other missions withhold the same: else the next snapshot of one would
// hold it, and so would those of all. What a process has captured before tells it; one
// that knows nothing of the workspace asks the missions.
func (ws *WorkspaceCache) heldBefore(m *projects.Mission) *capture.Held {
	known, withheld := ws.Scanner.Known().Tree(), slices.Clone(m.Withheld)
	var leftOut []*documents.SkippedSet
	if known.IsZero() {
		here := ws.othersHere(m)
		for _, other := range here {
			withheld = append(withheld, other.Withheld...)
		}
		leftOut = leftOutOf(append(here, m))
	}
	if m.Tip == nil {
		return capture.NoHeld().Withholding(withheld).LeavingOut(leftOut...)
	}
	return heldBeside(m.Project.Store, known, m.Tip.Tree).Withholding(withheld).LeavingOut(leftOut...)
}

// othersHere are the other missions of a mission's workspace, those in the trash too. What
// can't be read is for doctor to say.
func (ws *WorkspaceCache) othersHere(m *projects.Mission) []*projects.Mission {
	all, _ := ws.workspaces.ProjectMissions(m.Project)
	removed, _ := ws.workspaces.RemovedMissionsIn(m.Project)
	return slices.DeleteFunc(append(all, removed...), func(other *projects.Mission) bool {
		return other.ID == m.ID || other.Binding.Identity.FileIdentity != ws.Identity
	})
}

// leftOutOf is what the missions' newest snapshots left out.
func leftOutOf(list []*projects.Mission) (sets []*documents.SkippedSet) {
	for _, m := range list {
		if m.Tip == nil {
			continue
		}
		if skipped := RecordedSkipped(m.Project, m.Tip); skipped != nil {
			sets = append(sets, skipped)
		}
	}
	return sets
}

// heldBeside are the files and links of a snapshot's tree that another tree lacks.
func heldBeside(store *shadow.Store, known, tree gitstore.ID) *capture.Held {
	paths, err := FilesBeside(store, known, tree)
	if err != nil {
		return capture.UnknownHeld() // the store's own checks say what is wrong
	}
	return capture.NewHeld(paths)
}

// FilesBeside lists the files and links of a tree that another tree lacks. It costs what
// the two differ in: mostly nothing.
func FilesBeside(store *shadow.Store, known, tree gitstore.ID) (paths []string, err error) {
	err = store.DiffTrees(known, tree, func(c gitstore.Change) error {
		if !c.From.Mode.IsBlob() && c.To.Mode.IsBlob() {
			paths = append(paths, c.Path)
		}
		return nil
	})
	return paths, err
}

// RuledOutFiles are the files of a mission's newest snapshot that a rule leaves out by
// now, nil if there are none. What can't be read is for doctor to say.
func RuledOutFiles(m *projects.Mission) *missions.RuledOutFiles {
	doc, err := m.Project.ReadRecordDoc(m.Tip, projects.RulesDoc)
	if err != nil {
		return nil
	}
	rules, err := documents.ParseRules(doc, treeFileReader(m.Project, m.Tip.Tree))
	if err != nil {
		return nil
	}
	return ruledOut(m, rules)
}

func ruledOut(m *projects.Mission, rules *documents.Rules) *missions.RuledOutFiles {
	held := rules.Held()
	if len(held) == 0 {
		return nil
	}
	return &missions.RuledOutFiles{Mission: m.Name, Rule: rules.Rule(held[0]), Files: len(held), Paths: held[:min(len(held), maxLeftOutPaths)]}
}

// WithheldPaths are what stays out of a mission's snapshots though no rule says so any
// more, nil if there is nothing. Only some are named.
func WithheldPaths(m *projects.Mission) *missions.WithheldPaths {
	if len(m.Withheld) == 0 {
		return nil
	}
	return &missions.WithheldPaths{Mission: m.Name, Count: len(m.Withheld), Paths: m.Withheld[:min(len(m.Withheld), maxLeftOutPaths)]}
}

// HeldNote says of the workspace's newest capture what RuledOutFiles says, "" for nothing.
func HeldNote(m *projects.Mission, present restore.Side) string {
	if out := ruledOut(m, present.Rules); out != nil {
		return out.Sentence()
	}
	return ""
}
