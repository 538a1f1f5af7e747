package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/disk"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/ignore"
	"github.com/umbra-vcs/umbra/gitstore/secretnames"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

// Sources are where the rules of captures in one workspace come from.
type Sources struct {
	// Root is the workspace's directory, absolute.
	Root string
	// Repository is the user's repository that holds the workspace, nil if none
	// does.
	Repository *usergit.Repository
	// Excludes is the path of the user's own excludes file, "" for none. See
	// usergit.Configuration.
	Excludes string
	// IgnoreCase is the user's core.ignoreCase.
	IgnoreCase bool
	// Unread says that the user's configuration could not be read, by which
	// Excludes and IgnoreCase would be known.
	Unread bool
	// Newest gives rules.json of the workspace's newest snapshot, nil if there is
	// none: what can't be read now is taken to be as it was then, so that nothing
	// leaves the snapshots for that. It may be called from any goroutine. A nil
	// Newest is one that gives nil.
	Newest func() ([]byte, error)
	// Settings are Umbra's own limits.
	Settings Settings
}

// Rules say what is captured in a workspace, but for the ignore files inside
// it, which a Scanner reads itself. They are immutable.
type Rules struct {
	sources  Sources
	settings Settings
	secrets  secretnames.Patterns
	fresh    secretnames.Patterns // of files that no snapshot holds, besides
	outside  *documents.Outside
	repo     *repository
	common   usergit.Identity // of the repository's common directory
	inputs   []input
	gitDirs  []usergit.Identity
	doc      documents.RulesDocument // without what a capture finds inside the workspace
	// then is what the newest snapshot recorded, nil if there is none. It is asked
	// where something can't be read.
	then   func() (*documents.RulesDocument, error)
	unread bool // something could not be read, and is tried again each time
}

// input is a file that rules were read from.
type input struct {
	path  string
	look  lookFunc
	state fileState
}

// lookFunc is os.Stat or os.Lstat.
type lookFunc func(path string) (os.FileInfo, error)

// fileState tells a file from what it was; zero if it is not there.
type fileState struct {
	size, mtime, ctime int64
	device, inode      uint64
	regular            bool
	settled            bool // old enough when read for a later write to show
}

// MaxIgnoreFile is the size over which Git does not read an ignore file
// (PATTERN_MAX_FILE_SIZE in its dir.c).
const MaxIgnoreFile = 100 << 20

// LoadRules reads the rules from outside the workspace: the user's excludes
// file, info/exclude, the ignore files of the directories above the workspace up
// to the top level of its repository, and the paths in the repository's index.
func LoadRules(sources Sources) (*Rules, error) {
	return load(sources, nil)
}

// Refresh is LoadRules again, and returns r itself if no file that was read has
// changed. It costs a few stat calls then.
func (r *Rules) Refresh() (*Rules, error) {
	changed := r.unread
	for _, in := range r.inputs {
		now, err := stateOf(in.path, in.look)
		changed = changed || err != nil || !now.same(in.state)
	}
	if !changed {
		return r, nil
	}
	return load(r.sources, r)
}

// Settings are the limits in force.
func (r *Rules) Settings() Settings { return r.settings }

// Root is the workspace that the rules are for.
func (r *Rules) Root() string { return r.sources.Root }

func load(sources Sources, before *Rules) (*Rules, error) {
	r := &Rules{sources: sources, settings: sources.Settings.withDefaults(), then: sync.OnceValues(sources.then)}
	if err := secretnames.Check(slices.Concat(r.settings.Secrets, r.settings.NewSecrets)); err != nil {
		return nil, err
	}
	r.secrets, r.fresh = secretnames.Compile(r.settings.Secrets), secretnames.Compile(r.settings.NewSecrets)
	r.doc = documents.RulesDocument{
		Version: documents.Version, IgnoreCase: sources.IgnoreCase, Secrets: r.settings.Secrets,
		NewSecrets: r.settings.NewSecrets, SizeCap: r.settings.NewSizeCap, FileBudget: r.settings.FileBudget, ByteBudget: r.settings.ByteBudget,
	}
	if err := r.readExcludes(); err != nil {
		return nil, err
	}
	r.gitDirs = gitDirs(sources.Repository)
	for _, file := range alternates(sources.Repository) {
		if _, err := r.read(file, os.Stat); err != nil && passableFile(err) != nil {
			return nil, err
		}
	}
	if sources.Repository != nil {
		if err := r.readRepository(sources.Repository, before); err != nil {
			return nil, err
		}
	}
	r.outside = documents.NewOutside(&r.doc)
	return r, nil
}

// readExcludes reads the user's own excludes file.
func (r *Rules) readExcludes() (err error) {
	if !r.sources.Unread && r.sources.Excludes == "" {
		return nil
	}
	if r.sources.Excludes != "" {
		r.doc.Excludes, err = r.read(r.sources.Excludes, os.Stat)
	}
	if !r.sources.Unread && err == nil {
		return nil
	}
	r.unread = true
	then, err := r.then()
	if err != nil || then == nil {
		return err
	}
	r.doc.Excludes = then.Excludes
	if r.sources.Unread {
		r.doc.IgnoreCase = then.IgnoreCase
	}
	return nil
}

// then reads what the newest snapshot recorded.
func (s Sources) then() (*documents.RulesDocument, error) {
	if s.Newest == nil {
		return nil, nil
	}
	data, err := s.Newest()
	if err != nil || data == nil {
		return nil, err
	}
	return documents.DecodeRules(data)
}

func (r *Rules) readRepository(repo *usergit.Repository, before *Rules) error {
	var err error
	if r.common, err = repo.Identity(); err != nil && repo.Unread == nil {
		return passableFile(err) // the user has removed it: there are no rules of Git's above
	}
	prefix, err := r.workspaceBelow(repo)
	if err != nil {
		return err
	}
	exclude, err := r.readExclude(repo)
	if err != nil {
		return err
	}
	if prefix == "" {
		r.doc.Exclude = exclude
	} else if err := r.readAbove(repo.TopLevel, prefix, exclude); err != nil {
		return err
	}
	r.repo = &repository{}
	r.repo.tracked, err = r.readIndex(repo, prefix, before)
	return err
}

// readExclude reads the repository's info/exclude.
func (r *Rules) readExclude(repo *usergit.Repository) (gitstore.Text, error) {
	if repo.Unread == nil {
		exclude, err := r.read(filepath.Join(repo.CommonDir, "info", "exclude"), os.Stat)
		if err == nil {
			return exclude, nil
		}
	}
	r.unread = true
	then, err := r.then()
	switch {
	case err != nil || then == nil:
		return "", err
	case len(then.Above) > 0:
		return then.Above[0].Exclude, nil
	}
	return then.Exclude, nil
}

// workspaceBelow is the workspace's path below the top level: "" or "a/b/".
func (r *Rules) workspaceBelow(repo *usergit.Repository) (string, error) {
	if repo.TopLevel == "" {
		return "", nil
	}
	root, err := filepath.EvalSymlinks(r.sources.Root)
	if err != nil {
		return "", err
	}
	below, err := filepath.Rel(repo.TopLevel, root)
	if err != nil || below == ".." || strings.HasPrefix(below, "../") {
		return "", fmt.Errorf("workspace %s is not in the repository %s", root, repo.TopLevel)
	}
	if below == "." {
		return "", nil
	}
	return filepath.ToSlash(below) + "/", nil
}

func (r *Rules) readAbove(top, prefix string, exclude gitstore.Text) error {
	names := strings.Split(strings.TrimSuffix(prefix, "/"), "/")
	dir := top
	for i, name := range append([]string{""}, names[:len(names)-1]...) {
		dir = filepath.Join(dir, name)
		step := documents.Rung{Name: gitstore.Text(name)}
		var err error
		if step.Gitignore, err = r.read(filepath.Join(dir, ignore.GitName), os.Lstat); err != nil {
			return err
		}
		if step.Umbraignore, err = r.read(filepath.Join(dir, ignore.UmbraName), os.Lstat); err != nil {
			return err
		}
		if i == 0 {
			step.Exclude = exclude
		}
		r.doc.Above = append(r.doc.Above, step)
	}
	r.doc.Name = gitstore.Text(names[len(names)-1])
	return nil
}

// readIndex keeps the set of before if the index holds the same paths still.
// One of a format that is not known is passed over. While it can't be read, what
// was captured for being tracked goes on being captured.
func (r *Rules) readIndex(repo *usergit.Repository, prefix string, before *Rules) (*usergit.PathSet, error) {
	if repo.Unread != nil {
		return r.lastTracked(before)
	}
	path := filepath.Join(repo.GitDir, "index")
	state, err := stateOf(path, os.Stat)
	if err != nil {
		return r.lastTracked(before)
	}
	r.inputs = append(r.inputs, input{path, os.Stat, state})
	if before != nil && before.repo != nil && !before.unread {
		for _, in := range before.inputs {
			if in.path == path && state.same(in.state) {
				return before.repo.tracked, nil
			}
		}
	}
	index, err := repo.Index()
	if unsupported := (*usergit.UnsupportedError)(nil); errors.As(err, &unsupported) {
		return nil, nil
	}
	if err != nil {
		return r.lastTracked(before)
	}
	return index.PathsBelow(prefix), nil
}

// lastTracked is what was tracked when that was last known: the whole of it in this
// process, else as much as the newest snapshot holds for that alone.
func (r *Rules) lastTracked(before *Rules) (*usergit.PathSet, error) {
	r.unread = true
	if before != nil && before.repo != nil {
		return before.repo.tracked, nil
	}
	then, err := r.then()
	if err != nil || then == nil {
		return nil, err
	}
	return usergit.NewPathSet(gitstore.Strings(then.Tracked)), nil
}

// lastTrackedIn is lastTracked for a nested repository at a path of the workspace.
// It changes nothing, and may be asked from any goroutine.
func (r *Rules) lastTrackedIn(path string) (*usergit.PathSet, error) {
	then, err := r.then()
	if err != nil || then == nil {
		return nil, err
	}
	var below []string
	for _, p := range gitstore.Strings(then.Tracked) {
		if rest, ok := strings.CutPrefix(p, path+"/"); ok {
			below = append(below, rest)
		}
	}
	return usergit.NewPathSet(below), nil
}

// read reads an ignore file; one that is missing, unreadable or too large has
// no rules, as for Git. Look is os.Lstat where Git does not follow links.
func (r *Rules) read(path string, look lookFunc) (gitstore.Text, error) {
	state, err := stateOf(path, look)
	if err != nil {
		return "", err
	}
	r.inputs = append(r.inputs, input{path, look, state})
	if !state.regular || state.size > MaxIgnoreFile {
		return "", nil
	}
	data, err := usergit.ReadFile(path, MaxIgnoreFile)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EISDIR) {
		return "", nil
	}
	return gitstore.Text(data), err
}

func stateOf(path string, look lookFunc) (fileState, error) {
	now := disk.Now()
	info, err := look(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, fs.ErrPermission) {
		return fileState{settled: true}, nil
	}
	if err != nil {
		return fileState{}, err
	}
	state := newFileState(info, stamp{now: now})
	if info.IsDir() {
		// What is made and removed in it changes its times, and says nothing.
		state = fileState{device: state.device, inode: state.inode, settled: true}
	}
	return state, nil
}

// same tells whether the file is as it was when before was taken.
func (s fileState) same(before fileState) bool {
	if !before.settled {
		return false
	}
	s.settled = before.settled
	return s == before
}

// sameOutside tells whether two rules decide alike, the paths tracked by the
// user's repository aside.
func (r *Rules) sameOutside(other *Rules) bool {
	return r == other || r.common == other.common && (r.repo == nil) == (other.repo == nil) &&
		r.settings.SizeCap == other.settings.SizeCap && slices.Equal(r.gitDirs, other.gitDirs) &&
		bytes.Equal(r.doc.Document(), other.doc.Document())
}
