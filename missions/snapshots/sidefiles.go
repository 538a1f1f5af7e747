package snapshots

import (
	"fmt"
	"io"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions/conversations"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// putSideFiles brings the files beside a session in a record up to what is on disk now.
func (sr *SessionRecorder) putSideFiles(t *records.Tree, a sessions.Adapter, m *projects.Mission, ws *WorkspaceCache, batch *shadow.Batch) error {
	list, err := conversations.SidesNow(m, a)
	if err != nil {
		return fmt.Errorf("session of %s: %w", m.Name, err)
	}
	now := sr.Now()
	stamps, sides := make([]home.FileStamp, len(list)), make([]records.SideFile, len(list))
	for i, side := range list {
		stamps[i] = home.StampOf(side.Path)
		sides[i] = records.SideFile{
			Name: side.Name, Executable: conversations.IsExecutable(side), Known: ws.SideFiles.ContentID(side.Path, stamps[i]),
			Open: func() (io.ReadCloser, int64, error) { return conversations.OpenWithSize(side.Path) },
		}
	}
	ids, err := t.SetSides(batch, sides)
	if err != nil {
		return fmt.Errorf("session of %s: %w", m.Name, err)
	}
	for i, id := range ids {
		ws.SideFiles.Remember(list[i].Path, stamps[i], id, now)
	}
	return nil
}

// areSideFilesRecorded reports whether the newest snapshot holds the files that are
// beside the session now. A file that is gone since is no reason for another snapshot:
// the conversation may begin in the file, and the new snapshot would not hold it.
func (sr *SessionRecorder) areSideFilesRecorded(m *projects.Mission, a sessions.Adapter, ws *WorkspaceCache) (bool, error) {
	list, err := conversations.SidesNow(m, a)
	if err != nil {
		return false, err
	}
	stored, err := records.SessionSides(m.Project.Store, m.Tip.Record)
	if err != nil {
		return false, err
	}
	recorded := map[records.StoredSide]bool{}
	for _, side := range stored {
		recorded[side] = true
	}
	for _, side := range list {
		id, err := sr.sideFileContentID(side, ws)
		if err != nil || !recorded[records.StoredSide{Name: side.Name, ID: id, Executable: conversations.IsExecutable(side)}] {
			return false, err
		}
	}
	return true, nil
}

// sideFileContentID is the id of the content of a file beside a session.
func (sr *SessionRecorder) sideFileContentID(side sessions.Side, ws *WorkspaceCache) (gitstore.ID, error) {
	now, stamp := sr.Now(), home.StampOf(side.Path)
	if id := ws.SideFiles.ContentID(side.Path, stamp); !id.IsZero() {
		return id, nil
	}
	r, size, err := conversations.OpenWithSize(side.Path)
	if err != nil {
		return gitstore.ID{}, err
	}
	defer r.Close()
	id, err := gitstore.HashBlob(io.LimitReader(r, size), size)
	if err == nil {
		ws.SideFiles.Remember(side.Path, stamp, id, now)
	}
	return id, err
}
