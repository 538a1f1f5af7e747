package objects

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
)

func TestRecentIsBounded(t *testing.T) {
	t.Parallel()
	var r recent
	id := func(n int) gitstore.ID { return gitstore.HashObject(gitstore.TypeBlob, fmt.Append(nil, n)) }
	content := bytes.Repeat([]byte("x"), recentLargest)
	for n := range 3 * recentBytes / recentLargest {
		r.put(id(n), gitstore.TypeTree, content)
		if _, ok := r.get(id(0), gitstore.TypeTree); !ok {
			t.Fatalf("after %d: what is asked for again and again is gone", n)
		}
		total := 0
		for _, part := range []map[gitstore.ID]recalled{r.young, r.old} {
			for _, found := range part {
				total += len(found.data)
			}
		}
		if total > recentBytes {
			t.Fatalf("%d bytes are kept", total)
		}
	}
	if _, ok := r.get(id(1), gitstore.TypeTree); ok {
		t.Error("what nobody asks for is kept")
	}
	r.put(id(-1), gitstore.TypeTree, append(content, 'x'))
	if _, ok := r.get(id(-1), gitstore.TypeTree); ok {
		t.Error("a huge tree is kept")
	}
}
