package capture

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/histories"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

// RootReason says why a directory is refused as a workspace.
type RootReason string

// The reasons. Those from RootIsFileSystem on can be overridden.
const (
	RootMissing           RootReason = "it does not exist"
	RootNotDirectory      RootReason = "it is not a directory"
	RootUnreadable        RootReason = "it cannot be read"
	RootIsUmbraHome       RootReason = "it is Umbra's own directory"
	RootInUmbraHome       RootReason = "it is inside Umbra's own directory"
	RootOnPseudoSystem    RootReason = "the kernel makes up its files"
	RootInGitDirectory    RootReason = "it is inside a git directory"
	RootIsNoText          RootReason = "its path is not UTF-8"
	RootIsFileSystem      RootReason = "it is the root of the file system"
	RootIsHome            RootReason = "it is the home directory"
	RootAboveHome         RootReason = "the home directory is inside it"
	RootHoldsUmbraHome    RootReason = "Umbra's own directory is inside it"
	RootInSystemDirectory RootReason = "it belongs to the system"
	RootOfSystem          RootReason = "it holds the system, or everybody's files"
)

// Overridable tells whether a user may insist.
func (r RootReason) Overridable() bool {
	switch r {
	case RootIsFileSystem, RootIsHome, RootAboveHome, RootHoldsUmbraHome, RootInSystemDirectory, RootOfSystem:
		return true
	}
	return false
}

// RootError says that a directory is refused as a workspace, and why. Nothing
// was written.
type RootError struct {
	Path   string
	Reason RootReason
	Err    error // of the system, if there was one
}

func (e *RootError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s cannot be a workspace: %s: %v", e.Path, e.Reason, e.Err)
	}
	return fmt.Sprintf("%s cannot be a workspace: %s", e.Path, e.Reason)
}

// Unwrap gives the system's error.
func (e *RootError) Unwrap() error { return e.Err }

// RootCheck is a directory that is to be a workspace, and what it must keep
// clear of.
type RootCheck struct {
	Root      string
	Home      string // the user's home directory; "" if unknown
	UmbraHome string // need not exist
	// Force: the user insists, where that is allowed.
	Force bool
}

// CheckRoot proves that a directory may be a workspace and returns its
// identity. It goes by resolved paths and by identity, so that neither links
// nor other mounts of the same directory get around it (H24: a home directory
// of 47 GB was taken for a workspace). A refusal is a *RootError.
func CheckRoot(c RootCheck) (beneath.Identity, error) {
	refuse := func(reason RootReason, err error) (beneath.Identity, error) {
		return beneath.Identity{}, &RootError{Path: c.Root, Reason: reason, Err: err}
	}
	root, err := filepath.Abs(c.Root)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return refuse(RootMissing, nil)
	}
	if err != nil {
		return refuse(RootUnreadable, err)
	}
	if info, err := os.Stat(root); err == nil && !info.IsDir() {
		return refuse(RootNotDirectory, nil)
	}
	if err := readable(root); err != nil {
		return refuse(RootUnreadable, err)
	}
	self, system, err := describe(root)
	if err != nil {
		return refuse(RootUnreadable, err)
	}
	reason := c.reason(root, self, system)
	if reason != "" && !(c.Force && reason.Overridable()) {
		return refuse(reason, nil)
	}
	return self, nil
}

// CheckPlace is CheckRoot for a directory that is to be made, with what is missing above
// it, and for one that is there.
func CheckPlace(c RootCheck) error {
	root, err := filepath.Abs(c.Root)
	if err != nil {
		return &RootError{Path: c.Root, Reason: RootUnreadable, Err: err}
	}
	above, missing := root, ""
	resolved, err := filepath.EvalSymlinks(above)
	for errors.Is(err, fs.ErrNotExist) && above != filepath.Dir(above) {
		missing = filepath.Join(filepath.Base(above), missing)
		above = filepath.Dir(above)
		resolved, err = filepath.EvalSymlinks(above)
	}
	if err != nil {
		return &RootError{Path: c.Root, Reason: RootUnreadable, Err: err}
	}
	if missing == "" {
		_, err := CheckRoot(c)
		return err
	}
	_, system, _ := describe(resolved) // what can't be read is found when it is made
	reason := c.reason(filepath.Join(resolved, missing), beneath.Identity{}, system)
	if reason != "" && !(c.Force && reason.Overridable()) {
		return &RootError{Path: c.Root, Reason: reason}
	}
	return nil
}

func (c RootCheck) reason(root string, self beneath.Identity, system beneath.FileSystem) RootReason {
	above := identities(root)
	home := identities(c.Home)
	umbra := identities(c.UmbraHome)
	switch {
	case c.umbraHomeExists() && len(umbra) > 0 && umbra[0] == self:
		return RootIsUmbraHome
	case c.umbraHomeExists() && slices.Contains(above, umbra[0]):
		return RootInUmbraHome
	case system.Pseudo:
		return RootOnPseudoSystem
	case inGitDirectory(root):
		return RootInGitDirectory
	case !utf8.ValidString(root):
		return RootIsNoText
	case filepath.Dir(root) == root || slices.Contains(identities("/"), self):
		return RootIsFileSystem
	case len(home) > 0 && home[0] == self:
		return RootIsHome
	case slices.Contains(home, self):
		return RootAboveHome
	case slices.Contains(umbra, self):
		return RootHoldsUmbraHome
	}
	if inSystemDirectory(root) {
		return RootInSystemDirectory
	}
	for _, dir := range systemDirectories {
		if id := identities(dir); len(id) > 0 && id[0] == self {
			return RootOfSystem
		}
	}
	return ""
}

// inGitDirectory reports whether a path leads through a .git, or through what some file
// system takes for one, or into what belongs to Git of a git directory by any name. Work
// trees may lie in a bare one.
func inGitDirectory(path string) bool {
	if slices.ContainsFunc(strings.Split(path, "/"), func(name string) bool { return strings.EqualFold(name, ".git") }) {
		return true
	}
	for dir, below := path, ""; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if gitsPart(dir, below) {
			return true
		}
		below = strings.TrimSuffix(filepath.Base(dir)+"/"+below, "/")
	}
	return false
}

// gitsPart tells whether a directory is a git directory of which Git owns what lies below
// at a path, "" for all of it.
func gitsPart(dir, below string) bool {
	has := func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	}
	namesWorkTree := func() bool { return usergit.NamesWorkTree(dir) }
	first, _, _ := strings.Cut(below, "/")
	switch {
	case !isGitDirectory(has):
		return false
	case below == "":
		return histories.Keeps("", has, namesWorkTree) && len(workTrees(dir)) == 0
	}
	inWorkTree := slices.ContainsFunc(workTrees(dir), func(tree string) bool { return treepath.Covers(tree, below) })
	return !inWorkTree && (isGits(first) || has("index") || namesWorkTree())
}

// inSystemDirectory reports whether a path is in a directory of the system's alone. Users
// have memory, removable disks and a directory of their own there.
func inSystemDirectory(path string) bool {
	if slices.ContainsFunc([]string{"/dev/shm/", "/run/media/", "/run/user/"}, func(dir string) bool { return strings.HasPrefix(path, dir) }) {
		return false
	}
	return slices.ContainsFunc([]string{"/proc", "/sys", "/dev", "/run", "/boot"}, func(dir string) bool {
		return path == dir || strings.HasPrefix(path, dir+"/")
	})
}

// systemDirectories hold the system, or everybody's files. What is below them
// may be somebody's workspace.
var systemDirectories = []string{
	"/bin", "/sbin", "/lib", "/lib64", "/usr", "/usr/bin", "/usr/lib", "/usr/local", "/etc", "/var", "/var/lib", "/opt", "/srv", "/snap",
	"/home", "/Users", "/mnt", "/media", "/tmp", "/var/tmp", "/System", "/Library", "/Applications",
}

func (c RootCheck) umbraHomeExists() bool {
	info, err := os.Stat(c.UmbraHome)
	return err == nil && info.IsDir()
}

// identities are those of a directory, or the nearest one above it that exists,
// and of all above that.
func identities(path string) []beneath.Identity {
	if path == "" {
		return nil
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	for {
		resolved, err := filepath.EvalSymlinks(path)
		if err == nil {
			path = resolved
			break
		}
		if filepath.Dir(path) == path {
			return nil
		}
		path = filepath.Dir(path)
	}
	var list []beneath.Identity
	for {
		if state, err := stateOf(path, os.Stat); err == nil && state.inode != 0 {
			list = append(list, beneath.Identity{Device: state.device, Inode: state.inode})
		}
		parent := filepath.Dir(path)
		if parent == path {
			return list
		}
		path = parent
	}
}

func readable(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Readdirnames(1); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

func describe(path string) (beneath.Identity, beneath.FileSystem, error) {
	root, err := beneath.Open(path)
	if err != nil {
		return beneath.Identity{}, beneath.FileSystem{}, err
	}
	defer root.Close()
	dir, err := root.OpenDir("")
	if err != nil {
		return beneath.Identity{}, beneath.FileSystem{}, err
	}
	defer dir.Close()
	system, err := dir.FileSystem()
	return root.Identity(), system, err
}
