package lab

import (
	"bytes"
	"compress/zlib"
	"os"
	"path/filepath"
	"testing"
)

// TestTree: the trees are what the numbers on the page say of them.
func TestTree(t *testing.T) {
	tree := &Tree{Files: 2000, Seed: 1}
	var sum, deflated int
	directories := map[string]int{}
	for i := range tree.Files {
		content := tree.Content(i, 0)
		sum += len(content)
		directories[filepath.Dir(tree.Path(i))]++
		if i%20 != 0 {
			continue
		}
		var b bytes.Buffer
		w, err := zlib.NewWriterLevel(&b, 1)
		if err == nil {
			_, err = w.Write(content)
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		deflated += b.Len() * 20
	}
	if mean := sum / tree.Files; mean < meanSize*9/10 || mean > meanSize*11/10 {
		t.Errorf("the mean file has %d bytes, want about %d", mean, meanSize)
	}
	if ratio := float64(sum) / float64(deflated); ratio < 2.5 || ratio > 5 {
		t.Errorf("deflate makes the tree %.1f times smaller, source text is 3 to 4", ratio)
	}
	for dir, n := range directories {
		if n != perDirectory {
			t.Errorf("%s holds %d files, want %d", dir, n, perDirectory)
		}
	}
}

func TestTreeIsTheSameAgain(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	for _, dir := range []string{a, b} {
		if err := (&Tree{Files: 50, Seed: 3}).Make(dir); err != nil {
			t.Fatal(err)
		}
	}
	tree := &Tree{Files: 50, Seed: 3}
	for i := range tree.Files {
		for _, dir := range []string{a, b} {
			got, err := os.ReadFile(filepath.Join(dir, tree.Path(i)))
			if err != nil || !bytes.Equal(got, tree.Content(i, 0)) {
				t.Fatalf("file %d is another than its content, %v", i, err)
			}
		}
		if bytes.Equal(tree.Content(i, 0), tree.Content(i, 1)) {
			t.Errorf("file %d has the same content in two versions", i)
		}
	}
	if bytes.Equal(tree.Content(0, 0), (&Tree{Files: 50, Seed: 4}).Content(0, 0)) {
		t.Error("another seed gives the same content")
	}
}
