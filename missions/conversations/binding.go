package conversations

import (
	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// ConversationDirs is where the conversation of a snapshot was held, and so what its paths are
// of: in the workspace that its record names. That is another one than the mission's
// where the moment was inherited, or the workspace is elsewhere since.
func (l *Library) ConversationDirs(p *projects.Project, s *gitstore.Snapshot) (root, cwd string, err error) {
	then := &projects.Mission{Project: p, Record: s.Record}
	if err := then.ReadRecord(l.Home.Machine); err != nil {
		return "", "", err
	}
	if then.Binding.Machine == "" {
		if then.Binding, err = ForeignBinding(p, s.Record); err != nil {
			return "", "", err
		}
	}
	return then.Binding.Workspace, then.Cwd(), nil
}

// ForeignBinding is where a record's mission was on the machine that it is of. A record
// may name more than one machine, since forks once kept the bindings of their source:
// paths of the wrong one are met nowhere.
func ForeignBinding(p *projects.Project, record gitstore.ID) (projects.Binding, error) {
	names, err := BindingFiles(p, record)
	if err != nil {
		return projects.Binding{}, missions.Errorf(missions.KindDamaged, "umbra doctor", "record %s: %w", record.Short(), err)
	}
	if len(names) == 0 {
		return projects.Binding{}, missions.Errorf(missions.KindDamaged, "umbra doctor", "record %s names no machine", record.Short())
	}
	var b projects.Binding
	document := projects.BindingsDir + "/" + names[len(names)-1]
	raw, err := p.Store.RecordFile(record, document)
	if err != nil {
		return b, missions.Errorf(missions.KindDamaged, "umbra doctor", "record %s: %w", record.Short(), err)
	}
	err = projects.ParseDoc(document, raw, &b)
	return b, err
}

// BindingFiles lists the files of a record that say where its mission is, one for each
// machine.
func BindingFiles(p *projects.Project, record gitstore.ID) ([]string, error) {
	commit, err := p.Store.Commit(record)
	if err != nil {
		return nil, err
	}
	entries, err := records.NewTree(p.Store, commit.Tree).List(projects.BindingsDir)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name)
	}
	return names, err
}
