package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestRelease makes what .ci/goreleaser.yaml names: the program for this system as it
// says, which runs, and what the archives hold beside it. The other systems' programs
// are only listed, and goreleaser itself is not run.
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
		least := 1
		if strings.Contains(m[1], "*") {
			least = 3
		}
		if err != nil || len(found) < least {
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
	run(t, home, releaseScript(t, source, string(config)))
}

// releaseScript builds as the configuration says, sums and unpacks the archive, and runs
// what was in it.
func releaseScript(t *testing.T, source, config string) string {
	t.Helper()
	words := func(key string) []string {
		m := regexp.MustCompile(`(?m)^ +` + key + `: \[(.*)\]$`).FindStringSubmatch(config)
		if m == nil {
			t.Fatalf("the configuration does not say %s", key)
		}
		return strings.Split(m[1], ", ")
	}
	script := "set -e\ncd " + shellQuoted(source) + "\nexport " + strings.Join(words("env"), " ") + "\n"
	build := "go build " + strings.Join(words("flags"), " ") + " -ldflags " + shellQuoted(strings.Join(words("ldflags"), " "))
	for _, system := range words("goos") {
		for _, processor := range words("goarch") {
			script += "GOOS=" + system + " GOARCH=" + processor + " go list -deps . >/dev/null\n"
		}
	}
	return script + build + ` -o ~/release/umbra .
cd ~/release
tar -czf ../umbra.tar.gz *
cd ..
sha256sum umbra.tar.gz >checksums.txt
sha256sum --check --quiet checksums.txt
mkdir unpacked
tar -xzf umbra.tar.gz -C unpacked
unpacked/umbra version | grep '^umbra '
grep -q umbra unpacked/completions/umbra.bash
`
}
