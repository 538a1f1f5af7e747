package shadow_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
)

// benchFiles makes source-like contents of 8 KiB on average.
func benchFiles(n int, seed uint64) [][]byte {
	rnd := rand.New(rand.NewPCG(seed, 2))
	words := []string{"func ", "return ", "if err != nil {\n", "}\n", "\t", "string", "nil", "(", ")", "for range ", "value", "\n"}
	out := make([][]byte, n)
	for i := range out {
		size := rnd.IntN(16 << 10)
		data := fmt.Appendf(nil, "// %x\n", rnd.Uint64())
		for len(data) < size {
			data = append(data, words[rnd.IntN(len(words))]...)
			if rnd.IntN(6) == 0 {
				data = fmt.Appendf(data, "%x", rnd.Uint32())
			}
		}
		out[i] = data
	}
	return out
}

func BenchmarkBatch(b *testing.B) {
	for _, n := range []int{1, 30, 100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			files := benchFiles(n, uint64(n))
			s := storetest.New(b)
			ctx := context.Background()
			start := s.Fsyncs()
			b.ResetTimer()
			for i := range b.N {
				batch := s.NewBatch()
				for f := range files {
					files[f][3] = byte('0' + i%10)
					files[f][4] = byte('0' + i/10%10)
					files[f][5] = byte('0' + i/100%10)
					files[f][6] = byte('0' + i/1000%10)
					files[f][7] = byte('0' + i/10000%10)
					if _, err := batch.Blob(files[f]); err != nil {
						b.Fatal(err)
					}
				}
				if err := batch.Flush(ctx); err != nil {
					b.Fatal(err)
				}
				batch.Discard()
			}
			b.ReportMetric(float64(s.Fsyncs()-start)/float64(b.N), "fsyncs/op")
		})
	}
}

func BenchmarkUpdateRef(b *testing.B) {
	for name, d := range map[string]gitstore.Durability{"durable": gitstore.Durable, "derived": gitstore.Derived} {
		b.Run(name, func(b *testing.B) {
			s := storetest.New(b)
			c := storetest.Commits(b, s, 2)
			ctx, ref := context.Background(), gitstore.AgentRef(storetest.Mission)
			storetest.NoErr(b, s.UpdateRef(ctx, ref, gitstore.ID{}, c[0], d))
			b.ResetTimer()
			for i := range b.N {
				if err := s.UpdateRef(ctx, ref, c[i%2], c[(i+1)%2], d); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	for _, layout := range []string{"loose", "packed", "deltas"} {
		b.Run(layout, func(b *testing.B) {
			s, blobs := deltaStore(b, 100)
			ctx := context.Background()
			switch layout {
			case "packed":
				_, err := s.Git(ctx, "repack", "-adfq", "--window=0")
				storetest.NoErr(b, err)
			case "deltas":
				_, err := s.Git(ctx, "repack", "-adfq", "--depth=50")
				storetest.NoErr(b, err)
			}
			var ids []gitstore.ID
			for id := range blobs {
				ids = append(ids, id)
			}
			b.ResetTimer()
			for i := range b.N {
				if _, err := s.Blob(ids[i%len(ids)]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkHistory(b *testing.B) {
	s, _ := deltaStore(b, 300)
	tip := storetest.Must[gitstore.ID](b)(s.Ref(gitstore.AgentRef(storetest.Mission)))
	b.ResetTimer()
	for range b.N {
		n := 0
		for _, err := range s.Snapshots(tip, shadow.HistoryOptions{}) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != 300 {
			b.Fatal(n)
		}
	}
}

func BenchmarkOpen(b *testing.B) {
	s, _ := deltaStore(b, 30)
	b.ResetTimer()
	for range b.N {
		again, err := shadow.Open(s.Dir())
		if err != nil {
			b.Fatal(err)
		}
		again.Close()
	}
}
