package missions

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

// ancestors is how many first-parent ids of HEAD a record keeps: a fork whose
// HEAD is gone goes to the nearest that survives.
const ancestors = 50

// gitRecord is the user's repository in a record.
type gitRecord struct {
	Head      string   `json:"head"`
	Branch    string   `json:"branch"`
	Unborn    bool     `json:"unborn,omitempty"`
	Ancestors []string `json:"ancestors,omitempty"`
	Operation string   `json:"operation,omitempty"`
	Unread    string   `json:"unread,omitempty"` // why a part of this could not be read
}

// headUnread is why HEAD could not be read, "" if it could be.
func (g gitRecord) headUnread() string {
	if g.Head != "" || g.Unborn {
		return ""
	}
	return g.Unread
}

// stagedRecord is the staged state: the index as the difference from HEAD's
// tree. Entries whose blob was imported name it; for the others Missing is set.
type stagedRecord struct {
	Entries []stagedItem `json:"entries"`
}

type stagedItem struct {
	Path         string `json:"path"`
	Mode         string `json:"mode"` // six octal digits, "000000" for a deletion
	ID           string `json:"id,omitempty"`
	Stage        int    `json:"stage,omitempty"`
	IntentToAdd  bool   `json:"intent_to_add,omitempty"`
	SkipWorktree bool   `json:"skip_worktree,omitempty"`
	AssumeValid  bool   `json:"assume_valid,omitempty"`
	Missing      bool   `json:"missing,omitempty"` // the blob could not be had
}

// userGit is what was last read of a workspace's repository, so that reading it
// again costs a few stat calls while nothing has changed.
type userGit struct {
	repo     *usergit.Repository
	index    fileStamp
	state    gitRecord
	staged   stagedRecord
	blobs    []gitstore.ID // imported for staged, to be kept in the record's tree
	headOf   string        // the HEAD that Ancestors are of
	stagedOf string        // the HEAD that staged was compared with
}

// fileStamp tells whether a file has changed.
type fileStamp struct {
	size, mtime, ctime int64
	place              Place
}

func stampOf(path string) fileStamp {
	info, err := os.Stat(path)
	if err != nil {
		return fileStamp{}
	}
	return fileStamp{size: info.Size(), mtime: info.ModTime().UnixNano(), ctime: changeTime(info), place: identityOf(info)}
}

// stampSettles is how old a file's newest change must be for another to be seen
// in its stat data, on the coarsest clock of a file system.
const stampSettles = 2 * time.Second

// settled reports whether another change of a file that had the stamp before now
// is seen in its stat data.
func (s fileStamp) settled(now time.Time) bool {
	return now.Sub(time.Unix(0, max(s.mtime, s.ctime))) > stampSettles
}

// read brings the state up to date, importing the blobs of staged entries. What
// can't be read is said in the record and fails no snapshot: the user's files
// matter more than their index.
func (u *userGit) read(store *gitstore.Store, batch *gitstore.Batch) (gitRecord, stagedRecord, error) {
	head, err := u.repo.Head()
	if err != nil {
		return gitRecord{Unread: err.Error()}, stagedRecord{}, nil
	}
	u.state = gitRecord{Head: head.ID.String(), Branch: head.Branch(), Unborn: head.Unborn(), Ancestors: u.state.Ancestors}
	if ops, err := u.repo.Operations(); err == nil && len(ops) > 0 {
		u.state.Operation = string(ops[0])
	}
	if u.repo.Format != usergit.SHA1 {
		u.state.Unread = "the repository names objects by SHA-256: staged state is not kept"
		return u.state, stagedRecord{}, nil
	}
	stamp := stampOf(filepath.Join(u.repo.GitDir, "index"))
	if stamp == u.index && u.stagedOf == u.state.Head && u.headOf == u.state.Head {
		if kept, err := u.kept(store); err != nil || kept {
			return u.state, u.staged, err
		}
	}
	objects, err := gitstore.OpenObjects(u.repo.CommonDir)
	if err != nil {
		u.state.Unread = err.Error()
		return u.state, stagedRecord{}, nil
	}
	defer objects.Close()
	if err := u.readObjects(head, objects, batch); err != nil {
		u.state.Unread = err.Error()
		u.index = fileStamp{}
		return u.state, stagedRecord{}, nil
	}
	u.index = stamp
	return u.state, u.staged, nil
}

// kept reports whether what was imported before is stored: the snapshot that
// imported it may have failed.
func (u *userGit) kept(store *gitstore.Store) (bool, error) {
	for _, id := range u.blobs {
		if ok, err := store.Has(id); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

func (u *userGit) readObjects(head usergit.Head, objects *gitstore.Objects, batch *gitstore.Batch) error {
	reader := userObjects{objects}
	u.state.Ancestors = nil
	var tree usergit.ID
	if !head.Unborn() {
		ids, err := u.repo.FirstParents(reader, head.ID, ancestors+1)
		if err != nil && len(ids) == 0 {
			return err
		}
		for _, id := range ids[1:] {
			u.state.Ancestors = append(u.state.Ancestors, id.String())
		}
		commit, err := reader.Commit(head.ID)
		if err != nil {
			return err
		}
		tree = commit.Tree
	}
	index, err := u.repo.Index()
	if err != nil {
		return err
	}
	if index, err = index.Expand(reader); err != nil {
		return err
	}
	entries, err := usergit.Staged(reader, tree, index)
	if err != nil {
		return err
	}
	u.staged, u.blobs = stagedRecord{Entries: []stagedItem{}}, nil
	for _, e := range entries {
		item, err := u.importStaged(e, objects, batch)
		if err != nil {
			return err
		}
		u.staged.Entries = append(u.staged.Entries, item)
	}
	u.headOf, u.stagedOf = u.state.Head, u.state.Head
	return nil
}

// importStaged brings a staged blob into the shadow repository. One that is
// missing in the user's is noted, not an error.
func (u *userGit) importStaged(e usergit.StagedEntry, objects *gitstore.Objects, batch *gitstore.Batch) (stagedItem, error) {
	item := stagedItem{
		Path: e.Path, Mode: e.Mode.String(), Stage: e.Stage, ID: e.ID.String(),
		IntentToAdd: e.Flags.IntentToAdd, SkipWorktree: e.Flags.SkipWorktree, AssumeValid: e.Flags.AssumeValid,
	}
	if e.ID.IsZero() || e.Flags.IntentToAdd || gitstore.Mode(e.Mode) == gitstore.ModeGitlink {
		return item, nil
	}
	id, err := storeID(e.ID)
	if err != nil {
		return item, err
	}
	r, size, err := objects.BlobReader(id)
	if errors.Is(err, gitstore.ErrMissing) {
		item.Missing = true
		return item, nil
	}
	if err != nil {
		return item, err
	}
	defer r.Close()
	if _, err := batch.BlobFrom(r, size); err != nil {
		return item, err
	}
	u.blobs = append(u.blobs, id)
	return item, nil
}

// putUserGit writes the state of the workspace's repository into a record.
func putUserGit(t *gitstore.RecordTree, store *gitstore.Store, ws *workspace, batch *gitstore.Batch) (gitRecord, error) {
	if ws.git == nil {
		return gitRecord{}, t.Remove("git")
	}
	g, staged, err := ws.git.read(store, batch)
	if err != nil {
		return g, err
	}
	if g.Unread == "" && ws.config.Unread != nil {
		g.Unread = ws.config.Unread.Error()
	}
	return g, putGit(t, g, staged, ws.git.blobs)
}

// putGit writes the state of the user's repository into a record.
func putGit(t *gitstore.RecordTree, g gitRecord, s stagedRecord, blobs []gitstore.ID) error {
	if err := writeDoc(t, gitDoc, g); err != nil {
		return err
	}
	if len(s.Entries) == 0 {
		return errors.Join(t.Remove(stagedDoc), t.Remove("git/blobs"))
	}
	if err := writeDoc(t, stagedDoc, s); err != nil {
		return err
	}
	if err := t.Remove("git/blobs"); err != nil {
		return err
	}
	for _, id := range blobs {
		if err := t.PutEntry("git/blobs/"+id.String(), gitstore.ModeFile, id); err != nil {
			return err
		}
	}
	return nil
}

// gitOf reads the state of the user's repository from a snapshot's record.
func (p *project) gitOf(s *gitstore.Snapshot) (gitRecord, stagedRecord, error) {
	var g gitRecord
	var staged stagedRecord
	doc, err := p.recordDoc(s, gitDoc)
	if errors.Is(err, gitstore.ErrNoEntry) {
		return g, staged, nil
	}
	if err != nil {
		return g, staged, err
	}
	if err := json.Unmarshal(doc, &g); err != nil {
		return g, staged, Errorf(KindDamaged, "umbra doctor", "%s of snapshot %s: %w", gitDoc, s.ID.Short(), err)
	}
	doc, err = p.recordDoc(s, stagedDoc)
	if errors.Is(err, gitstore.ErrNoEntry) {
		return g, staged, nil
	}
	if err != nil {
		return g, staged, err
	}
	return g, staged, parseDoc(stagedDoc, doc, &staged)
}

// trimRef is a branch's short name.
func trimRef(ref string) string { return strings.TrimPrefix(ref, "refs/heads/") }
