package missions

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
)

// compareTalks compares whole session files with what was recorded of them, for
// the missions that work in a workspace and are in no turn. A snapshot believes
// of a file that was only appended to all but its beginning and its last bytes;
// an agent that rewrote a line in between is found here, beside whatever is
// waited for, and what its file holds is recorded anew.
func (l *Local) compareTalks(ctx context.Context, root string) error {
	for _, m := range l.liveIn(root) {
		if InTurn(m.life) {
			continue
		}
		same, err := l.talkStands(ctx, m)
		if err != nil {
			return fmt.Errorf("compare the session of %s: %w", m.Name, err)
		}
		if same {
			continue
		}
		l.log.Info("the conversation was rewritten", "mission", m.ID, "session", m.bind.Session)
		take := &Take{Trigger: TriggerWatch, What: "conversation rewritten", Whole: true}
		if _, err := l.submit(ctx, m.project, m.ID, &request{take: take}); err != nil {
			return err
		}
	}
	return nil
}

// talkStands reports whether the session's file still holds, from its beginning,
// what the newest record does. A file that was compared is not read again until
// it changes.
func (l *Local) talkStands(ctx context.Context, m *loaded) (bool, error) {
	if m.bind.Session == "" || m.record.IsZero() || m.live.Provisional != "" {
		return true, nil
	}
	stamp := stampOf(m.bind.Session)
	if stamp == (fileStamp{}) || l.known.compared(m.ID) == stamp {
		return true, nil
	}
	recorded, err := m.project.store.OpenSession(m.record)
	if errors.Is(err, gitstore.ErrNoEntry) || err == nil && recorded.Meta.SessionID != m.stored.Session {
		return true, nil // the next snapshot reads all of it
	}
	if err != nil {
		return false, err
	}
	file, info, err := disk.OpenRegular(m.bind.Session)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer file.Close()
	same, err := recorded.HeldBy(ctx, file, info.Size())
	if same && stamp.settled(l.now()) {
		l.known.compare(m.ID, stamp)
	}
	return same, err
}
