package storetest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
)

// WriteTree stores files given as path -> mode and content.
func WriteTree(t testing.TB, b *shadow.Batch, files map[string]File) gitstore.ID {
	t.Helper()
	below := map[string]map[string]File{}
	var entries []gitstore.TreeEntry
	for path, f := range files {
		dir, rest, nested := strings.Cut(path, "/")
		if !nested {
			entries = append(entries, gitstore.TreeEntry{Name: path, Mode: f.Mode, ID: Must[gitstore.ID](t)(b.Blob([]byte(f.Data)))})
			continue
		}
		if below[dir] == nil {
			below[dir] = map[string]File{}
		}
		below[dir][rest] = f
	}
	for dir, files := range below {
		entries = append(entries, gitstore.TreeEntry{Name: dir, Mode: gitstore.ModeDir, ID: WriteTree(t, b, files)})
	}
	return Must[gitstore.ID](t)(b.Tree(entries))
}

// File is a file of a tree.
type File struct {
	Mode gitstore.Mode
	Data string
}

// RandomTree makes trees in which names collide, files and directories too.
func RandomTree(rnd *rand.Rand) map[string]File {
	files := map[string]File{}
	names := []string{"a", "b", "a.b", "a-b", "a0", "sp ace", "tab\t", "ü", "q\"uote", "back\\slash", "\xff\xfe"}
	for range rnd.IntN(12) {
		var parts []string
		for range 1 + rnd.IntN(3) {
			parts = append(parts, names[rnd.IntN(len(names))])
		}
		path := strings.Join(parts, "/")
		clash := false
		for other := range files {
			clash = clash || strings.HasPrefix(other+"/", path+"/") || strings.HasPrefix(path+"/", other+"/")
		}
		if clash {
			continue
		}
		mode := []gitstore.Mode{gitstore.ModeFile, gitstore.ModeFile, gitstore.ModeExec, gitstore.ModeSymlink}[rnd.IntN(4)]
		var data strings.Builder
		for range rnd.IntN(30) {
			fmt.Fprintf(&data, "line %d\n", rnd.IntN(12))
		}
		if rnd.IntN(2) == 0 || mode == gitstore.ModeSymlink {
			data.WriteString("no newline")
		}
		content := data.String()
		if mode == gitstore.ModeSymlink {
			content = strings.ReplaceAll(content, "\n", " ")
		}
		files[path] = File{mode, content}
	}
	return files
}
