package local

import (
	"context"
	"crypto/sha1"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestDiffOverLostContent: of changes whose content is lost the paths are told, and all
// other changes shown. Who judges a change gets an error.
func TestDiffOverLostContent(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	b := newBench(t)
	b.write("a", "one\n")
	b.write("b", "one\n")
	b.write("dir/moved", strings.Repeat("the same line\n", 20))
	m := b.mission("work")
	const lost = "what is lost\n"
	b.write("a", "two\n")
	b.write("b", lost)
	b.snapshot("lost after")
	b.write("a", "three\n")
	b.write("b", "three\n")
	if err := os.Rename(filepath.Join(b.dir, "dir/moved"), filepath.Join(b.dir, "dir/there")); err != nil {
		t.Fatal(err)
	}
	b.write("dir/deep/x", "one\n")
	b.write("dir/deep/within/x", "one\n")
	b.snapshot("lost before")
	tree := b.git("--git-dir", m.ShadowRepo, "rev-parse", "work:dir/deep")
	b.write("a", "four\n")
	b.write("dir/deep/x", "two\n")
	b.snapshot("lost directory")
	b.write("dir/deep/x", "three\n")
	b.write("dir/there", "three\n")
	b.snapshot("lost no more")
	b.loseObject(m, strings.TrimSpace(tree))
	b.loseObject(m, fmt.Sprintf("%x", sha1.Sum([]byte(fmt.Sprintf("blob %d\x00%s", len(lost), lost)))))
	b = b.again()
	for _, c := range []struct{ from, to, lost, files string }{
		{"work~4", "work~3", "b: modified, the content after is lost", "[a]"},
		{"work~3", "work~2", "b: modified, the content before is lost dir/deep: a directory; what was in it after is lost", "[a dir/there]"},
		{"work~2", "work~1", "dir/deep: a directory; what was in it before is lost", "[a]"},
		{"work~1", "work", "", "[dir/deep/x dir/there]"},
	} {
		check := func(what string, files []missions.FileChange, patch string, lost []missions.PathReason, err error) {
			t.Helper()
			var names, reasons []string
			for _, f := range files {
				names = append(names, f.Path)
				if !strings.Contains(patch, " b/"+f.Path+"\n") {
					t.Errorf("%s %s..%s: no patch of %s:\n%s", what, c.from, c.to, f.Path, patch)
				}
			}
			for _, l := range lost {
				reasons = append(reasons, l.Path+": "+l.Reason)
			}
			if err != nil || strings.Join(reasons, " ") != c.lost || fmt.Sprint(names) != c.files {
				t.Errorf("%s %s..%s: %v, lost %q, %v", what, c.from, c.to, names, reasons, err)
			}
		}
		r := missions.DiffRequest{Caller: b.caller(), From: c.from, To: c.to, Patch: true, Tolerant: true}
		d, err := b.local.Diff(ctx, r)
		check("diff", d.Files, d.Patch, d.Lost, err)
		if c.lost != "" {
			s, err := b.local.Show(ctx, missions.ShowRequest{Caller: b.caller(), Moment: c.to, Tolerant: true})
			check("show", s.Files, s.Patch, s.Lost, err)
			r.Tolerant = false
			_, err = b.local.Diff(ctx, r)
			b.fails("diff for a judge", err, missions.KindDamaged)
			r.Paths = []string{"a"}
			if d, err := b.local.Diff(ctx, r); err != nil || len(d.Files) != 1 {
				t.Errorf("diff of what is whole: %+v %v", d, err)
			}
			r.Tolerant, r.Paths = true, []string{"dir/deep/x"}
			if d, err := b.local.Diff(ctx, r); err != nil || (len(d.Lost) == 1) != strings.Contains(c.lost, "dir/deep") {
				t.Errorf("diff in what is lost: %+v %v", d, err)
			}
		}
	}
}
