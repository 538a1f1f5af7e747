package commands

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/umbra-vcs/umbra/commands/reference"
)

// docs/cli.md is what `go run . docs-cli` prints.
func TestReference(t *testing.T) {
	t.Parallel()
	file := filepath.Join("..", "docs", "cli.md")
	want := reference.Markdown(allVerbs())
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/cli.md is not what the command line says: go run . docs-cli >docs/cli.md")
	}
}
