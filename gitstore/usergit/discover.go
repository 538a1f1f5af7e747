package usergit

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Repository is where the parts of one repository are. All paths are absolute
// and free of symbolic links. It holds no open file and is safe for concurrent
// use.
type Repository struct {
	// TopLevel is the root of the work tree; "" in a bare repository and
	// inside a git directory.
	TopLevel string
	// GitDir holds HEAD and the index of this work tree.
	GitDir string
	// CommonDir holds refs, objects and configuration. It differs from GitDir
	// in a linked worktree.
	CommonDir string
	Linked    bool // a linked worktree
	Submodule bool // GitDir lies in the modules directory of another repository
	Bare      bool // core.bare, which does not count in a linked worktree
	Format    ObjectFormat
	RefTable  bool // refs are not in files: Head can't be read
	// Unread is why the repository can't be read, nil if it can be. Where it is
	// damaged or closed TopLevel is known still, GitDir and CommonDir unless they
	// are "", and the rest is what a repository mostly is: Head, Index and their
	// like give this error.
	Unread error

	unsupported string // an extension of the format that is not known here
}

// Identity is what tells one directory from another, for as long as it exists.
type Identity struct {
	Path   string
	Device uint64
	Inode  uint64
}

// Identify is the identity of an existing file or directory.
func Identify(path string) (Identity, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Identity{}, err
	}
	device, inode, ok := deviceAndInode(info)
	if !ok {
		return Identity{}, fmt.Errorf("identify %s: %w", path, errors.ErrUnsupported)
	}
	return Identity{Path: path, Device: device, Inode: inode}, nil
}

// Identity is that of the common directory: what all worktrees of a
// repository share, and so what makes them one project.
func (r *Repository) Identity() (Identity, error) {
	if r.CommonDir == "" {
		return Identity{}, r.Unread
	}
	return Identify(r.CommonDir)
}

// Discover finds the repository that holds dir, as git does when it is run
// there without any GIT_ variable set: in dir and its parents, but not beyond
// its file system. It returns ErrNoRepository if there is none. One that is there
// and can't be read is returned as far as it is known; see Unread. Another error
// is about dir itself.
func Discover(dir string) (*Repository, error) {
	dir, err := realPath(dir)
	if err != nil {
		return nil, err
	}
	start, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	device, _, _ := deviceAndInode(start)
	for at := dir; ; {
		r, err := open(at, dir)
		if !errors.Is(err, ErrNoRepository) {
			return r, err
		}
		parent := filepath.Dir(at)
		if parent == at {
			return nil, ErrNoRepository
		}
		if info, err := os.Stat(parent); err == nil {
			if d, _, _ := deviceAndInode(info); d != device {
				return nil, ErrNoRepository
			}
		}
		at = parent
	}
}

// At is the repository whose work tree (or bare directory) dir is, without
// looking at its parents: what a walk asks where it meets a ".git". It answers as
// Discover does.
func At(dir string) (*Repository, error) {
	dir, err := realPath(dir)
	if err != nil {
		return nil, err
	}
	return open(dir, dir)
}

// open tries one directory on the way up from dir. What cannot be read is never
// taken for absent, except where permission lacks for a .git that is somebody
// else's: Git passes that by, and trusts it no more if it can be read.
func open(at, dir string) (*Repository, error) {
	r, err := look(at, dir)
	if err == nil && errors.Is(r.Unread, fs.ErrPermission) && !own(filepath.Join(at, ".git")) {
		return nil, ErrNoRepository
	}
	return r, err
}

// unread is a repository of which no more is known than where it is; gitDir is ""
// where not even that is.
func unread(gitDir, top string, why error) *Repository {
	return &Repository{TopLevel: top, GitDir: gitDir, CommonDir: gitDir, Format: SHA1, Unread: why}
}

// look returns no error but ErrNoRepository.
func look(at, dir string) (*Repository, error) {
	dotGit := filepath.Join(at, ".git")
	info, err := os.Stat(dotGit)
	switch {
	case err == nil && info.IsDir():
		gitDir, err := realPath(dotGit)
		if err == nil {
			var is bool
			if is, err = isGitDir(gitDir); is {
				return load(gitDir, at, dir), nil
			}
		}
		if err = unlessAbsent(err); err != nil {
			return unread(dotGit, at, err), nil
		}
	case err == nil && info.Mode().IsRegular():
		gitDir, err := readGitFile(dotGit)
		if err != nil {
			return unread("", at, err), nil
		}
		return load(gitDir, at, dir), nil
	case err != nil && !absent(err):
		return unread("", at, err), nil
	}
	if is, err := isGitDir(at); err != nil {
		return unread(at, "", err), nil
	} else if is {
		return load(at, "", dir), nil
	}
	return nil, ErrNoRepository
}

// absent tells whether an error means that what was looked for is not there, or is
// not of its kind; any other only that it could not be looked at.
func absent(err error) bool {
	damaged := (*DamagedError)(nil)
	return errors.Is(err, fs.ErrNotExist) || errors.As(err, &damaged) || errors.Is(err, syscall.ENOTDIR) ||
		errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENAMETOOLONG)
}

// readGitFile reads ".git" where it is a file: "gitdir: PATH".
func readGitFile(path string) (string, error) {
	data, err := ReadFile(path, maxPointer)
	if err != nil {
		return "", err
	}
	target, ok := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), "gitdir: ")
	if !ok || target == "" {
		return "", &DamagedError{Path: path, Why: "no \"gitdir: \" line"}
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(path), target)
	}
	gitDir, err := realPath(target)
	is := false
	if err == nil {
		is, err = isGitDir(gitDir)
	}
	if err = unlessAbsent(err); err != nil {
		return "", err
	}
	if !is {
		return "", &DamagedError{Path: path, Why: target + " is not a git directory"}
	}
	return gitDir, nil
}

// load reads the rest of a repository whose git directory is known. Its work
// tree is top unless the configuration says otherwise.
func load(gitDir, top, dir string) *Repository {
	common, linked, err := commonDir(gitDir)
	if err != nil {
		r := unread(gitDir, top, err)
		r.CommonDir = ""
		return r
	}
	r := &Repository{TopLevel: top, GitDir: gitDir, CommonDir: common, Linked: linked, Format: SHA1}
	if r.Submodule, r.Unread = inModules(gitDir); r.Unread == nil {
		r.Unread = r.configure(top, dir)
	}
	return r
}

// configure reads what the repository's own configuration says of it.
func (r *Repository) configure(top, dir string) error {
	config, err := readSettings(filepath.Join(r.CommonDir, "config"))
	if err != nil {
		return err
	}
	if err := r.readFormat(config); err != nil {
		return err
	}
	own := config.boolean("extensions.worktreeconfig")
	// Git passes these two by in a linked worktree, but not where each worktree
	// has settings of its own (check_repository_format_gently in its setup.c).
	shared := !r.Linked || own
	r.Bare = config.boolean("core.bare") && shared
	worktree, ok := config.last("core.worktree")
	ok = ok && shared
	if own {
		own, err := readSettings(filepath.Join(r.GitDir, "config.worktree"))
		if err != nil {
			return err
		}
		if _, set := own.last("core.bare"); set {
			r.Bare = own.boolean("core.bare")
		}
		if w, set := own.last("core.worktree"); set {
			worktree, ok = w, true
		}
	}
	if r.Bare {
		r.TopLevel = ""
	} else if ok && top != "" {
		own, err := configuredTop(r.GitDir, worktree, dir)
		if err != nil {
			return err
		}
		r.TopLevel = own
	}
	return nil
}

// NamesWorkTree tells whether the settings in a Git directory say where its work tree
// is. What cannot be read says nothing.
func NamesWorkTree(gitDir string) bool {
	for _, name := range []string{"config", "config.worktree"} {
		config, err := readSettings(filepath.Join(gitDir, name))
		if err != nil {
			continue
		}
		if _, set := config.last("core.worktree"); set {
			return true
		}
	}
	return false
}

// configuredTop resolves core.worktree, "" if dir does not lie in it.
func configuredTop(gitDir, worktree, dir string) (string, error) {
	if !filepath.IsAbs(worktree) {
		worktree = filepath.Join(gitDir, worktree)
	}
	top, err := realPath(worktree)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if dir != top && !strings.HasPrefix(dir, strings.TrimSuffix(top, "/")+"/") {
		return "", nil
	}
	return top, nil
}

func (r *Repository) readFormat(config settings) error {
	version, _ := config.last("core.repositoryformatversion")
	switch version {
	case "", "0", "1":
	default:
		return &UnsupportedError{Path: r.CommonDir, What: "repository format " + version}
	}
	for key, values := range config {
		name, ok := strings.CutPrefix(key, "extensions.")
		value := values[len(values)-1]
		switch {
		case !ok:
		case name == "objectformat" && (value == string(SHA1) || value == string(SHA256)):
			r.Format = ObjectFormat(value)
		case name == "objectformat":
			return &UnsupportedError{Path: r.CommonDir, What: "object format " + value}
		case name == "refstorage":
			r.RefTable = value != "files"
		case version == "1" && !knownExtensions[name]:
			r.unsupported = "extension " + name
		}
	}
	return nil
}

// knownExtensions change nothing about what is read here.
var knownExtensions = map[string]bool{
	"noop": true, "noop-v1": true, "preciousobjects": true, "partialclone": true, "worktreeconfig": true,
	"compatobjectformat": true, "relativeworktrees": true, "submodulepathconfig": true,
}

// LeadsNowhere tells of an unread repository whether it is a .git file that names no
// git directory: more than that there is not to be known.
func (r *Repository) LeadsNowhere() bool {
	damaged := (*DamagedError)(nil)
	return r.GitDir == "" && errors.As(r.Unread, &damaged)
}

func (r *Repository) check() error {
	if r.Unread != nil {
		return r.Unread
	}
	if r.unsupported != "" {
		return &UnsupportedError{Path: r.CommonDir, What: r.unsupported}
	}
	return nil
}

// isGitDir is Git's own test: a plausible HEAD, and directories for objects
// and refs. An error says that it cannot be told.
func isGitDir(dir string) (bool, error) {
	plausible, unread := plausibleHead(filepath.Join(dir, "HEAD"))
	if !plausible && unread == nil {
		return false, nil
	}
	common, _, err := commonDir(dir)
	if err != nil {
		return false, unlessAbsent(err)
	}
	for _, name := range []string{"objects", "refs"} {
		if there, err := isDir(filepath.Join(common, name)); !there {
			return false, err
		}
	}
	return plausible, unread
}

func plausibleHead(path string) (bool, error) {
	switch target, err := os.Readlink(path); {
	case err == nil:
		return strings.HasPrefix(target, "refs/"), nil
	case absent(err):
		return false, nil // whatever keeps it from being opened
	}
	data, err := ReadFile(path, maxPointer)
	if err != nil {
		return false, unlessAbsent(err)
	}
	if target, ok := bytes.CutPrefix(data, []byte("ref:")); ok {
		return bytes.HasPrefix(bytes.TrimLeft(target, " \t"), []byte("refs/")), nil
	}
	_, err = ParseID(string(bytes.TrimRight(data, "\n\r \t")))
	return err == nil, nil
}

func unlessAbsent(err error) error {
	if absent(err) {
		return nil
	}
	return err
}

// commonDir follows the commondir file of a linked worktree's git directory.
func commonDir(gitDir string) (string, bool, error) {
	data, err := ReadFile(filepath.Join(gitDir, "commondir"), maxPointer)
	if errors.Is(err, fs.ErrNotExist) {
		return gitDir, false, nil
	}
	if err != nil {
		return "", false, err
	}
	target := strings.TrimRight(string(data), "\r\n")
	if !filepath.IsAbs(target) {
		target = filepath.Join(gitDir, target)
	}
	common, err := realPath(target)
	return common, true, err
}

// inModules tells whether a parent of the git directory is the modules
// directory of another one.
func inModules(gitDir string) (bool, error) {
	for dir := gitDir; ; {
		parent := filepath.Dir(dir)
		if parent == dir {
			return false, nil
		}
		if filepath.Base(parent) == "modules" {
			if is, err := isGitDir(filepath.Dir(parent)); is || err != nil {
				return is, err
			}
		}
		dir = parent
	}
}

func isDir(path string) (bool, error) {
	info, err := os.Stat(path)
	if err != nil {
		return false, unlessAbsent(err)
	}
	return info.IsDir(), nil
}

func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		if _, why := os.Stat(path); why != nil {
			err = why // EvalSymlinks has a word of its own for a loop, and no errno
		}
	}
	return real, err
}
