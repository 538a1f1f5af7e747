package trash

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/missions/projects"
)

// ownFiles are the ignored files of a fork that no workspace of its ancestors has as they
// are, by size and time; the others are copies, and only counted. A path that ends in a
// slash stands for all below it.
func (b *Bin) ownFiles(m *projects.Mission, ignored []string) (own []string, copied int) {
	var sources []string
	for _, up := range b.ForkAncestors(m) {
		if up.Binding.Workspace != "" && !up.IsWorkspaceGone() {
			sources = append(sources, up.Binding.Workspace)
		}
	}
	for _, path := range ignored {
		if n, is := countCopies(m.Binding.Workspace, sources, path); is {
			copied += n
		} else {
			own = append(own, path)
		}
	}
	return own, copied
}

// countCopies counts the files at and below a path. is reports whether each of them is a
// copy.
func countCopies(workspace string, sources []string, path string) (n int, is bool) {
	is = true
	root := filepath.Join(workspace, strings.TrimSuffix(path, "/"))
	err := filepath.WalkDir(root, func(at string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		n++
		if is = isCopy(at, strings.TrimPrefix(at, workspace), sources); !is {
			return fs.SkipAll
		}
		return nil
	})
	return n, is && err == nil
}

func isCopy(file, path string, sources []string) bool {
	have, err := os.Lstat(file)
	if err != nil {
		return false
	}
	for _, source := range sources {
		of, err := os.Lstat(filepath.Join(source, path))
		if err == nil && of.Mode() == have.Mode() && of.Size() == have.Size() && of.ModTime().Equal(have.ModTime()) {
			return true
		}
	}
	return false
}
