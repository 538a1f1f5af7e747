package borrow

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
	"github.com/umbra-vcs/umbra/gitstore/upkeep"
)

// TestBorrowOddHistory borrows a pack that holds commits, trees and tags as old
// or strange programs wrote them: they are the user's, and nothing is wrong with
// the shadow repository for that.
func TestBorrowOddHistory(t *testing.T) {
	t.Parallel()
	l, s := newLender(t), storetest.New(t)
	hash := func(kind, content string) string {
		t.Helper()
		out, err := git.Run(context.Background(), git.Command{Dir: l.dir, Stdin: strings.NewReader(content), Args: []string{"hash-object", "-w", "--literally", "--stdin", "-t", kind}})
		storetest.NoErr(t, err)
		return strings.TrimSpace(string(out))
	}
	tree := l.git("rev-parse", "HEAD^{tree}")
	blob := l.git("rev-parse", "HEAD:d0/f0")
	id := storetest.Must[gitstore.ID](t)(gitstore.ParseID(blob))
	raw := string(id[:])
	const good = "A <a@b> 1700000000 +0000"
	odd := []string{
		"author A<a@b> 1700000000 +0000\ncommitter " + good,
		"author A <a@b 1700000000 +0000\ncommitter " + good,
		"author A <a@b>1700000000 +0000\ncommitter " + good,
		"author <a@b> 1700000000 +0000\ncommitter " + good,
		"author A > <a@b> 1700000000 +0000\ncommitter " + good,
		"author A 1700000000 +0000\ncommitter " + good,
		"author A <a@b> 01700000000 +0000\ncommitter " + good,
		"author A <a@b> 99999999999999999999999 +0000\ncommitter " + good,
		"author A <a@b> x +0000\ncommitter " + good,
		"author A <a@b> 1700000000 +51800\ncommitter " + good,
		"author " + good + "\nauthor " + good + "\ncommitter " + good,
		"committer " + good,
		"author " + good,
	}
	for i, head := range odd {
		l.git("update-ref", fmt.Sprint("refs/odd/", i), hash("commit", "tree "+tree+"\n"+head+"\n\nodd\n"))
	}
	for i, content := range []string{
		"0100644 a\x00" + raw,
		"100644 a\x00" + raw + "100644 a\x00" + raw,
		"100644 b\x00" + raw + "100644 a\x00" + raw,
		"100664 a\x00" + raw,
		"100644 .git\x00" + raw,
		"100644 a/b\x00" + raw,
	} {
		id := hash("tree", content)
		l.git("update-ref", fmt.Sprint("refs/odd/tree", i), hash("commit", "tree "+id+"\nauthor "+good+"\ncommitter "+good+"\n\nodd\n"))
	}
	l.git("update-ref", "refs/odd/tag", hash("tag", "object "+l.git("rev-parse", "HEAD")+"\ntype commit\ntag a b\n\nno tagger\n"))
	l.git("repack", "-adq")
	top, wanted := l.tree()
	o := l.objects()
	if b := borrow(t, s, o, wanted); !b.all() || b.Packs != 1 {
		t.Fatalf("borrowed %+v", b)
	}
	publish(t, s, top, o)
	for _, p := range storetest.Must[[]upkeep.Problem](t)(upkeep.Check(context.Background(), s)) {
		if strings.HasPrefix(p.Message, "git fsck") {
			t.Errorf("%s", p.Message)
		}
	}
}
