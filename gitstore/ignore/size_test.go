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
