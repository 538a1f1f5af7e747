package upkeep

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/objects"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
)

// commitOf writes a commit on a parent, whose tree holds files of random bytes.
func commitOf(t *testing.T, s *shadow.Store, random *rand.Rand, parent gitstore.ID, files ...string) gitstore.ID {
	t.Helper()
	b := s.NewBatch()
	defer b.Discard()
	var entries []gitstore.TreeEntry
	for _, name := range files {
		content := make([]byte, 3000+random.IntN(20_000))
		for n := range content {
			content[n] = byte(random.Uint32())
		}
		entries = append(entries, gitstore.TreeEntry{Name: name, Mode: gitstore.ModeFile, ID: storetest.Must[gitstore.ID](t)(b.Write(gitstore.TypeBlob, content))})
	}
	tree := storetest.Must[gitstore.ID](t)(b.Tree(entries))
	who := gitstore.Signature{Name: "a", Email: "a@b", When: time.Unix(1700000000, 0)}
	c := &gitstore.Commit{Tree: tree, Author: who, Committer: who, Message: "m"}
	if !parent.IsZero() {
		c.Parents = []gitstore.ID{parent}
	}
	id := storetest.Must[gitstore.ID](t)(b.Commit(c))
	storetest.NoErr(t, b.Flush(context.Background()))
	return id
}

// TestWeigh compares what groups lead to alone with what git says of it, loose
// and packed, and leaves out what is borrowed.
func TestWeigh(t *testing.T) {
	s, ctx := storetest.New(t), context.Background()
	random := rand.New(rand.NewPCG(1, 2))
	base := commitOf(t, s, random, gitstore.ID{}, "a", "b")
	one := commitOf(t, s, random, commitOf(t, s, random, base, "a"), "c")
	two := commitOf(t, s, random, base, "d", "e")
	far := commitOf(t, s, random, gitstore.ID{}, "f")
	groups := [][]gitstore.ID{{one}, {two}, {far}}
	alone := func(want gitstore.ID, others ...gitstore.ID) int64 {
		t.Helper()
		args := []string{"rev-list", "--disk-usage", "--objects", want.String()}
		for _, o := range others {
			args = append(args, "^"+o.String())
		}
		out := storetest.Must[[]byte](t)(s.Git(ctx, args...))
		return storetest.Must[int64](t)(strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64))
	}
	loose := storetest.Must[Weight](t)(Weigh(ctx, s, groups))
	blocks := func(bytes int64) bool { return bytes > 0 && bytes%512 == 0 }
	if len(loose.Alone) != 3 || !blocks(loose.Alone[0]) || !blocks(loose.Shared) || loose.Alone[2] < alone(far) {
		t.Errorf("loose: %+v", loose)
	}

	storetest.Must[[]byte](t)(s.Git(ctx, "repack", "--geometric=2"))
	all := loose.Shared + loose.Alone[0] + loose.Alone[1] + loose.Alone[2]
	if twice := storetest.Must[Weight](t)(Weigh(ctx, s, groups)); loose.Double != 0 || twice.Double != all {
		t.Errorf("loose and packed: %+v, loose alone: %+v", twice, loose)
	}
	storetest.Must[[]byte](t)(s.Git(ctx, "prune-packed"))
	packed := storetest.Must[Weight](t)(Weigh(ctx, s, groups))
	if left, _ := filepath.Glob(filepath.Join(s.Dir(), "objects", "??", "*")); len(left) > 0 {
		t.Fatalf("not packed: %q", left) // they would be in no ref's reach for git
	}
	want := Weight{Alone: []int64{alone(one, two, far), alone(two, one, far), alone(far, one, two)}}
	want.Shared = alone(base)
	if fmt.Sprint(packed) != fmt.Sprint(want) {
		t.Errorf("packed: %+v, git says %+v", packed, want)
	}

	packs, err := filepath.Glob(filepath.Join(s.PackDir(), "pack-*.pack"))
	if err != nil || len(packs) == 0 {
		t.Fatal(packs, err)
	}
	for _, pack := range packs {
		storetest.NoErr(t, os.WriteFile(strings.TrimSuffix(pack, ".pack")+objects.KeepSuffix, nil, 0o600))
	}
	if got := storetest.Must[Weight](t)(Weigh(ctx, s, groups)); fmt.Sprint(got) != fmt.Sprint(Weight{Alone: []int64{0, 0, 0}}) {
		t.Errorf("borrowed: %+v", got)
	}
	lost := gitstore.ID{1, 2, 3}
	if got := storetest.Must[Weight](t)(Weigh(ctx, s, [][]gitstore.ID{{lost}})); got.Alone[0] != 0 {
		t.Errorf("a missing commit: %+v", got)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Weigh(ended, s, groups); err == nil {
		t.Error("the end of its context goes by unseen")
	}
}
