package upkeep

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/flock"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
	"github.com/umbra-vcs/umbra/scripts/hazards"
	"github.com/umbra-vcs/umbra/scripts/patience"
)

func TestSweepLeavesOthersWork(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	in := func(name string) string { return filepath.Join(s.PackDir(), name) }
	past := time.Now().Add(-2 * time.Hour)
	for _, name := range []string{"tmp_pack_young", "tmp_pack_old", ".tmp-1-pack-old.idx", "pack-0000.pack", "pack-0001.pack"} {
		storetest.NoErr(t, os.WriteFile(in(name), []byte("x"), 0o600))
		if name != "tmp_pack_young" {
			storetest.NoErr(t, os.Chtimes(in(name), past, past))
		}
	}
	left := func() int { return len(storetest.Must[[]string](t)(filepath.Glob(in("tmp_pack_*")))) }
	before := left()
	indexing := exec.Command("git", "--git-dir", s.Dir(), "index-pack", "--stdin")
	stdin, err := indexing.StdinPipe()
	storetest.NoErr(t, err)
	storetest.NoErr(t, indexing.Start())
	_, err = stdin.Write([]byte("PACK\x00\x00\x00\x02\x00\x00\x00\x09")) // and no more of it
	storetest.NoErr(t, err)
	for deadline := time.Now().Add(patience.Of(time.Minute)); left() == before && time.Now().Before(deadline); {
		runtime.Gosched()
	}
	storetest.NoErr(t, indexing.Process.Kill())
	_ = indexing.Wait()
	hazards.Shown(t, hazards.H24, left() == before+1, "a git that is killed while it writes a pack leaves `tmp_pack_*` for good")
	hazards.Held(t, hazards.H24, "what killed processes left is named, and removed when nobody can be writing it any more")
	for _, name := range storetest.Must[[]string](t)(filepath.Glob(in("tmp_pack_*"))) {
		if filepath.Base(name) != "tmp_pack_young" {
			storetest.NoErr(t, os.Chtimes(name, past, past))
		}
	}
	storetest.NoErr(t, os.WriteFile(filepath.Join(s.Dir(), shadow.UnverifiedDir, "pack-0001"), nil, 0o600)) // being borrowed
	live := storetest.Must[*os.File](t)(flock.CreateTemp(in(""), "tmp_umbra_pack_*"))
	defer flock.DropTemp(live)
	dead := storetest.Must[*os.File](t)(flock.CreateTemp(in(""), "tmp_umbra_pack_*"))
	dead.Close()
	if problems := storetest.Must[[]Problem](t)(Check(ctx, s)); len(problems) != 2 || !strings.Contains(problems[0].Message, "pack-0000: its index is gone") ||
		problems[1].Invariant != "I6" || !strings.HasPrefix(problems[1].Message, "5 temporary files") {
		t.Errorf("check: %+v", problems)
	}
	stats := storetest.Must[SweepStats](t)(Sweep(ctx, s))
	if stats.Temporary != 5 {
		t.Errorf("%+v", stats)
	}
	// A pack that was being borrowed is swept at once, since nobody holds it.
	for path, want := range map[string]bool{
		in("tmp_pack_young"): true, in("tmp_pack_old"): false, in(".tmp-1-pack-old.idx"): false,
		in("pack-0000.pack"): true, in("pack-0001.pack"): false, live.Name(): true, dead.Name(): false,
	} {
		if _, err := os.Lstat(path); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
	var later []string
	storetest.NoErr(t, eachLeftover(ctx, s, time.Now().Add(2*time.Hour), func(path string, _ int64) error {
		later = append(later, filepath.Base(path))
		return nil
	}))
	if got := strings.Join(later, " "); got != "tmp_pack_young" {
		t.Errorf("two hours later: %s", got)
	}
}
