package lab

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// A Tree says what a directory of source-like files looks like: Files of them,
// 20 a directory, 8 KiB each in the mean, as compressible as source text. The
// same Files and Seed always give the same bytes.
type Tree struct {
	Files int
	Seed  uint64

	once sync.Once
	pool []string
}

const (
	perDirectory = 20
	meanSize     = 8 << 10
	leastSize    = 200
	mostSize     = 96 << 10
	poolLines    = 6000
	aboutLines   = 150
)

var extensions = []string{".go", ".ts", ".py", ".c", ".md", ".json"}

// Path is the name of file i below the tree's root, with slashes.
func (t *Tree) Path(i int) string {
	dir := i / perDirectory
	return fmt.Sprintf("d%02d/e%03d/file_%d%s", dir/100, dir, i, extensions[i%len(extensions)])
}

// Content is what file i holds in its n-th version; the first is 0.
func (t *Tree) Content(i, n int) []byte {
	t.once.Do(t.fillPool)
	r := rand.New(rand.NewPCG(t.Seed+uint64(i), uint64(n)))
	// Sizes of source files are spread widely: exponentially here, and bounded.
	size := min(max(int(-meanSize*math.Log(1-r.Float64())), leastSize), mostSize)
	var b bytes.Buffer
	b.Grow(size + 128)
	fmt.Fprintf(&b, "// file %d of %d, version %d\n", i, t.Files, n)
	// One file speaks of few things, again and again.
	about := r.IntN(len(t.pool) - aboutLines)
	for b.Len() < size {
		b.WriteString(t.pool[about+r.IntN(aboutLines)])
		if r.IntN(10) == 0 { // what no other file holds
			fmt.Fprintf(&b, "\tconst id%d = 0x%x\n", r.IntN(1000), r.Uint64())
		}
	}
	return b.Bytes()
}

// fillPool makes the lines that files are put together from.
func (t *Tree) fillPool() {
	r := rand.New(rand.NewPCG(t.Seed, 0))
	const letters = "abcdefghijklmnopqrstuvwxyz"
	words := make([]string, 900)
	for i := range words {
		word := make([]byte, 3+r.IntN(8))
		for j := range word {
			word[j] = letters[r.IntN(len(letters))]
		}
		words[i] = string(word)
	}
	// A few words are used much more than the rest, as in any language.
	word := func() string { return words[int(float64(len(words))*math.Pow(r.Float64(), 2.5))] }
	forms := []func() string{
		func() string { return fmt.Sprintf("%s := %s.%s(%s)\n", word(), word(), word(), word()) },
		func() string { return fmt.Sprintf("if %s != nil {\n", word()) },
		func() string { return fmt.Sprintf("return %s(%s, %s)\n", word(), word(), word()) },
		func() string { return fmt.Sprintf("// %s %s %s %s %s\n", word(), word(), word(), word(), word()) },
		func() string { return fmt.Sprintf("%s = append(%s, %q)\n", word(), word(), word()) },
		func() string { return "}\n" },
	}
	t.pool = make([]string, poolLines)
	for i := range t.pool {
		t.pool[i] = strings.Repeat("\t", 1+r.IntN(3)) + forms[r.IntN(len(forms))]()
	}
}

// Make writes the tree below root, which may exist, with two workers.
func (t *Tree) Make(root string) error {
	for i := 0; i < t.Files; i += perDirectory {
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(t.Path(i))), 0o755); err != nil {
			return fmt.Errorf("make the tree: %w", err)
		}
	}
	const workers = 2
	errs := make([]error, workers)
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			for i := w; i < t.Files && errs[w] == nil; i += workers {
				errs[w] = t.Write(root, i, 0)
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// Write gives file i its n-th version, in place, as an editor without a
// temporary file does.
func (t *Tree) Write(root string, i, n int) error {
	if err := os.WriteFile(filepath.Join(root, t.Path(i)), t.Content(i, n), 0o644); err != nil {
		return fmt.Errorf("write file %d of the tree: %w", i, err)
	}
	return nil
}
