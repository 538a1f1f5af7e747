package fork

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

// The reasons why a file of the live workspace does not come along.
const (
	reasonUnreadable = "unreadable"
	reasonSpecial    = "special file"
	reasonWorktree   = "another worktree of this repository"
	reasonReserved   = "its name is reserved"
	reasonInTheWay   = "the snapshot has something else in its place"
	reasonVanished   = "vanished while it was copied"
	reasonChanging   = "was written to while it was copied"
	reasonNotDone    = "ignored files were not asked for"
	reasonSourceGone = "the source's workspace is gone"
	reasonGone       = "gone since that moment, and in no snapshot"
	reasonSince      = "made since that moment, and in no snapshot"
	reasonLaterLog   = "a log of the database as it is now, which the fork has as it was then"
	reasonDepth      = "below more directories than Git follows"
	reasonLater      = "in no snapshot: the fork has it as it is now, not as it was at that moment"
)

// item is something of the live workspace that a fork takes along.
type item struct {
	path string // below the root it is read from
	kind beneath.Kind
	size int64
	perm uint32
}

// scan is what there is to be taken along.
type scan struct {
	items []item // directories before what they hold
	left  []Left
	repos []nested
	dirs  []nested // git directories that come along as files, and name a work tree
	lost  []lostFile
	files int
	bytes int64
	// largest is the largest file, on disk.
	largest struct {
		path  string
		bytes int64
	}
}

func (s *scanner) add(i item) {
	s.items = append(s.items, i)
	if i.kind != beneath.Directory {
		s.countFile(s.root.Path(), i.path, i.size)
	}
}

func (s *scan) countFile(dir, path string, bytes int64) {
	s.files++
	s.bytes += bytes
	if bytes > s.largest.bytes {
		s.largest.path, s.largest.bytes = joinPath(dir, path), bytes
	}
}

// remove takes out what was met as files and comes along otherwise.
func (s *scan) remove(dir string) {
	s.items = slices.DeleteFunc(s.items, func(i item) bool {
		gone := inside(i.path, dir)
		if gone && i.kind != beneath.Directory {
			s.files--
			s.bytes -= i.size
		}
		return gone
	})
}

func (s *scan) leave(path, reason string) { s.left = append(s.left, Left{path, reason}) }

// scanner walks a live workspace for what no snapshot holds.
type scanner struct {
	scan
	ctx   context.Context
	root  *beneath.Root
	repo  *usergit.Repository // the source's, to know its other worktrees by
	judge judge
	// nestedToo tells whether the repository at path comes along as one.
	nestedToo func(path string, taken bool) bool
	// sharedToo says that a bare repository comes along with the worktrees around it.
	sharedToo bool
	snapshot  *listing
	exclude   string // a directory that is passed over, "" for none

	kept []string // directories that are left to Git

	names beneath.Listing // of the directory that is being listed
	at    []byte          // the path that is being looked at
}

// verdict is what becomes of an entry of the live workspace.
type verdict uint8

const (
	pass    verdict = iota // it stays; a directory is looked into
	take                   // it comes along
	shun                   // it stays, with everything below it
	shunGit                // shunned, since it is Git's
)

// A judge tells what becomes of an entry.
type judge func(path string, mode gitstore.Mode, size int64) (verdict, error)

// captured judges by a snapshot's rules: what would be captured today was made
// after the moment, unless it was skipped. All else gets the verdict other.
func captured(rules *documents.Rules, skipped *documents.SkippedSet, other verdict) judge {
	return func(path string, mode gitstore.Mode, size int64) (verdict, error) {
		ok, reason, err := rules.Eligible(path, documents.Candidate{Mode: mode, Size: size})
		if err != nil || reason == documents.ReasonReserved {
			return pass, err
		}
		if ok && skipped != nil {
			s, covered := skipped.Covers(path)
			if covered && s.Reason == documents.ReasonReserved {
				return shunGit, nil
			}
			ok = !covered
		}
		if ok {
			return pass, nil
		}
		return other, nil
	}
}

// directory scans path and what is below it. Taken says that the directory
// itself is one that no snapshot holds.
func (s *scanner) directory(path string, taken bool, device uint64) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	if isTooDeep(path) {
		s.leave(path, reasonDepth)
		return nil
	}
	dir, err := s.root.OpenDir(path)
	if err != nil {
		return s.unopened(path, err)
	}
	l, err := s.list(dir, path, device)
	dir.Close()
	if err != nil {
		return s.unopened(path, err)
	}
	if s.repo != nil && path != "" {
		// Ignored, too, it is not a file of the source's.
		if at := joinPath(s.root.Path(), path); at == s.repo.GitDir || at == s.repo.CommonDir {
			return nil
		}
	}
	if l.pseudo {
		s.leave(path, reasonSpecial)
		return nil
	}
	if path != "" && l.repository {
		stay, err := s.repository(path, taken)
		if err != nil || stay {
			return err
		}
	}
	if taken {
		s.add(item{path: path, kind: beneath.Directory, perm: l.st.Perm()})
		if at := joinPath(s.root.Path(), path); l.gitDir && usergit.NamesWorkTree(at) {
			s.dirs = append(s.dirs, nested{path: path, gitDir: at, store: true})
		}
	}
	for _, e := range l.entries {
		if taken && l.gitDir && e.name == "worktrees" {
			continue // they are the source's
		}
		if err := s.entry(treepath.Join(path, e.name), e, l.st.Device); err != nil {
			return err
		}
	}
	return nil
}

// isTooDeep tells of a directory at which a walk ends: somebody may make directories ahead of it.
func isTooDeep(path string) bool { return path != "" && strings.Count(path, "/")+1 > capture.Deepest }

// listed is what a scan needs to know of a directory.
type listed struct {
	st         beneath.Stat
	pseudo     bool     // another file system begins there whose files are on no disk
	repository bool     // there is a ".git" in it
	gitDir     bool     // there is in it what makes a git directory
	entries    []stated // sorted; those alone that may come along or hold what may
}

// stated is a name and what the system says of it.
type stated struct {
	name string
	st   beneath.Stat
	err  error

	judged  bool // by its name, as the directory that it was listed as
	verdict verdict
}

// list reads a directory. Most names are files that the snapshot holds: nothing
// is allocated for them, and the system is not asked.
func (s *scanner) list(dir *beneath.Dir, path string, above uint64) (listed, error) {
	var l listed
	var err error
	if l.st, err = dir.Stat(); err != nil {
		return l, err
	}
	if above != 0 && l.st.Device != above {
		system, err := dir.FileSystem()
		if err != nil || system.Pseudo {
			l.pseudo = system.Pseudo
			return l, err
		}
	}
	if err := dir.List(&s.names); err != nil {
		return l, err
	}
	l.repository = s.names.Has(".git")
	l.gitDir = s.names.Has("HEAD") && s.names.Has("objects") && s.names.Has("refs")
	s.at = append(s.at[:0], path...)
	if path != "" {
		s.at = append(s.at, '/')
	}
	stem := len(s.at)
	for i := range s.names.Len() {
		name := s.names.Name(i)
		s.at = append(s.at[:stem], name...)
		if s.passesOver(name, s.names.Kind(i)) {
			continue
		}
		e := stated{name: string(name)}
		if s.names.Kind(i) == beneath.Directory {
			// A dead mount holds up whoever asks for more than its name.
			if e.verdict, err = s.judge(string(s.at), gitstore.ModeDir, 0); err != nil {
				return l, err
			}
			if e.verdict == shunGit {
				s.kept = append(s.kept, string(s.at))
			}
			if e.judged = true; e.verdict >= shun {
				continue
			}
		}
		e.st, e.err = dir.LstatListed(&s.names, i)
		l.entries = append(l.entries, e)
	}
	return l, nil
}

// passesOver tells of a name, whose path is in s.at, that nothing is to be
// found out about it.
func (s *scanner) passesOver(name []byte, kind beneath.Kind) bool {
	if kind != beneath.Directory && s.snapshot.modes[string(s.at)].IsBlob() || s.exclude != "" && string(s.at) == s.exclude {
		return true
	}
	if name[0] != '.' {
		return false
	}
	_, _, scratch := beneath.ParseScratch(string(name))
	return scratch || string(name) == ".git"
}

func (s *scanner) unopened(path string, err error) error {
	if path == "" {
		return fmt.Errorf("workspace of the source: %w", err)
	}
	if !vanished(err) && !errors.Is(err, beneath.ErrSymlink) {
		s.leave(path, reasonUnreadable)
	}
	return nil
}

// entry judges one name of a directory.
func (s *scanner) entry(path string, e stated, device uint64) error {
	if beneath.IsGitDisguise(treepath.Base(path)) {
		s.leave(path, reasonReserved)
		return nil
	}
	if e.err != nil {
		return s.unopened(path, e.err)
	}
	st := e.st
	kind := st.Kind()
	v := e.verdict
	if !e.judged || kind != beneath.Directory {
		var err error
		if v, err = s.judge(path, modeOf(kind, st), st.Size); err != nil || v >= shun {
			return err
		}
	}
	wanted := v == take
	switch {
	case kind == beneath.Directory && wanted && (s.snapshot.holdsFile(path) || s.blocked(path)):
		s.leave(path, reasonInTheWay)
	case kind == beneath.Directory:
		return s.directory(path, wanted, device)
	case !wanted || s.snapshot.holdsFile(path):
	case s.snapshot.holdsDir(path) || s.blocked(path):
		s.leave(path, reasonInTheWay)
	case kind == beneath.Special:
		s.leave(path, reasonSpecial)
	default:
		size := st.Size
		if kind == beneath.Symlink {
			size = 0
		}
		s.add(item{path: path, kind: kind, size: size, perm: st.Perm()})
	}
	return nil
}

// blocked tells whether the snapshot has a file where a directory above path
// is in the live workspace.
func (s *scanner) blocked(path string) bool {
	for dir := treepath.Parent(path); dir != ""; dir = treepath.Parent(dir) {
		if s.snapshot.holdsFile(dir) {
			return true
		}
	}
	return false
}

func modeOf(kind beneath.Kind, st beneath.Stat) gitstore.Mode {
	switch {
	case kind == beneath.Directory:
		return gitstore.ModeDir
	case kind == beneath.Symlink:
		return gitstore.ModeSymlink
	case st.Executable():
		return gitstore.ModeExec
	}
	return gitstore.ModeFile
}
