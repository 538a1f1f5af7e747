package restore

import (
	"context"
	"fmt"
	"testing"
)

// BenchmarkRestore goes to and fro between two states of a workspace of 10,000
// files: plan, journal, changes, end and settling.
func BenchmarkRestore(b *testing.B) {
	for _, differ := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprint(differ), func(b *testing.B) {
			l := newLabAt(b, b.TempDir(), "")
			for n := range 10_000 {
				l.write(fmt.Sprintf("d%d/e%d/f%d", n%25, n%500, n), filler(4000)+fmt.Sprint(n))
			}
			sides := []Side{l.capture()}
			for n := range differ {
				l.write(fmt.Sprintf("d%d/e%d/f%d", n%25, n%500, n), filler(4000)+fmt.Sprint(-n))
			}
			sides = append(sides, l.capture())
			b.ResetTimer()
			for n := 0; b.Loop(); n++ {
				p := l.plan(sides[(n+1)%2], sides[n%2])
				o := l.begin(p, PrepareOptions{})
				if _, err := o.work.Apply(context.Background()); err != nil {
					b.Fatal(err)
				}
				l.must(o.work.Finish())
				if settled, err := o.work.Settle(nil); err != nil || !settled.Empty {
					b.Fatal(settled, err)
				}
				o.drop()
			}
		})
	}
}
