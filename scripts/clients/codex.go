package clients

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// codexKey is the variable that Codex reads the model server's key from.
const codexKey = "UMBRA_STANDIN_KEY"

// prepareCodex writes config.toml: the stand-in as the model's provider, and
// nothing asked, not even for a newer model, or sent elsewhere; what is typed fast
// is no paste, whose Enter would be a line's.
func prepareCodex(home, baseURL string, workspaces []string) error {
	var out bytes.Buffer
	fmt.Fprintf(&out, `model = "gpt-5.5"
model_provider = "standin"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
disable_paste_burst = true
[analytics]
enabled = false
[model_providers.standin]
name = "standin"
base_url = %q
wire_api = "responses"
env_key = %q
request_max_retries = 0
stream_max_retries = 0
[notice.model_migrations]
"gpt-5.5" = "gpt-6-sol"
`, baseURL+"/v1", codexKey)
	for _, workspace := range workspaces {
		real, err := filepath.EvalSymlinks(workspace)
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "[projects.%s]\ntrust_level = \"trusted\"\n", strconv.Quote(real))
	}
	if err := os.MkdirAll(filepath.Join(home, ".codex"), 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(home, ".codex", "config.toml"), out.Bytes(), 0o600)
}
