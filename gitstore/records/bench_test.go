package records

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
)

// BenchmarkAppendSession records a conversation of 200 MB, then again after each
// 10 KiB that were appended, durably (P9).
func BenchmarkAppendSession(b *testing.B) {
	s, ctx := storetest.New(b), context.Background()
	rnd := rand.New(rand.NewPCG(4, 4))
	talk := func(n int) (out []byte) {
		for len(out) < n {
			out = fmt.Appendf(out, `{"type":"assistant","uuid":"%x","message":{"text":"%x %x"}}`+"\n", rnd.Uint64(), rnd.Uint64(), rnd.Uint64())
		}
		return out
	}
	file := make([]byte, 0, 300<<20)
	file = append(file, talk(200<<20)...)
	tree := gitstore.ID{}
	record := func() {
		batch := s.NewBatch()
		defer batch.Discard()
		t := NewTree(s, tree)
		meta, err := t.AppendSession(batch, SessionSource{
			Agent: "claude", SessionID: "s1", File: bytes.NewReader(file), Length: int64(len(file)), SameFile: true,
		})
		storetest.NoErr(b, err)
		if meta.Generation != 1 || meta.Length != int64(len(file)) {
			b.Fatalf("%+v", meta)
		}
		tree = storetest.Must[gitstore.ID](b)(t.Write(batch))
		storetest.NoErr(b, batch.Flush(ctx))
	}
	record()
	b.ReportAllocs()
	for b.Loop() {
		file = append(file, talk(10<<10)...)
		record()
	}
}
