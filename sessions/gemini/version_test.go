package gemini

import (
	"os"
	"path/filepath"
	"testing"
)

// TestInstalled: the version is that of the package whose script runs, also
// through the link by which it is called.
func TestInstalled(t *testing.T) {
	dir := t.TempDir()
	root := filepath.Join(dir, "lib", "node_modules", "@google", "gemini-cli")
	script := filepath.Join(root, "bundle", "gemini.js")
	mkfile(t, script, "")
	mkfile(t, filepath.Join(root, "bundle", "package.json"), `{"name":"another","version":"3"}`)
	mkfile(t, filepath.Join(root, "package.json"), `{"name":"@google/gemini-cli","version":"9.8.7"}`)
	link := filepath.Join(dir, "bin", "gemini")
	mkfile(t, filepath.Join(dir, "bin", "node"), "")
	if err := os.Symlink(script, link); err != nil {
		t.Fatal(err)
	}
	for _, argv := range [][]string{{"node", script}, {"/usr/bin/node", "--no-warnings", link, "-p", "x"}, {link}} {
		if got := (Adapter{}).Installed(argv); got != "9.8.7" {
			t.Errorf("%q is version %q", argv, got)
		}
	}
	other := filepath.Join(dir, "else", "gemini")
	mkfile(t, other, "")
	mkfile(t, filepath.Join(dir, "else", "package.json"), `{"name":"@google/gemini-cli","version":7}`)
	for _, argv := range [][]string{nil, {"node"}, {"gemini"}, {other}, {filepath.Join(dir, "none", "gemini")}, {"/bin/sh", link}} {
		if got := (Adapter{}).Installed(argv); got != "" {
			t.Errorf("%q is version %q", argv, got)
		}
	}
}
