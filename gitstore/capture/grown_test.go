package capture

import (
	"errors"
	"os"
	"testing"
)

// TestGrowthIsLeft: a capture that may leave growth takes nothing where files have grown at
// their ends, and everything where anything else has changed. What it has left the next
// capture takes, though nobody names it again.
func TestGrowthIsLeft(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(l *lab)
		left   bool
	}{
		"a log grows":             {func(l *lab) { l.write("logs/a", "1\n2\n") }, true},
		"two grow":                {func(l *lab) { l.write("logs/a", "1\n2\n"); l.write("main.go", "package main\n//\n") }, true},
		"another is written anew": {func(l *lab) { l.write("logs/a", "1\n2\n"); l.write("main.go", "package main\n") }, true},
		"nothing":                 {func(l *lab) { l.write("logs/a", "1\n") }, false},
		"another is edited":       {func(l *lab) { l.write("logs/a", "1\n2\n"); l.write("main.go", "package other\n") }, false},
		"longer, and edited":      {func(l *lab) { l.write("main.go", "// a comment\npackage main\n") }, false},
		"shorter":                 {func(l *lab) { l.write("logs/a", "1") }, false},
		"a file comes":            {func(l *lab) { l.write("logs/a", "1\n2\n"); l.write("logs/b", "") }, false},
		"a file goes":             {func(l *lab) { l.write("logs/a", "1\n2\n"); l.must(os.Remove(l.path("main.go"))) }, false},
		"it is rotated": {func(l *lab) {
			l.must(os.Rename(l.path("logs/a"), l.path("logs/a.1")))
			l.write("logs/a", "1\n2\n")
		}, false},
		"it becomes a link": {func(l *lab) {
			l.must(errors.Join(os.Remove(l.path("logs/a")), os.Symlink("1\n2\n3\n", l.path("logs/a"))))
		}, false},
		"its mode changes":        {func(l *lab) { l.write("logs/a", "1\n2\n"); l.must(os.Chmod(l.path("logs/a"), 0o755)) }, false},
		"a rule comes":            {func(l *lab) { l.write("logs/a", "1\n2\n"); l.write("logs/.gitignore", "b\n") }, false},
		"a rule is added":         {func(l *lab) { l.write("logs/a", "1\n2\n"); l.write(".gitignore", "*.o\nc\n") }, false},
		"an empty directory goes": {func(l *lab) { l.write("logs/a", "1\n2\n"); l.must(os.Remove(l.path("void"))) }, false},
		"what is left out grows":  {func(l *lab) { l.write("logs/a", "1\n2\n"); l.write(".env", "A=1\nB=2\n") }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, Settings{})
			l.write(".gitignore", "*.o\n")
			l.write(".env", "A=1\n")
			l.write("logs/a", "1\n")
			l.write("main.go", "package main\n")
			l.must(os.Mkdir(l.path("void"), 0o755))
			l.walk()
			c.change(l)
			dirty := Dirty{Paths: []string{"logs/a", "logs/a.1", "logs/b", "logs/.gitignore", "main.go", ".gitignore", ".env", "void"}}
			result, err := l.try(dirty, Options{LeaveGrowth: true})
			if left := errors.Is(err, ErrOnlyGrown); left != c.left || !left && err != nil {
				t.Fatalf("left: %t (%v)", left, err)
			}
			if c.left {
				result = l.paths()
			}
			l.scanner = l.newScanner()
			if whole := l.walk(); whole.Tree != result.Tree {
				t.Errorf("captured %q, and there is %q", l.files(result), l.files(whole))
			}
		})
	}
}

// TestWholeWalkTakesGrowth: a walk finds what nobody has told, and keeps it.
func TestWholeWalkTakesGrowth(t *testing.T) {
	t.Parallel()
	l := newLab(t, Settings{})
	l.write("a", "1\n")
	l.walk()
	l.write("a", "1\n2\n")
	if got := l.files(l.capture(Dirty{All: true}, Options{LeaveGrowth: true})); got["a"] != "1\n2\n" {
		t.Errorf("captured %q", got)
	}
}
