package clients

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// fakeNpm puts an npm on PATH that counts its runs in the cache and installs a
// claude of that version; with no version it fails.
func fakeNpm(t *testing.T, version string) (cache string) {
	t.Helper()
	cache = filepath.Join(t.TempDir(), "cache")
	bin := t.TempDir()
	script := `#!/bin/sh
echo run >>"$UMBRA_CHECK_CACHE/runs"
while [ $# -gt 1 ]; do [ "$1" = --prefix ] && prefix=$2; shift; done
mkdir -p "$prefix/node_modules/.bin"
printf '#!/bin/sh\necho ` + version + `\n' >"$prefix/node_modules/.bin/claude"
chmod +x "$prefix/node_modules/.bin/claude"
`
	if version == "" {
		script = "#!/bin/sh\necho no such registry >&2\nexit 1\n"
	}
	if err := os.WriteFile(filepath.Join(bin, "npm"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("UMBRA_CHECK_CACHE", cache)
	return cache
}

func TestInstallOnce(t *testing.T) {
	cache := fakeNpm(t, ClaudeOlder)
	if err := os.MkdirAll(filepath.Join(cache, "installing-left", "tree"), 0o755); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			client, err := Install(t.Context(), "claude", ClaudeOlder)
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := os.Stat(client.Path); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	runs, err := os.ReadFile(filepath.Join(cache, "runs"))
	if err != nil || string(runs) != "run\n" {
		t.Errorf("npm ran %q, %v", runs, err)
	}
	left, err := filepath.Glob(filepath.Join(cache, "installing-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

func TestInstallFails(t *testing.T) {
	for _, c := range []struct{ says, version, want string }{
		{"", ClaudeOlder, "no such registry"},
		{"9.9.9", ClaudeOlder, "--version says 9.9.9"},
		{ClaudeOlder, "latest", "not among the pinned versions"},
	} {
		cache := fakeNpm(t, c.says)
		_, err := Install(context.Background(), "claude", c.version)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Install = %v, want %q", err, c.want)
		}
		if left, _ := filepath.Glob(filepath.Join(cache, "*claude*")); len(left) > 0 {
			t.Errorf("in the cache after a failure: %q", left)
		}
		if left, _ := filepath.Glob(filepath.Join(cache, "installing-*")); len(left) > 0 {
			t.Errorf("in the cache after a failure: %q", left)
		}
	}
}
