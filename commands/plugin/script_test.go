package plugin

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestScript: the plugin's script finds umbra where there is one, and says once a session
// what is missing where there is none.
func TestScript(t *testing.T) {
	const start, stop = `{"hook_event_name":"SessionStart"}`, `{"hook_event_name":"Stop"}`
	for _, dir := range []string{"/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin", "/home/linuxbrew/.linuxbrew/bin"} {
		if _, err := os.Stat(filepath.Join(dir, "umbra")); err == nil {
			t.Skipf("umbra is installed in %s, where the script finds it", dir)
		}
	}
	const fake = "#!/bin/sh\necho ran \"$@\"\n"
	for _, c := range []struct {
		at, args, stdin string
		out, errs       string
		code            int
	}{
		{"", "hook claude --plugin", start, `{"systemMessage": "The plugin umbra finds no program`, "", 0},
		{"", "hook claude --plugin", stop, "", "", 0},
		{"", "mcp --plugin", "", "", "The plugin umbra finds no program", 1},
		{"go/bin", "hook claude --plugin", start, "ran hook claude --plugin", "", 0},
		{".local/bin", "mcp --plugin", "", "ran mcp --plugin", "", 0},
	} {
		home := t.TempDir()
		if c.at != "" {
			write(t, filepath.Join(home, c.at, "umbra"), fake)
			if out, err := exec.Command("chmod", "755", filepath.Join(home, c.at, "umbra")).CombinedOutput(); err != nil {
				t.Fatalf("%v %s", err, out)
			}
		}
		script := exec.Command("/bin/sh", append([]string{"../../sessions/plugin/umbra.sh"}, strings.Fields(c.args)...)...)
		script.Env = []string{"HOME=" + home, "PATH=/usr/bin:/bin"}
		script.Stdin = strings.NewReader(c.stdin)
		var out, errs strings.Builder
		script.Stdout, script.Stderr = &out, &errs
		err := script.Run()
		var exit *exec.ExitError
		code := 0
		if errors.As(err, &exit) {
			code = exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		if code != c.code || !strings.HasPrefix(out.String(), c.out) || c.out == "" && out.Len() > 0 || !strings.HasPrefix(errs.String(), c.errs) {
			t.Errorf("%+v: code %d, %q, %q", c, code, out.String(), errs.String())
		}
	}
}
