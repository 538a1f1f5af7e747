package snapshots

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// TestUnreadIgnoreProblem: an ignore file that is too large to be read is named, as long as
// the mission is not closed.
func TestUnreadIgnoreProblem(t *testing.T) {
	t.Parallel()
	const most = 100 << 20
	dir := t.TempDir()
	m := &projects.Mission{Project: &projects.Project{}, Lifecycle: missions.Initializing{}}
	m.Binding = projects.Binding{Workspace: dir, CommonDir: filepath.Join(dir, ".git")}
	sizes := map[string]int64{".gitignore": most, ".umbraignore": most + 1, ".git/info/exclude": most + 1}
	for name, size := range sizes {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(file, size); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{filepath.Join(dir, ".umbraignore"), filepath.Join(dir, ".git/info/exclude")}
	p := UnreadIgnoreProblem(m)
	if p == nil || !slices.Equal(p.Details, want) || !strings.HasSuffix(p.Message, ": "+strings.Join(want, ", ")) {
		t.Errorf("told of %+v", p)
	}
	m.Lifecycle = missions.Closed{}
	if p := UnreadIgnoreProblem(m); p != nil {
		t.Errorf("of a closed mission told of %+v", p)
	}
}
