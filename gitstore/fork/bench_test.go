package fork

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// tree makes n source-like files of 8 KiB on average, twenty a directory.
func tree(l *lab, n int) {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		var text strings.Builder
		for size := random.IntN(16 << 10); text.Len() < size; {
			fmt.Fprintf(&text, "func name%d(x int) int { return x + %d }\n", random.IntN(1000), random.IntN(100000))
		}
		l.write(fmt.Sprintf("src/%d/%d/file%d.go", i/400, i/20%20, i), text.String())
	}
}

// measure runs fn b.N times and reports the CPU time too, which varies less
// than the wall time of a machine that is shared.
func measure(b *testing.B, fn func()) {
	spent := func(who int) float64 {
		var usage unix.Rusage
		if err := unix.Getrusage(who, &usage); err != nil {
			b.Fatal(err)
		}
		return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e6
	}
	self, children := spent(unix.RUSAGE_SELF), spent(unix.RUSAGE_CHILDREN)
	for range b.N {
		fn()
	}
	b.ReportMetric((spent(unix.RUSAGE_SELF)-self)/float64(b.N), "own-cpu-ms/op")
	b.ReportMetric((spent(unix.RUSAGE_CHILDREN)-children)/float64(b.N), "children-cpu-ms/op")
}

// BenchmarkFork compares a fork of 10,000 files with cp -a and git worktree
// add. Each iteration makes a new directory; they are deleted at the end.
func BenchmarkFork(b *testing.B) {
	base := os.Getenv("UMBRA_BENCH_DIR")
	if base == "" {
		base = b.TempDir()
	}
	hermetic(b)
	l := newLabIn(b, base)
	tree(l, 10_000)
	l.initGit()
	l.git(l.top, "gc", "-q")
	src := l.snapshot()
	past := src
	past.Live, past.Rules = "", nil
	past.Identity.Inode, past.Identity.Device = 0, 0
	n := 0
	name := func() string { n++; return fmt.Sprintf("w%d", n) }
	b.Run("live", func(b *testing.B) {
		measure(b, func() { l.fork(src, l.target(name())) })
	})
	b.Run("store", func(b *testing.B) {
		measure(b, func() { l.fork(past, l.target(name())) })
	})
	second := filepath.Join(base, "second")
	if err := os.Mkdir(second, 0o755); err != nil {
		b.Fatal(err)
	}
	plain := newLabIn(b, second)
	tree(plain, 10_000)
	plain.write(".gitignore", "/src/\n")
	ignored := plain.snapshot()
	b.Run("ignored", func(b *testing.B) {
		measure(b, func() { plain.fork(ignored, plain.target(name())) })
	})
	b.Run("cp", func(b *testing.B) {
		measure(b, func() {
			if out, err := exec.Command("cp", "-a", filepath.Join(l.top, "src"), filepath.Join(base, name())).CombinedOutput(); err != nil {
				b.Fatal(string(out))
			}
		})
	})
	b.Run("worktree-add", func(b *testing.B) {
		measure(b, func() {
			w := name()
			l.git(l.top, "worktree", "add", "-q", "-b", w, filepath.Join(base, w))
		})
	})
}
