// Command habits checks what CONTRIBUTING.md asks of every Go file and gofmt,
// vet and staticcheck cannot see: one package comment a package, no init, no
// exit below main, no notes to oneself, files that stay short, and packages and types
// that stay small. It reads source only; imports are the business of arrows.
package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

func main() {
	bad, err := run(".", ceilings)
	if err != nil {
		fmt.Fprintln(os.Stderr, "habits:", err)
		os.Exit(1)
	}
	for _, line := range bad {
		fmt.Println(line)
	}
	if len(bad) > 0 {
		fmt.Fprintf(os.Stderr, "habits: %d to mend\n", len(bad))
		os.Exit(1)
	}
}

// run checks every Go file below root but those in testdata and in directories whose
// name begins with a dot. Ceilings are the exceptions from the measures.
func run(root string, ceilings []ceiling) ([]string, error) {
	found := newFindings()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			if path != root && (name == "testdata" || name[0] == '.' || name[0] == '_') {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(name) != ".go" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		return found.file(filepath.ToSlash(rel), text)
	})
	if err != nil {
		return nil, err
	}
	return append(found.lines(), found.overMeasure(ceilings)...), nil
}
