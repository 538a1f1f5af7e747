package lab

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestConversation: whole lines of JSON, each naming the one before it, none
// twice, and as many as were asked for.
func TestConversation(t *testing.T) {
	u, err := NewUmbra("umbra", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := u.NewSession("/work", 7)
	c, err := s.Converse()
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{100_000, 9 << 10} {
		if n, err := c.Grow(size); err != nil || n < size || n > size+20_000 {
			t.Fatalf("Grow(%d) = %d, %v", size, n, err)
		}
	}
	data, err := os.ReadFile(s.Transcript)
	if err != nil || filepath.Base(s.Transcript) != s.ID+".jsonl" {
		t.Fatal(s.Transcript, err)
	}
	last, seen := "", map[string]bool{}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct{ UUID, ParentUUID, SessionID string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		if line.ParentUUID != last || line.SessionID != s.ID || seen[line.UUID] {
			t.Fatalf("line %+v after %q", line, last)
		}
		seen[line.UUID], last = true, line.UUID
	}
	if lines.Err() != nil || len(seen) < 40 {
		t.Errorf("%d lines, %v", len(seen), lines.Err())
	}
}
