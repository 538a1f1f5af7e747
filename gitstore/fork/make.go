package fork

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
	"github.com/umbra-vcs/umbra/gitstore/git"
)

// maker is one fork being made.
type maker struct {
	src    Source
	target Target
	doc    Document
	made   *Made

	source *userGit // the source's worktree; nil without Git
	git    *userGit // the fork's worktree; nil in a plain directory
	list   *listing
	live   *beneath.Root // the source's workspace; nil if gone
	scan   scan
	rest   *rest // what is outside the workspace; nil if nothing is

	claim *os.File // the lock on a directory that was there; nil without
	// branches gives the names for the fork's branch, best first.
	branches func() (string, bool)
	copier   *copier
	staging  staging
	mu       sync.Mutex // guards what is found while files are written
}

// Make makes the workspace of a fork: all of it or nothing. On an error, and
// when ctx ends, what was made is taken away again into Target.Trash, but for objects
// added to the user's repository; a process that is killed leaves that to UndoDocument.
// Errors: *LimitError, *TargetError, those of the Store (a missing or damaged
// object), of git (*git.Error) and of the system.
//
// What is made is not durable before Sync.
func Make(ctx context.Context, src Source, target Target) (*Made, error) {
	k := &maker{src: src, target: target, made: &Made{}, copier: &copier{report: target.Progress}, staging: staging{entries: src.Staged}}
	defer k.close()
	if err := k.prepare(ctx); err != nil {
		return nil, err
	}
	if err := k.make(ctx); err != nil {
		place, undone := undo(context.WithoutCancel(ctx), k.doc, k.target.Trash)
		if full := errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT); full && place != "" && madeAll(k, place) {
			// The disk needs its space back. The directories made for it could not go
			// while it stood in one of them.
			undone = errors.Join(undone, beneath.RemoveTree(place), takeParents(k.doc))
			place = ""
		}
		if place != "" && k.target.Undone != nil {
			k.target.Undone(place)
		}
		return nil, errors.Join(err, undone)
	}
	slices.Sort(k.made.PointsIn)
	slices.Sort(k.made.LinksIn)
	slices.SortFunc(k.made.Left, func(a, b Left) int { return strings.Compare(a.Path, b.Path) })
	k.made.Document = k.doc
	return k.made, nil
}

// madeAll reports whether what a fork that failed has left holds no name but those that
// the fork makes. Of a worktree around the workspace they are not known.
func madeAll(k *maker, place string) bool {
	makes := map[string]bool{".": true, ".git": true}
	for _, f := range k.list.files {
		makes[f.path] = true
	}
	for _, dir := range k.list.dirs {
		makes[dir] = true
	}
	for _, i := range k.scan.items {
		makes[i.path] = true
	}
	return k.doc.Scope == "" && filepath.WalkDir(place, func(at string, _ fs.DirEntry, err error) error {
		name, relErr := filepath.Rel(place, at)
		if err == nil && relErr == nil && !makes[name] {
			err = fs.ErrExist
		}
		return errors.Join(err, relErr)
	}) == nil
}

// Undo takes away what Make made, for a fork that fails later: the directory goes into
// trash, with whatever others wrote there meanwhile. It returns where it is now.
func (m *Made) Undo(ctx context.Context, trash string) (string, error) {
	return undo(ctx, m.Document, trash)
}

func (k *maker) close() {
	if k.live != nil {
		k.live.Close()
	}
	if k.rest != nil {
		k.rest.close()
	}
	if k.claim != nil {
		// Before close: a child being started holds the descriptor too.
		_ = unix.Flock(int(k.claim.Fd()), unix.LOCK_UN)
		k.claim.Close()
	}
}

// prepare looks at everything that could keep a fork from being made, and
// makes nothing.
func (k *maker) prepare(ctx context.Context) error {
	k.doc = Document{Version: documentVersion, Operation: k.target.Operation}
	if _, _, ok := beneath.ParseScratch(beneath.ScratchName(k.target.Operation, 0)); !ok {
		return fmt.Errorf("operation %q is not a UUID", k.target.Operation)
	}
	if err := k.checkTarget(); err != nil {
		return err
	}
	if err := k.openLive(); err != nil {
		return err
	}
	// Git's processes are waited for, and take no longer than the look.
	if err := together(ctx, k.prepareGit, k.look); err != nil {
		return err
	}
	if err := k.lookOutside(ctx); err != nil {
		return err
	}
	k.made.Worktree, k.made.Workspace = k.doc.Directory, k.doc.workspace()
	k.copier.done.TotalFiles = len(k.list.files) + k.scan.files + k.rest.files()
	if len(k.list.files) == 0 || k.src.Bytes > 0 {
		k.copier.done.TotalBytes = k.src.Bytes + k.extraBytes()
	}
	return k.checkLimit()
}

// extraBytes is how large the files are that no snapshot holds.
func (k *maker) extraBytes() int64 { return k.scan.bytes + k.rest.bytes() }

func (k *maker) openLive() error {
	if k.src.Live == "" {
		return nil
	}
	root, err := beneath.Open(k.src.Live)
	if err != nil {
		return fmt.Errorf("workspace of the source: %w", err)
	}
	k.live = root
	if k.src.Identity != (beneath.Identity{}) && root.Identity() != k.src.Identity {
		return fmt.Errorf("workspace of the source: %s: %w", k.src.Live, beneath.ErrMoved)
	}
	return nil
}

// prepareGit finds the commit to start from, and what branches there are.
func (k *maker) prepareGit(ctx context.Context) error {
	if k.src.Repo == nil {
		return nil
	}
	err := k.findCommit(ctx)
	if err == nil && k.source != nil {
		k.branches, err = branchNames(ctx, k.source, k.target.Name)
	}
	if err != nil {
		return fmt.Errorf("git of the source: %w", err)
	}
	return nil
}

// findCommit finds the commit to start from. Without one, or without the git
// program, the fork is a plain directory.
func (k *maker) findCommit(ctx context.Context) error {
	if k.src.Head == "" && k.src.Unread == "" {
		if !k.src.Repo.Bare {
			k.note("HEAD had no commit: the fork is a plain directory, without Git.")
		}
		return nil // of a bare one noteBare tells
	}
	g, err := k.openSource(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		k.note("The repository of the source is gone: the fork is a plain directory, without Git.")
		return nil
	}
	if errors.Is(err, git.ErrNotInstalled) {
		k.note("The git program is not installed: the fork is a plain directory, without Git.")
		return nil
	}
	if err != nil {
		return err
	}
	head, err := k.startOf(ctx, g)
	if err != nil || head == "" {
		return err
	}
	k.source, k.doc.Head, k.doc.CommonDir, k.doc.Scope = g, head, k.src.Repo.CommonDir, k.src.Scope
	return nil
}

// startOf is the commit of the moment, or what is nearest to it, of which there is a
// note; "" if there is none.
func (k *maker) startOf(ctx context.Context, g *userGit) (string, error) {
	if k.src.Head == "" {
		return k.startOfNow(ctx, g)
	}
	head, err := survivor(ctx, g, k.src)
	if err != nil {
		return "", err
	}
	k.made.Fallback = head != k.src.Head
	gone := "Commit " + short(k.src.Head) + ", HEAD of that moment, is gone"
	if head == "" {
		k.note(gone + ", and so are its ancestors: the fork is a plain directory, without Git.")
	} else if k.made.Fallback {
		k.note(gone + ": the branch starts at its ancestor " + short(head) + ".")
	}
	return head, nil
}

// startOfNow is HEAD of now, for that of the moment could not be read.
func (k *maker) startOfNow(ctx context.Context, g *userGit) (string, error) {
	head, err := g.resolve(ctx, "HEAD")
	if err != nil {
		return "", err
	}
	k.made.Fallback = true
	unread := "HEAD of that moment could not be read (" + k.src.Unread + ")"
	if head == "" {
		k.note(unread + ", and has no commit now: the fork is a plain directory, without Git.")
	} else {
		k.note(unread + ": the branch starts at HEAD of now, " + short(head) + ".")
	}
	return head, nil
}

// openSource runs git in the source's worktree, or in the repository if only
// that is left.
func (k *maker) openSource(ctx context.Context) (*userGit, error) {
	repo := k.src.Repo
	if _, err := os.Stat(repo.CommonDir); err != nil {
		return nil, err
	}
	gitDir, top := repo.GitDir, repo.TopLevel
	if _, err := os.Stat(gitDir); err != nil {
		gitDir, top = repo.CommonDir, ""
	}
	if _, err := os.Stat(top); err != nil {
		top = ""
	}
	return openUserGit(ctx, k.target.Operation, gitDir, top)
}

func short(id string) string { return id[:min(len(id), 10)] }

// make makes everything. Whatever it fails at, the document says what to take
// away.
func (k *maker) make(ctx context.Context) error {
	if err := k.chooseBranch(); err != nil {
		return err
	}
	if err := k.record(k.doc); err != nil {
		return err
	}
	failpoint.Hit("fork.recorded")
	if err := k.makeDirectory(); err != nil {
		return err
	}
	failpoint.Hit("fork.directory")
	if k.source == nil {
		if err := k.record(k.doc); err != nil {
			return err
		}
	} else if err := k.addWorktree(ctx); err != nil {
		return err
	}
	done, err := k.fill(ctx)
	if err != nil {
		return err
	}
	failpoint.Hit("fork.filled")
	if k.git == nil {
		noteBare(k)
		if err := k.findLost(ctx); err != nil {
			return err
		}
	} else {
		if err := k.finishGit(ctx, done); err != nil {
			return fmt.Errorf("index of the worktree: %w", err)
		}
		if err := k.prove(ctx); err != nil {
			return fmt.Errorf("the worktree that git made is no whole one: %w", err)
		}
	}
	return ctx.Err()
}

// fill writes the files of the workspace while git reads HEAD into the
// worktree's index.
func (k *maker) fill(ctx context.Context) (*written, error) {
	if k.git == nil {
		return k.fillWorkspace(ctx)
	}
	var filters []string
	var done *written
	err := together(ctx, func(ctx context.Context) (err error) {
		// Its configuration may include other files than the source's.
		if filters, err = k.git.withoutFilters(ctx); err == nil {
			err = k.fillIndex(ctx)
		}
		return err
	}, func(ctx context.Context) (err error) {
		done, err = k.fillWorkspace(ctx)
		return err
	})
	k.git.filters = filters
	k.made.GitCrypt = k.git.usesGitCrypt()
	return done, err
}

// makeDirectory makes the directory, or takes the empty one that is there.
func (k *maker) makeDirectory() error {
	dir := k.doc.Directory
	var err error
	for range 3 { // the parent may go meanwhile, with the last fork in it
		if err = os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
			return err
		}
		if err = os.Mkdir(dir, 0o777); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if errors.Is(err, fs.ErrExist) {
		if !k.doc.Existed {
			k.doc.Existed = true // and not by this fork
			return &TargetError{dir, "was made by somebody else just now"}
		}
		err = nil
	}
	if err != nil {
		return err
	}
	root, err := beneath.Open(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if k.doc.Existed {
		// Two forks may have found it empty.
		if k.claim, err = claim(dir); err != nil {
			return err
		}
		if names, err := root.ReadDir(""); err != nil || len(names) > 0 {
			return errors.Join(&TargetError{dir, "is not empty"}, err)
		}
	}
	k.doc.Identity, k.doc.Born = root.Identity(), beneath.Born(dir)
	return nil
}

// claim locks a directory for this fork.
func claim(dir string) (*os.File, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, &TargetError{dir, "another fork is being made there"}
	}
	return f, nil
}

func (k *maker) record(doc Document) error {
	if k.target.Record == nil {
		return nil
	}
	if err := k.target.Record(doc); err != nil {
		return fmt.Errorf("record of the fork: %w", err)
	}
	return nil
}

func (k *maker) note(text string) { k.made.Notes = append(k.made.Notes, text) }

func (k *maker) leave(path, reason string) {
	k.mu.Lock()
	k.made.Left = append(k.made.Left, Left{path, reason})
	k.mu.Unlock()
}

// pause waits a little, longer each time.
func pause(ctx context.Context, n int) error {
	timer := time.NewTimer(time.Duration(n) * 5 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
