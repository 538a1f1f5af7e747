package points

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPoints: every point has one name, a literal, and one place.
func TestPoints(t *testing.T) {
	list, err := In("../../..")
	if err != nil || len(list) < 90 || !strings.Contains(list["ref.published"], "reflock.go") {
		t.Errorf("%d points, ref.published at %s, %v", len(list), list["ref.published"], err)
	}
	for name, calls := range map[string]string{
		"twice":      `failpoint.Hit("a"); failpoint.Hit("a")`,
		"no literal": `failpoint.Hit("a" + "b")`,
		"two names":  `failpoint.Hit("a", "b")`,
		"a number":   `failpoint.Hit(1)`,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "x.go"), []byte("package x\n\nfunc f() { "+calls+" }\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if list, err := In(dir); err == nil {
			t.Errorf("%s: found %v", name, list)
		}
	}
}
