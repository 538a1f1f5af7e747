package capture

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/beneath"
	"github.com/umbra-vcs/umbra/gitstore/git"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

// benchTree makes n source-like files, 20 a directory.
func benchTree(b *testing.B, n int) (*Scanner, *Rules, *shadow.Store) {
	b.Helper()
	base := b.TempDir()
	root := filepath.Join(base, "ws")
	for i := range n {
		dir := filepath.Join(root, fmt.Sprintf("d%d/e%d", i/400, i/20))
		if i%20 == 0 {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				b.Fatal(err)
			}
		}
		content := fmt.Sprintf("// file %d\n", i) + strings.Repeat(fmt.Sprintf("line %d of this file\n", i*7919), 2+i%80)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%d.go", i)), []byte(content), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	time.Sleep(50 * time.Millisecond) // let the stat data of the last files settle
	rules, err := LoadRules(Sources{Root: root})
	if err != nil {
		b.Fatal(err)
	}
	return NewScanner(Workspace{Root: root, Identity: identityOf(b, root)}), rules, benchStore(b)
}

func identityOf(b *testing.B, root string) beneath.Identity {
	b.Helper()
	opened, err := beneath.Open(root)
	if err != nil {
		b.Fatal(err)
	}
	defer opened.Close()
	return opened.Identity()
}

func benchStore(b *testing.B) *shadow.Store {
	b.Helper()
	dir := filepath.Join(b.TempDir(), "shadow.git")
	store, err := shadow.Create(context.Background(), dir, shadow.CreateOptions{ProjectID: "01234567-89ab-cdef-0123-456789abcdef"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = store.Close() })
	return store
}

func benchCapture(b *testing.B, s *Scanner, rules *Rules, store *shadow.Store, dirty Dirty) *Result {
	b.Helper()
	return benchCaptureWith(b, s, rules, store, dirty, Options{})
}

func benchCaptureWith(b *testing.B, s *Scanner, rules *Rules, store *shadow.Store, dirty Dirty, options Options) *Result {
	b.Helper()
	batch := store.NewBatch()
	defer batch.Discard()
	r, err := s.Capture(context.Background(), batch, rules, dirty, options)
	if err != nil {
		b.Fatal(err)
	}
	if err := batch.Flush(context.Background()); err != nil {
		b.Fatal(err)
	}
	s.Accept(r)
	return r
}

func BenchmarkFirstCapture(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for range b.N {
				b.StopTimer()
				s, rules, store := benchTree(b, n)
				b.StartTimer()
				benchCapture(b, s, rules, store, Dirty{All: true})
			}
		})
	}
}

func BenchmarkFullWalk(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		s, rules, store := benchTree(b, n)
		benchCapture(b, s, rules, store, Dirty{All: true})
		for _, byTimes := range []bool{false, true} {
			name := fmt.Sprint(n)
			if byTimes {
				name += "/by-times"
			}
			b.Run(name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					r := benchCaptureWith(b, s, rules, store, Dirty{All: true}, Options{ByTimes: byTimes})
					if r.Stats.ReadFiles > 0 {
						b.Fatalf("read %d files", r.Stats.ReadFiles)
					}
				}
			})
		}
	}
}

func BenchmarkOneDirty(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s, rules, store := benchTree(b, n)
			benchCapture(b, s, rules, store, Dirty{All: true})
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				i++
				path := "d0/e7/f147.go"
				if err := os.WriteFile(filepath.Join(rules.Root(), path), fmt.Appendf(nil, "edit %d", i), 0o644); err != nil {
					b.Fatal(err)
				}
				benchCapture(b, s, rules, store, Dirty{Paths: []string{path}})
			}
		})
	}
}

func BenchmarkCacheFile(b *testing.B) {
	s, rules, store := benchTree(b, 100_000)
	benchCapture(b, s, rules, store, Dirty{All: true})
	file := filepath.Join(b.TempDir(), "cache")
	b.Run("save", func(b *testing.B) {
		for b.Loop() {
			if err := s.Save(1, func(data []byte) error { return os.WriteFile(file, data, 0o600) }); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("open", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := OpenScanner(s.workspace, file, 1); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkFirstSeeded is FirstCapture in a clean checkout, packed.
func BenchmarkFirstSeeded(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			_, rules, _ := benchTree(b, n)
			checkout(b, rules.Root())
			repo, err := usergit.At(rules.Root())
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				b.StopTimer()
				store := benchStore(b)
				s := NewScanner(Workspace{Root: rules.Root(), Identity: identityOf(b, rules.Root())})
				b.StartTimer()
				rules, err := LoadRules(Sources{Root: rules.Root(), Repository: repo})
				if err != nil {
					b.Fatal(err)
				}
				batch := store.NewBatch()
				r, err := s.Capture(context.Background(), batch, rules, Dirty{All: true}, Options{Seed: &Seed{Repository: repo, Store: store}})
				if err != nil {
					b.Fatal(err)
				}
				if err := batch.Flush(context.Background()); err != nil {
					b.Fatal(err)
				}
				if err := batch.ProveTree(r.Tree, gitstore.ID{}); err != nil {
					b.Fatal(err)
				}
				batch.Discard()
				if r.Stats.ReadFiles > 0 || r.Stats.Seeded != n {
					b.Fatalf("%+v %v", r.Stats, r.Unseeded)
				}
			}
		})
	}
}

// checkout makes a directory a clean checkout whose index is of a later second.
func checkout(b *testing.B, root string) {
	b.Helper()
	for _, args := range [][]string{{"init", "-q", "."}, {"add", "-A"}, {"commit", "-q", "-m", "c"}, {"repack", "-adq"}} {
		if _, err := git.Run(context.Background(), git.Command{Dir: root, Args: args}); err != nil {
			b.Fatal(err)
		}
	}
	later := time.Now().Add(10 * time.Second)
	if err := os.Chtimes(filepath.Join(root, ".git", "index"), later, later); err != nil {
		b.Fatal(err)
	}
}
