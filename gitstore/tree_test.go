package gitstore

import (
	"strings"
	"testing"
)

// writeTree stores files given as path -> mode and content.
func writeTree(t testing.TB, b *Batch, files map[string]testFile) ID {
	t.Helper()
	below := map[string]map[string]testFile{}
	var entries []TreeEntry
	for path, f := range files {
		dir, rest, nested := strings.Cut(path, "/")
		if !nested {
			entries = append(entries, TreeEntry{Name: path, Mode: f.mode, ID: must[ID](t)(b.Blob([]byte(f.data)))})
			continue
		}
		if below[dir] == nil {
			below[dir] = map[string]testFile{}
		}
		below[dir][rest] = f
	}
	for dir, files := range below {
		entries = append(entries, TreeEntry{Name: dir, Mode: ModeDir, ID: writeTree(t, b, files)})
	}
	return must[ID](t)(b.Tree(entries))
}

type testFile struct {
	mode Mode
	data string
}
