package snapshots

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/gitstore/objects"
	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// maxAncestors is how many first-parent ids of HEAD a record keeps: a fork whose
// HEAD is gone goes to the nearest that survives.
const maxAncestors = 50

// gitRecord is the user's repository in a record.
type gitRecord struct {
	Head         string   `json:"head"`
	Branch       string   `json:"branch"`
	Unborn       bool     `json:"unborn,omitempty"`
	Ancestors    []string `json:"ancestors,omitempty"`
	Operation    string   `json:"operation,omitempty"`
	UnreadReason string   `json:"unread,omitempty"` // why a part of this could not be read
}

// HeadUnreadReason is why HEAD could not be read, "" if it could be.
func (g gitRecord) HeadUnreadReason() string {
	if g.Head != "" || g.Unborn {
		return ""
	}
	return g.UnreadReason
}

// stagedRecord is the staged state: how the index differs from the tree of HEAD. An
// entry names its blob if that was imported; otherwise Missing is set.
type stagedRecord struct {
	Entries []StagedItem `json:"entries"`
}

type StagedItem struct {
	Path         string `json:"path"`
	Mode         string `json:"mode"` // six octal digits, "000000" for a deletion
	ID           string `json:"id,omitempty"`
	Stage        int    `json:"stage,omitempty"`
	IntentToAdd  bool   `json:"intent_to_add,omitempty"`
	SkipWorktree bool   `json:"skip_worktree,omitempty"`
	AssumeValid  bool   `json:"assume_valid,omitempty"`
	Missing      bool   `json:"missing,omitempty"` // the blob could not be had
}

// gitStateCache is what was last read of a workspace's repository. While nothing has
// changed, a few stat calls are enough to read it again.
type gitStateCache struct {
	repo          *usergit.Repository
	indexStamp    home.FileStamp
	state         gitRecord
	staged        stagedRecord
	blobs         []gitstore.ID // imported for staged, to be kept in the record's tree
	ancestorsHead string        // the HEAD that Ancestors are of
	stagedHead    string        // the HEAD that staged was compared with
}

// refresh brings the state up to date and imports the blobs of staged entries. What
// can't be read fails no snapshot and is said in the record: the user's files matter
// more than their index.
func (u *gitStateCache) refresh(store *shadow.Store, batch *shadow.Batch) (gitRecord, stagedRecord, error) {
	head, err := u.repo.Head()
	if err != nil {
		return gitRecord{UnreadReason: err.Error()}, stagedRecord{}, nil
	}
	u.state = gitRecord{Head: head.ID.String(), Branch: head.Branch(), Unborn: head.Unborn(), Ancestors: u.state.Ancestors}
	if ops, err := u.repo.Operations(); err == nil && len(ops) > 0 {
		u.state.Operation = string(ops[0])
	}
	if u.repo.Format != usergit.SHA1 {
		u.state.UnreadReason = "the repository names objects by SHA-256: staged state is not kept"
		return u.state, stagedRecord{}, nil
	}
	stamp := home.StampOf(filepath.Join(u.repo.GitDir, "index"))
	if stamp == u.indexStamp && u.stagedHead == u.state.Head && u.ancestorsHead == u.state.Head {
		if kept, err := u.areBlobsStored(store); err != nil || kept {
			return u.state, u.staged, err
		}
	}
	user, err := objects.Open(u.repo.CommonDir)
	if err != nil {
		u.state.UnreadReason = err.Error()
		return u.state, stagedRecord{}, nil
	}
	defer user.Close()
	if err := u.readObjects(head, user, batch); err != nil {
		u.state.UnreadReason = err.Error()
		u.indexStamp = home.FileStamp{}
		return u.state, stagedRecord{}, nil
	}
	u.indexStamp = stamp
	return u.state, u.staged, nil
}

// areBlobsStored reports whether the imported blobs are stored: the snapshot that
// imported them may have failed.
func (u *gitStateCache) areBlobsStored(store *shadow.Store) (bool, error) {
	for _, id := range u.blobs {
		if ok, err := store.Has(id); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

func (u *gitStateCache) readObjects(head usergit.Head, user *objects.Reader, batch *shadow.Batch) error {
	reader := userObjects{user}
	u.state.Ancestors = nil
	var tree usergit.ID
	if !head.Unborn() {
		ids, err := u.repo.FirstParents(reader, head.ID, maxAncestors+1)
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
	u.staged, u.blobs = stagedRecord{Entries: []StagedItem{}}, nil
	for _, e := range entries {
		item, err := u.importStagedBlob(e, user, batch)
		if err != nil {
			return err
		}
		u.staged.Entries = append(u.staged.Entries, item)
	}
	u.ancestorsHead, u.stagedHead = u.state.Head, u.state.Head
	return nil
}

// importStagedBlob copies a staged blob into the shadow repository. A blob that the
// user's repository lacks is noted and is no error.
func (u *gitStateCache) importStagedBlob(e usergit.StagedEntry, user *objects.Reader, batch *shadow.Batch) (StagedItem, error) {
	item := StagedItem{
		Path: e.Path, Mode: e.Mode.String(), Stage: e.Stage, ID: e.ID.String(),
		IntentToAdd: e.Flags.IntentToAdd, SkipWorktree: e.Flags.SkipWorktree, AssumeValid: e.Flags.AssumeValid,
	}
	if e.ID.IsZero() || e.Flags.IntentToAdd || gitstore.Mode(e.Mode) == gitstore.ModeGitlink {
		return item, nil
	}
	id, err := ToStoreID(e.ID)
	if err != nil {
		return item, err
	}
	r, size, err := user.BlobReader(id)
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

// putGitState writes the state of the workspace's repository into a record.
func putGitState(t *records.Tree, store *shadow.Store, ws *WorkspaceCache, batch *shadow.Batch) (gitRecord, error) {
	if ws.gitState == nil {
		return gitRecord{}, t.Remove("git")
	}
	g, staged, err := ws.gitState.refresh(store, batch)
	if err != nil {
		return g, err
	}
	if g.UnreadReason == "" && ws.config.Unread != nil {
		g.UnreadReason = ws.config.Unread.Error()
	}
	return g, putGitRecord(t, g, staged, ws.gitState.blobs)
}

// isGitStateRecorded reports whether HEAD of the workspace's repository is where the newest
// snapshot has it and, for a fork, which goes on with it, what is staged too.
func (ws *WorkspaceCache) isGitStateRecorded(m *projects.Mission, w *WantedSnapshot, batch *shadow.Batch) bool {
	if ws.gitState == nil {
		return m.Tip.GitHead == ""
	}
	head, err := ws.gitState.repo.Head()
	if err != nil {
		return true // what can't be read is no reason for a snapshot
	}
	if head.ID.String() != m.Tip.GitHead || BranchName(head.Branch()) != m.Tip.GitBranch {
		return false
	}
	if w.Trigger != missions.TriggerFork {
		return true
	}
	g, staged, err := ws.gitState.refresh(m.Project.Store, batch)
	_, recorded, unread := ReadGitRecord(m.Project, m.Tip)
	return err == nil && unread == nil && (g.UnreadReason != "" || slices.Equal(staged.Entries, recorded.Entries))
}

// GitSince is what became of the user's repository since a snapshot.
type GitSince struct {
	Then, Now missions.GitState
	Restaged  bool // what is staged is not as it was
}

// GitSince compares the repository of a workspace with a snapshot's record of it. What can't
// be read counts as unchanged. The caller holds the workspace.
func (wk *Workspaces) GitSince(ctx context.Context, m *projects.Mission, s *gitstore.Snapshot) (GitSince, error) {
	ws, err := wk.RefreshWorkspace(ctx, m)
	if err != nil || ws.gitState == nil {
		return GitSince{}, err
	}
	then, staged, err := ReadGitRecord(m.Project, s)
	if err != nil {
		return GitSince{}, err
	}
	batch := m.Project.Store.NewBatch()
	defer batch.Discard()
	now, stagedNow, err := ws.gitState.refresh(m.Project.Store, batch)
	if err != nil || then.HeadUnreadReason() != "" || now.HeadUnreadReason() != "" {
		return GitSince{}, err
	}
	return GitSince{
		Then:     missions.GitState{Head: then.Head, Branch: BranchName(then.Branch)},
		Now:      missions.GitState{Head: now.Head, Branch: BranchName(now.Branch)},
		Restaged: then.UnreadReason == "" && now.UnreadReason == "" && !slices.Equal(stagedNow.Entries, staged.Entries),
	}, nil
}

// CountCommits counts the commits that HEAD has, and had not then.
func (wk *Workspaces) CountCommits(ctx context.Context, m *projects.Mission, g GitSince) (n int, err error) {
	if g.Now.Head == g.Then.Head || g.Now.Head == "" {
		return 0, nil
	}
	ws, err := wk.RefreshWorkspace(ctx, m)
	if err != nil || ws.Repo == nil {
		return 0, err
	}
	args := []string{"rev-list", "--count", g.Now.Head}
	if g.Then.Head != "" {
		args = append(args, "^"+g.Then.Head)
	}
	out, err := git.Run(ctx, git.Command{GitDir: ws.Repo.CommonDir, Args: args})
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(out)))
}

// putGitRecord writes the state of the user's repository into a record.
func putGitRecord(t *records.Tree, g gitRecord, s stagedRecord, blobs []gitstore.ID) error {
	if err := projects.WriteDoc(t, projects.GitDoc, g); err != nil {
		return err
	}
	if len(s.Entries) == 0 {
		return errors.Join(t.Remove(projects.StagedDoc), t.Remove(StagedBlobs))
	}
	if err := projects.WriteDoc(t, projects.StagedDoc, s); err != nil {
		return err
	}
	if err := t.Remove(StagedBlobs); err != nil {
		return err
	}
	for _, id := range blobs {
		if err := t.PutEntry(StagedBlobs+"/"+id.String(), gitstore.ModeFile, id); err != nil {
			return err
		}
	}
	return nil
}

// ReadGitRecord reads the state of the user's repository from a snapshot's record.
func ReadGitRecord(p *projects.Project, s *gitstore.Snapshot) (gitRecord, stagedRecord, error) {
	var g gitRecord
	var staged stagedRecord
	doc, err := p.ReadRecordDoc(s, projects.GitDoc)
	if errors.Is(err, gitstore.ErrNoEntry) {
		return g, staged, nil
	}
	if err != nil {
		return g, staged, err
	}
	if err := json.Unmarshal(doc, &g); err != nil {
		return g, staged, missions.Errorf(missions.KindDamaged, "umbra doctor", "%s of snapshot %s: %w", projects.GitDoc, s.ID.Short(), err)
	}
	if !gitstore.IsCommitName(g.Head) {
		g.Head = "" // the record may be a stranger's
	}
	staged.Entries, err = StagedIn(p, s.Record)
	if err != nil {
		err = missions.Errorf(missions.KindDamaged, "umbra doctor", "record of snapshot %s: %w", s.ID.Short(), err)
	}
	return g, staged, err
}

// StagedBlobs is where a record keeps the content of what was staged, by its ids.
const StagedBlobs = "git/blobs"

// StagedIn is what a record has as staged, nothing if there was no repository.
func StagedIn(p *projects.Project, record gitstore.ID) ([]StagedItem, error) {
	var staged stagedRecord
	doc, err := p.Store.RecordFile(record, projects.StagedDoc)
	if err != nil {
		return nil, gitstore.Ignoring(err, gitstore.ErrNoEntry)
	}
	return staged.Entries, projects.ParseDoc(projects.StagedDoc, doc, &staged)
}
