package codex

import (
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

// TestCleanConfig: of settings what is no secret is kept, in one order, and not what
// Codex writes there by itself.
func TestCleanConfig(t *testing.T) {
	const drawn = "hush0a7Kq2Zx9a7Kq2Zx9"
	const settings = `# api_key = "hush 0"
model = "m"
notify = ["say", "done"]
model_auto_compact_token_limit = 1000
since = 2026-11-23
[projects."/w"]
trust_level = "trusted"
[notice]
hide = true
[hooks.state."/h/.codex/hooks.json:stop:0:0"]
trusted_hash = "sha256:00"
[mcp_servers.s]
command = "hush 1"
args = ["--key", "hush 2"]
enabled = true
[mcp_servers.s.env]
A = "hush 3"
[model_providers.p]
base_url = "http://127.0.0.1"
env_key = "NAME"
experimental_bearer_token = "hush 4"
http_headers = { X = "hush 5" }
query_params = { key = "hush 6" }
[shell_environment_policy]
inherit = "core"
set = { B = "hush 7" }
[[accounts]]
password = "hush 8"
[license]
master_key = ["` + drawn + `"]
`
	const want = `model = 'm'
model_auto_compact_token_limit = 1000
notify = ['say', 'done']
since = 2026-11-23

[[accounts]]
password = ''

[hooks]
[license]
master_key = ['[umbra-left-out:secret]']

[mcp_servers]
[mcp_servers.s]
args = ['', '']
command = ''
enabled = true

[mcp_servers.s.env]
A = ''

[model_providers]
[model_providers.p]
base_url = 'http://127.0.0.1'
env_key = 'NAME'
experimental_bearer_token = ''

[model_providers.p.http_headers]
X = ''

[model_providers.p.query_params]
key = ''

[shell_environment_policy]
inherit = 'core'

[shell_environment_policy.set]
B = ''
`
	got, err := Adapter{}.CleanConfig(userSettings, []byte(settings))
	if err != nil || string(got) != want {
		t.Errorf("kept is (error %v)\n%s", err, got)
	}
	if again, err := (Adapter{}).CleanConfig(userSettings, got); err != nil || string(again) != want {
		t.Errorf("of that is kept (error %v)\n%s", err, again)
	}
	for _, broken := range []string{"key = 'hush", "a = 1\na = 2\n", "\x00"} {
		if got, err := (Adapter{}).CleanConfig(userSettings, []byte(broken)); err == nil || got != nil {
			t.Errorf("of %q is kept %q", broken, got)
		}
	}
	if got, err := (Adapter{}).CleanConfig("prompts/config.toml", []byte("key = 'mine'")); err != nil || !strings.Contains(string(got), "mine") {
		t.Errorf("of another file is kept %q (error %v)", got, err)
	}
}

// FuzzConfig: no configuration makes reading or cleaning it fail otherwise than by an
// error, and what is kept is read again as the same.
func FuzzConfig(f *testing.F) {
	f.Add("notify = []\n[features]\nhooks = false\n")
	f.Add("[hooks.state.\"x\"]\nenabled = false\n")
	f.Add("hooks = 1\nfeatures = 'x'\n[a]\nset = {b = nan}\n")
	f.Add("a = [[1, 'x'], {token = 't'}]\nd = 1979-05-27T07:32:00Z\n")
	f.Fuzz(func(t *testing.T, text string) {
		a := Adapter{}
		a.config(sessions.Environ{}, func(string) ([]byte, error) { return []byte(text), nil })
		overridden(text)
		kept, err := a.CleanConfig(userSettings, []byte(text))
		if err != nil {
			return
		}
		again, err := a.CleanConfig(userSettings, kept)
		if err != nil || string(again) != string(kept) {
			t.Errorf("%q is kept as %q, and that as %q (error %v)", text, kept, again, err)
		}
	})
}
