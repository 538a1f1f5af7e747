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
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/failpoint"
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

	claim   *os.File // the lock on a directory that was there; nil without
	absent  map[string]bool
	buffers sync.Pool
	noShare atomic.Bool
	mu      sync.Mutex
	done    Progress
}

// Make makes the workspace of a fork: all of it or nothing. On an error, and
// when ctx ends, what was made is taken away again, but for objects added to
// the user's repository; a process that is killed leaves that to UndoDocument.
// Errors: *LimitError, *TargetError, those of the Store (a missing or damaged
// object), of git (*gitstore.GitError) and of the system.
//
// What is made is not durable before Sync.
func Make(ctx context.Context, src Source, target Target) (*Made, error) {
	k := &maker{src: src, target: target, made: &Made{}}
	defer k.close()
	if err := k.prepare(ctx); err != nil {
		return nil, err
	}
	if err := k.make(ctx); err != nil {
		undone := undo(context.WithoutCancel(ctx), k.doc, "")
		return nil, errors.Join(err, undone)
	}
	slices.Sort(k.made.PointsIn)
	slices.SortFunc(k.made.Left, func(a, b Left) int { return strings.Compare(a.Path, b.Path) })
	k.made.Document = k.doc
	return k.made, nil
}

// Undo takes away what Make made, for a fork that fails later. Nobody may have
// been told of it yet: what was written there meanwhile goes too.
func (m *Made) Undo(ctx context.Context) error { return undo(ctx, m.Document, "") }

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
	var err error
	if k.list, err = list(ctx, k.src.Store.Objects, k.src.Tree); err != nil {
		return err
	}
	if err := k.openLive(); err != nil {
		return err
	}
	if err := k.prepareGit(ctx); err != nil {
		return fmt.Errorf("git of the source: %w", err)
	}
	if err := k.look(ctx); err != nil {
		return err
	}
	k.made.Worktree, k.made.Workspace = k.doc.Directory, k.doc.workspace()
	k.done.TotalFiles = len(k.list.files) + k.scan.files + k.rest.files()
	if len(k.list.files) == 0 || k.src.Bytes > 0 {
		k.done.TotalBytes = k.src.Bytes + k.extraBytes()
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

// prepareGit finds the commit to start from. Without one, or without the git
// program, the fork is a plain directory.
func (k *maker) prepareGit(ctx context.Context) error {
	repo := k.src.Repo
	if repo == nil {
		return nil
	}
	if k.src.Head == "" {
		k.note("HEAD had no commit: the fork is a plain directory, without Git.")
		return nil
	}
	g, err := k.openSource(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		k.note("The repository of the source is gone: the fork is a plain directory, without Git.")
		return nil
	}
	if errors.Is(err, gitstore.ErrNoGit) {
		k.note("The git program is not installed: the fork is a plain directory, without Git.")
		return nil
	}
	if err != nil {
		return err
	}
	head, err := survivor(ctx, g, k.src)
	if err != nil {
		return err
	}
	k.made.Fallback = head != k.src.Head
	if head == "" {
		k.note("Commit " + short(k.src.Head) + ", HEAD of that moment, is gone, and so are its ancestors: the fork is a plain directory, without Git.")
		return nil
	}
	if k.made.Fallback {
		k.note("Commit " + short(k.src.Head) + ", HEAD of that moment, is gone: the branch starts at its ancestor " + short(head) + ".")
	}
	k.source, k.doc.Head, k.doc.CommonDir, k.doc.Scope = g, head, repo.CommonDir, k.src.Scope
	return nil
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
	if err := k.record(); err != nil {
		return err
	}
	failpoint.Hit("fork.recorded")
	if err := k.makeDirectory(); err != nil {
		return err
	}
	failpoint.Hit("fork.directory")
	if k.source != nil {
		if err := k.addObjects(ctx); err != nil {
			return fmt.Errorf("staged content: %w", err)
		}
		if err := k.addWorktree(ctx); err != nil {
			return fmt.Errorf("linked worktree: %w", err)
		}
		k.made.Branch, k.made.Head = k.doc.Branch, k.doc.Head
	} else if err := k.record(); err != nil {
		return err
	}
	done, err := k.fill(ctx)
	if err != nil {
		return err
	}
	failpoint.Hit("fork.filled")
	if k.git != nil {
		if err := k.finishGit(ctx, done); err != nil {
			return fmt.Errorf("index of the worktree: %w", err)
		}
	}
	return ctx.Err()
}

// fill writes the files of the workspace while git reads HEAD into the
// worktree's index.
func (k *maker) fill(ctx context.Context) (*written, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wait sync.WaitGroup
	var indexErr error
	if k.git != nil {
		wait.Go(func() {
			if _, indexErr = k.git.run(ctx, nil, "read-tree", k.doc.Head); indexErr != nil {
				cancel()
			}
		})
	}
	done, err := k.fillWorkspace(ctx)
	if err != nil {
		cancel()
	}
	wait.Wait()
	if indexErr != nil && (err == nil || errors.Is(err, context.Canceled)) {
		return nil, indexErr
	}
	return done, err
}

// makeDirectory makes the directory, or takes the empty one that is there.
func (k *maker) makeDirectory() error {
	dir := k.doc.Directory
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return err
	}
	err := os.Mkdir(dir, 0o777)
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
	k.doc.Identity = root.Identity()
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

func (k *maker) record() error {
	if k.target.Record == nil {
		return nil
	}
	if err := k.target.Record(k.doc); err != nil {
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

func (k *maker) progressed(bytes int64) {
	if k.target.Progress == nil {
		return
	}
	k.mu.Lock()
	k.done.Files++
	k.done.Bytes += bytes
	now := k.done
	k.mu.Unlock()
	k.target.Progress(now)
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
