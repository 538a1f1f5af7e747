package journal

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestLastLine finds the last whole value of a log however it ends, and however
// far from the end, and agrees with reading it all.
func TestLastLine(t *testing.T) {
	line := func(text string) string {
		encoded, err := encodeLine(json.RawMessage(text))
		must(t, err)
		return string(encoded)
	}
	long := `"` + strings.Repeat("x", 5*lastChunk) + `"`
	for name, content := range map[string]string{
		"empty":                "",
		"one":                  line(`1`),
		"two":                  line(`1`) + line(`2`),
		"torn end":             line(`1`) + line(`2`) + line(`3`)[:9],
		"torn middle":          line(`1`) + line(`2`)[:7] + line(`3`),
		"only torn":            line(`1`)[:10],
		"a long one":           line(`1`) + line(long),
		"long, torn":           line(`1`) + line(long)[:4*lastChunk],
		"far behind rubbish":   line(`1`) + strings.Repeat("rubbish\n", lastChunk),
		"exactly a chunk":      line(`1`) + line(`"`+strings.Repeat("x", lastChunk-len(line(`""`)))+`"`),
		"nothing but ends":     strings.Repeat("\n", 3*lastChunk),
		"zeros of a power cut": line(`1`) + string(make([]byte, 2*lastChunk)),
	} {
		t.Run(name, func(t *testing.T) {
			log := lineLog{path: filepath.Join(t.TempDir(), "log"), chunks: &sync.Pool{}}
			must(t, os.WriteFile(log.path, []byte(content), 0o600))
			all, _, err := log.read()
			must(t, err)
			last, _, err := log.last()
			must(t, err)
			var expected json.RawMessage
			if len(all) > 0 {
				expected = all[len(all)-1]
			}
			if string(last) != string(expected) {
				t.Errorf("%.40q, not %.40q", last, expected)
			}
		})
	}
	if last, bad, err := (lineLog{path: filepath.Join(t.TempDir(), "none")}).last(); last != nil || bad != 0 || err != nil {
		t.Errorf("no log: %s %d %v", last, bad, err)
	}
}

// TestFinish takes requests out of the queue in one step, from any status.
func TestFinish(t *testing.T) {
	j := opened(t)
	begun, err := j.EnqueueBegun(id(1), json.RawMessage(`{}`))
	must(t, err)
	if begun.Status != InProgress {
		t.Errorf("begun %+v", begun)
	}
	queued, err := j.Enqueue(id(1), json.RawMessage(`{}`))
	must(t, err)
	want(t, j.Finish(id(1), begun.Sequence, InProgress), ErrStatus)
	if next, ok, err := j.Next(id(1)); err != nil || !ok || next.Sequence != queued.Sequence {
		t.Errorf("next %+v %v %v", next, ok, err)
	}
	must(t, j.Finish(id(1), begun.Sequence, Completed))
	must(t, j.Finish(id(1), begun.Sequence, Completed))
	must(t, j.Finish(id(1), queued.Sequence, Canceled))
	if left, damaged, err := j.Requests(id(1)); err != nil || damaged != nil || len(left) > 0 {
		t.Errorf("left %v, %v, %v", fmt.Sprint(left), damaged, err)
	}
}
