package journal

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// FuzzLog reads a log of requests as a killed process, a full disk or anybody
// may have left it: what read and last find is the same, and requests apply in
// an order that makes sense.
func FuzzLog(f *testing.F) {
	add, err := encodeLine(queueLine{Add: &Request{Sequence: 1, Status: Queued}})
	if err != nil {
		f.Fatal(err)
	}
	forget, err := encodeLine(queueLine{Forget: 1})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(append(bytes.Clone(add), forget...))
	f.Add(append(bytes.Clone(add), add[:len(add)/2]...))
	f.Add([]byte("\n00000000 {}\n"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, content []byte) {
		log := lineLog{path: filepath.Join(dir, "log")}
		if err := os.WriteFile(log.path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		values, _, err := log.read()
		if err != nil {
			t.Fatal(err)
		}
		last, _ := lastLine(content, true)
		var want json.RawMessage
		if len(values) > 0 {
			want = values[len(values)-1]
		}
		if !bytes.Equal(last, want) {
			t.Fatalf("the last line is %q, the last of all %q", last, want)
		}
		q, err := readQueue(log)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[int64]bool{}
		for _, r := range q.requests {
			if seen[r.Sequence] || r.Sequence > q.last || !r.Status.known() {
				t.Fatalf("request %+v of %+v, last %d", r, q.requests, q.last)
			}
			seen[r.Sequence] = true
		}
		for line := range bytes.Lines(content) {
			_, _ = decodePhaseLine(string(line))
		}
	})
}
