package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRelease makes what a release's archives hold beside the program, and holds
// what .ci/goreleaser.yaml names to be there. The release itself is not made here.
func TestRelease(t *testing.T) {
	config, err := os.ReadFile(".ci/goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	for _, dir := range []string{"bin", "tmp"} {
		if err := os.Mkdir(filepath.Join(home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	run(t, home, "cd "+shellQuoted(source)+" && scripts/release ~/release && scripts/release ~/release && ! scripts/release ~/bin && ! scripts/release")
	for _, m := range regexp.MustCompile(`src: (release/\S+)`).FindAllStringSubmatch(string(config), -1) {
		found, err := filepath.Glob(filepath.Join(home, m[1]))
		if err != nil || len(found) < 3 {
			t.Errorf("%s: %q %v", m[1], found, err)
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^      - ([A-Z]\S+)$`).FindAllStringSubmatch(string(config), -1) {
		if _, err := os.Stat(m[1]); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"completions/umbra.bash", "completions/_umbra", "completions/umbra.fish", "man/umbra.1", "man/umbra-restore.1"} {
		if info, err := os.Stat(filepath.Join(home, "release", name)); err != nil || info.Size() < 300 {
			t.Errorf("%s: %v %v", name, info, err)
		}
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	tag := regexp.MustCompile(`tags: \[(\w+)\]`).FindSubmatch(config)
	if tag == nil || !strings.Contains(string(readme), "go install -tags "+string(tag[1])+" ") {
		t.Errorf("a release is built with the tag %s, and the README says another", tag)
	}
}
