package fork

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/umbra-vcs/umbra/gitstore/filecopy"
)

// checkTarget proves that the directory can be made, or is empty, and that it
// is in no place where the source would see it.
func (k *maker) checkTarget() error {
	dir := filepath.Clean(k.target.Directory)
	if !filepath.IsAbs(dir) {
		return &TargetError{dir, "is not an absolute path"}
	}
	// The document is JSON, and must lead back.
	if !utf8.ValidString(dir) || k.src.Repo != nil && !utf8.ValidString(k.src.Repo.CommonDir) {
		return &TargetError{dir, "has a name, or its repository has, that is not UTF-8"}
	}
	var err error
	if k.doc.Existed, err = isEmptyDirectory(dir); err != nil {
		return err
	}
	if k.doc.Parents, err = missingParents(dir); err != nil {
		return err
	}
	if k.doc.Directory, err = resolve(dir); err != nil {
		return err
	}
	return k.checkPlace()
}

// isEmptyDirectory tells whether a directory is there, or nothing; anything else is a
// *TargetError.
func isEmptyDirectory(dir string) (bool, error) {
	st, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if !st.IsDir() {
		return false, &TargetError{dir, "exists and is not a directory"}
	}
	names, err := os.ReadDir(dir)
	if err == nil && len(names) > 0 {
		err = &TargetError{dir, "is not empty"}
	}
	return err == nil, err
}

// IsFree tells whether a workspace can be made in a directory: nothing is there, and the
// repository, if there is one, has no entry of a worktree that was there.
func IsFree(dir, commonDir string) (bool, error) {
	var taken *TargetError
	if _, err := isEmptyDirectory(dir); errors.As(err, &taken) {
		return false, nil
	} else if err != nil || commonDir == "" {
		return err == nil, err
	}
	dir, err := resolve(dir)
	if err != nil {
		return false, err
	}
	entries, err := namesIn(filepath.Join(commonDir, "worktrees"))
	for _, entry := range entries {
		if was, err := directoryOf(entry); err == nil && was == dir {
			return false, nil
		}
	}
	return err == nil, err
}

func (k *maker) checkPlace() error {
	sources := []string{k.src.Live}
	if k.src.Repo != nil {
		sources = append(sources, k.src.Repo.GitDir, k.src.Repo.CommonDir)
	}
	for _, source := range sources {
		if source == "" {
			continue
		}
		source, err := resolve(source)
		if err != nil {
			return err
		}
		if inside(k.doc.Directory, source) {
			return &TargetError{k.doc.Directory, "lies inside " + source}
		}
		if inside(source, k.doc.Directory) {
			return &TargetError{k.doc.Directory, "holds " + source}
		}
	}
	return nil
}

// checkLimit compares what would be copied with the limit, unless the file
// system shares blocks.
func (k *maker) checkLimit() error {
	if k.target.Limit <= 0 || k.target.Force || k.extraBytes() <= k.target.Limit || k.shares() {
		return nil
	}
	return &LimitError{
		Files: k.scan.files + k.rest.files(), Bytes: k.extraBytes(), Limit: k.target.Limit,
	}
}

// shares tries whether the largest file to be copied could be shared instead.
func (k *maker) shares() bool {
	largest := k.scan.largest
	if k.rest != nil && k.rest.scan.largest.bytes > largest.bytes {
		largest = k.rest.scan.largest
	}
	if largest.bytes == 0 {
		return false
	}
	dir := filepath.Dir(k.doc.Directory)
	if len(k.doc.Parents) > 0 {
		dir = filepath.Dir(k.doc.Parents[0])
	}
	return filecopy.CanShare(largest.path, dir)
}
