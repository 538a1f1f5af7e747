package jsonlines

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// moved is a rewrite that changes two places of each line.
func moved() Rewriter {
	return func(dst, line []byte) []byte {
		line = bytes.Replace(line, []byte("old-id"), []byte("new-id"), 1)
		return append(dst, bytes.Replace(line, []byte("/a/b"), []byte("/c"), 1)...)
	}
}

// TestRewriteInOrder: many stretches, lines longer than one, and a last line
// without an end: each line comes out rewritten, in its place.
func TestRewriteInOrder(t *testing.T) {
	for name, sizes := range map[string][]int{
		"short lines":     {10, 200, 3000},
		"very long lines": {10, 3 << 20, 40},
		"as long as read": {readSize - 60, readSize, readSize + 60},
	} {
		t.Run(name, func(t *testing.T) {
			var in, want bytes.Buffer
			for i := 0; in.Len() < 12<<20; i++ {
				filler := strings.Repeat("x", sizes[i%len(sizes)])
				fmt.Fprintf(&in, "{\"sessionId\":\"old-id\",\"n\":%d,\"t\":\"%s /a/b/f\"}\n", i, filler)
				fmt.Fprintf(&want, "{\"sessionId\":\"new-id\",\"n\":%d,\"t\":\"%s /c/f\"}\n", i, filler)
			}
			in.WriteString(`{"sessionId":"old-id","torn`)
			for how, r := range map[string]io.Reader{"whole": bytes.NewReader(in.Bytes()), "in halves": iotest.HalfReader(bytes.NewReader(in.Bytes()))} {
				var out bytes.Buffer
				if err := Rewrite(&out, r, moved); err != nil {
					t.Fatal(how, err)
				}
				if !bytes.Equal(out.Bytes(), want.Bytes()) {
					t.Fatalf("%s: %d bytes came out, want %d", how, out.Len(), want.Len())
				}
			}
		})
	}
}

// fullAfter fails once more bytes are written than there is room for.
type fullAfter struct{ room int }

var errFull = errors.New("no room")

func (f *fullAfter) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// TestRewriteFails: an error of either side ends it, and is told.
func TestRewriteFails(t *testing.T) {
	text := strings.Repeat("{\"sessionId\":\"old-id\"}\n", 1<<20)
	if err := Rewrite(&fullAfter{5 << 20}, strings.NewReader(text), moved); !errors.Is(err, errFull) {
		t.Errorf("without room: %v", err)
	}
	broken := errors.New("broken")
	var out bytes.Buffer
	err := Rewrite(&out, io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)), moved)
	if !errors.Is(err, broken) || out.Len() != len(text) {
		t.Errorf("a reader that breaks: %v after %d bytes of %d", err, out.Len(), len(text))
	}
	out.Reset()
	if err := Rewrite(&out, strings.NewReader(""), moved); err != nil || out.Len() > 0 {
		t.Errorf("nothing: %v, %d bytes", err, out.Len())
	}
}
