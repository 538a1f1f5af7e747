package clients

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// prepareOpenCode tells OpenCode of the model server; tools run without asking.
func prepareOpenCode(home, baseURL string) error {
	config, err := json.Marshal(map[string]any{
		"autoupdate": false, "share": "disabled", "model": "standin/model", "small_model": "standin/model",
		"permission": map[string]any{"edit": "allow", "bash": "allow"},
		"provider": map[string]any{"standin": map[string]any{
			"npm": "@ai-sdk/openai-compatible", "name": "stand-in", // comes with OpenCode
			"options": map[string]any{"baseURL": baseURL + "/v1", "apiKey": "dummy"},
			"models": map[string]any{"model": map[string]any{
				"name": "model", "tool_call": true, "limit": map[string]any{"context": 100000, "output": 8000},
			}},
		}},
	})
	if err != nil {
		return err
	}
	dir := filepath.Join(home, ".config", "opencode")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "opencode.json"), config, 0o600)
}
