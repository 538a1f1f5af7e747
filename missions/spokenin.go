package missions

import (
	"github.com/umbra-vcs/umbra/gitstore"
)

// spokenIn is where the conversation of a snapshot was held, and so what its paths are
// of: in the workspace that its record names. That is another one than the mission's
// where the moment was inherited, or the workspace is elsewhere since.
func (l *Local) spokenIn(p *project, s *gitstore.Snapshot) (root, cwd string, err error) {
	then := &loaded{project: p, record: s.Record}
	if err := then.readRecord(l.home.Machine); err != nil {
		return "", "", err
	}
	if then.bind.Machine == "" {
		if then.bind, err = p.foreignBinding(s.Record); err != nil {
			return "", "", err
		}
	}
	return then.bind.Workspace, then.cwd(), nil
}

// foreignBinding is where a record's mission was on the machine that it is of. A record
// may name more than one machine, since forks once kept the bindings of their source:
// paths of the wrong one are met nowhere.
func (p *project) foreignBinding(record gitstore.ID) (binding, error) {
	names, err := p.bindings(record)
	if err != nil {
		return binding{}, Errorf(KindDamaged, "umbra doctor", "record %s: %w", record.Short(), err)
	}
	if len(names) == 0 {
		return binding{}, Errorf(KindDamaged, "umbra doctor", "record %s names no machine", record.Short())
	}
	var b binding
	document := bindingsDir + "/" + names[len(names)-1]
	raw, err := p.store.RecordFile(record, document)
	if err != nil {
		return b, Errorf(KindDamaged, "umbra doctor", "record %s: %w", record.Short(), err)
	}
	err = parseDoc(document, raw, &b)
	return b, err
}

// bindings lists the files of a record that say where its mission is, one for each
// machine.
func (p *project) bindings(record gitstore.ID) ([]string, error) {
	commit, err := p.store.Commit(record)
	if err != nil {
		return nil, err
	}
	entries, err := p.store.NewRecordTree(commit.Tree).List(bindingsDir)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name)
	}
	return names, err
}
