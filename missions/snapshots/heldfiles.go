package snapshots

import (
	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/restore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// heldBeside are the files and links of a snapshot's tree that another tree lacks. It
// costs what the two differ in: mostly nothing.
func heldBeside(store *shadow.Store, known, tree gitstore.ID) *capture.Held {
	var paths []string
	err := store.DiffTrees(known, tree, func(c gitstore.Change) error {
		if c.From.ID.IsZero() && c.To.Mode.IsBlob() {
			paths = append(paths, c.Path)
		}
		return nil
	})
	if err != nil {
		return capture.UnknownHeld() // the store's own checks say what is wrong
	}
	return capture.NewHeld(paths)
}

// RuledOutFiles are the files of a mission's newest snapshot that a rule leaves out by
// now, nil if there are none. What can't be read is for doctor to say.
func RuledOutFiles(m *projects.Mission) *missions.RuledOutFiles {
	doc, err := m.Project.ReadRecordDoc(m.Tip, projects.RulesDoc)
	if err != nil {
		return nil
	}
	rules, err := capture.ParseRules(doc, treeFileReader(m.Project, m.Tip.Tree))
	if err != nil {
		return nil
	}
	return ruledOut(m, rules)
}

func ruledOut(m *projects.Mission, rules *capture.Recorded) *missions.RuledOutFiles {
	held := rules.Held()
	if len(held) == 0 {
		return nil
	}
	return &missions.RuledOutFiles{Mission: m.Name, Rule: rules.Rule(held[0]), Files: len(held), Paths: held[:min(len(held), maxLeftOutPaths)]}
}

// HeldNote says of the workspace's newest capture what RuledOutFiles says, "" for nothing.
func HeldNote(m *projects.Mission, present restore.Side) string {
	if out := ruledOut(m, present.Rules); out != nil {
		return out.Sentence()
	}
	return ""
}
