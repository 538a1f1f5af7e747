package promotes

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// pathsLeftBehind are the paths that the commits change and a promotion does not bring:
// those outside of the parent's workspace, and those that the fork's tree does not have
// though they are in its workspace, such as secrets and files that are too large.
func (m *branchMove) pathsLeftBehind(ctx context.Context, fork, parent *projects.Mission, tree gitstore.ID) (outside, unkept []string, err error) {
	below, err := filepath.Rel(projects.ResolveLinks(m.repo.TopLevel), projects.ResolveLinks(parent.Binding.Workspace))
	if err != nil {
		return nil, nil, err
	}
	within := filepath.ToSlash(below) + "/"
	if below == "." {
		within = ""
	}
	out, err := m.git(ctx, "diff-tree", "-r", "-z", "--name-only", "--no-renames", m.from, m.to)
	if err != nil {
		return nil, nil, err
	}
	for _, path := range strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 }) {
		rel, ok := strings.CutPrefix(path, within)
		if !ok {
			outside = append(outside, path)
			continue
		}
		m.changed = append(m.changed, rel)
		info, err := os.Lstat(filepath.Join(fork.Binding.Workspace, filepath.FromSlash(rel)))
		if err != nil || info.IsDir() {
			continue
		}
		_, err = fork.Project.Store.Lookup(tree, rel)
		if errors.Is(err, gitstore.ErrNoEntry) {
			unkept = append(unkept, path)
		} else if err != nil {
			return nil, nil, err
		}
	}
	return outside, unkept, nil
}
