package ignore

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestListIsSmall: an ignore file of many lines takes a bounded number of bytes for each,
// its text included. Git takes some 70.
// It counts what is allocated, and so runs beside no other test.
func TestListIsSmall(t *testing.T) {
	const lines = 100_000
	for format, most := range map[string]uint64{"x%d\n": 40, "*.e%d\n": 40, "/a/b%d\n": 40, "/a/%d*b/\n": 110} {
		var text strings.Builder
		for n := range lines {
			fmt.Fprintf(&text, format, n)
		}
		data := []byte(text.String())
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		list := Parse("size", data)
		runtime.GC()
		runtime.ReadMemStats(&after)
		if took := (after.HeapAlloc - before.HeapAlloc) / lines; took > most {
			t.Errorf("%q: %d bytes a line, at most %d", format, took, most)
		}
		runtime.KeepAlive(list)
		runtime.KeepAlive(data)
	}
}

// TestLargeListIsLean: a file of many megabytes takes a bounded multiple of its size, also
// while it is read, whatever its lines are.
// It counts what is allocated, and so runs beside no other test.
func TestLargeListIsLean(t *testing.T) {
	for name, line := range map[string]func(n int) string{
		"a byte each": func(int) string { return "a\n" }, "two bytes": func(n int) string { return string([]byte{'a' + byte(n%26), '*', '\n'}) },
		"sets":   func(n int) string { return fmt.Sprintf("[%c%c%c]\n", 'a'+n/676%26, 'a'+n/26%26, 'A'+n%26) },
		"stars":  func(n int) string { return fmt.Sprintf("*%x?\n", n) },
		"others": func(n int) string { return fmt.Sprintf("%x\n", n) },
	} {
		var text strings.Builder
		for n := 0; text.Len() < 4*leanAbove; n++ {
			text.WriteString(line(n))
		}
		data := text.String()
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		list := Parse("lean", data)
		runtime.ReadMemStats(&after)
		allocated := (after.TotalAlloc - before.TotalAlloc) / uint64(len(data))
		runtime.GC()
		runtime.ReadMemStats(&after)
		held := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) / int64(len(data))
		t.Logf("%s: %d times its size allocated, %d kept", name, allocated, held)
		if allocated > 30 || held > 8 {
			t.Errorf("%s: %d times its size allocated, %d kept", name, allocated, held)
		}
		runtime.KeepAlive(list)
	}
}

// TestLeanMatchesAlike: what a large list keeps less of changes no verdict.
func TestLeanMatchesAlike(t *testing.T) {
	t.Parallel()
	content := "a\n!a\nb/\n*c\n!*c\n*c\n/d/**/e[fg]\n!/d/x/ef\n?\n!?\nx?\n[hi]*.o\n!h.o\n#\n\n**/j\\*\nb\nb/\na\n"
	full, lean := parse("x", content, false), parse("x", content, true)
	if len(lean.rules) >= len(full.rules) || lean.tokens != nil {
		t.Errorf("%d rules of %d, %d tokens", len(lean.rules), len(full.rules), len(lean.tokens))
	}
	for _, fold := range []bool{false, true} {
		for _, dir := range []string{"", "d", "d/x", "d/x/y", "b"} {
			ms := [2]*Matcher{New(nil, fold, Files{Git: full}), New(nil, fold, Files{Git: lean})}
			for part := range strings.SplitSeq(dir, "/") {
				if part != "" {
					ms = [2]*Matcher{ms[0].Enter(part, Files{}), ms[1].Enter(part, Files{})}
				}
			}
			for _, name := range []string{"a", "A", "b", "c", "xc", "ef", "eg", "EF", "h.o", "i.o", "I.o", "j*", "jx", "x1", "z"} {
				for _, isDir := range []bool{false, true} {
					a, b := ms[0].Match(name, isDir), ms[1].Match(name, isDir)
					if a.Ignored != b.Ignored || a.Ruled() != b.Ruled() || a.Ruled() && *a.Rule() != *b.Rule() {
						t.Errorf("%s/%s (a directory: %v, fold: %v): %+v, lean %+v", dir, name, isDir, fold, a, b)
					}
				}
				if ms[0].MayContainIncluded(name) != ms[1].MayContainIncluded(name) {
					t.Errorf("%s/%s: what may be below differs", dir, name)
				}
			}
		}
	}
}
