package upkeep

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/flock"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
)

// TestDeadOwnersName: a lock whose process died after it had moved the ref is said, and
// swept.
func TestDeadOwnersName(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	own := storetest.Must[*os.File](t)(flock.CreateTemp(filepath.Join(s.Dir(), "umbra", "reflocks"), url.PathEscape(string(gitstore.PinRef("p")))+".*"))
	held := storetest.Must[[]Problem](t)(Check(ctx, s))
	own.Close()
	left := storetest.Must[[]Problem](t)(Check(ctx, s))
	said := func(list []Problem) bool {
		return slices.ContainsFunc(list, func(p Problem) bool { return p.Invariant == "I6" && p.Fix == fixCommand })
	}
	if said(held) || !said(left) {
		t.Errorf("held: %+v; left: %+v", held, left)
	}
	_, err := Sweep(ctx, s)
	storetest.NoErr(t, err)
	if said(storetest.Must[[]Problem](t)(Check(ctx, s))) {
		t.Error("not swept")
	}
}

// TestForeignLockIsSaid: a lock file of another program is left to the user.
func TestForeignLockIsSaid(t *testing.T) {
	t.Parallel()
	s, ctx := storetest.New(t), context.Background()
	path := filepath.Join(s.Dir(), string(gitstore.AgentRef(storetest.Mission))) + ".lock"
	storetest.NoErr(t, os.WriteFile(path, nil, 0o600))
	storetest.NoErr(t, os.Chtimes(path, time.Now(), time.Now().Add(-time.Hour)))
	_, err := Sweep(ctx, s)
	storetest.NoErr(t, err)
	problems := storetest.Must[[]Problem](t)(Check(ctx, s))
	if len(problems) != 1 || problems[0].Invariant != "I6" || problems[0].Fix != "rm "+path {
		t.Errorf("%+v", problems)
	}
}
