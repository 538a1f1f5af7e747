package missions

import "github.com/umbra-vcs/umbra/gitstore"

// spokenIn is where the conversation of a snapshot was held, and so what its paths are
// of: in the mission's workspace, and for a moment that it has inherited in that of
// the mission of which it was taken.
func (l *Local) spokenIn(m *loaded, s *gitstore.Snapshot) (root, cwd string, err error) {
	if s.Mission == m.ID {
		return m.bind.Workspace, m.cwd(), nil
	}
	then := &loaded{project: m.project, record: s.Record}
	if err := then.readRecord(l.home.Machine); err != nil {
		return "", "", err
	}
	if then.bind.Workspace == "" {
		return "", "", Errorf(KindConflict, "fork a later moment, or restore with --files-only",
			"the conversation of snapshot %s was held on another machine: where is not known", s.ID.Short())
	}
	return then.bind.Workspace, then.cwd(), nil
}
