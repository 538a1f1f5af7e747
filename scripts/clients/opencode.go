package clients

import (
	"encoding/json"
	"errors"
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
	if err := os.WriteFile(filepath.Join(dir, "opencode.json"), config, 0o600); err != nil {
		return err
	}
	if err := os.WriteFile(openCodeModels(home), []byte("{}\n"), 0o600); err != nil {
		return err
	}
	return OpenCodeHasPlugins(home, true)
}

// openCodeModels is a list of the models that the world has, without any.
func openCodeModels(home string) string {
	return filepath.Join(home, ".config", "opencode", "models.json")
}

// OpenCodeHasPlugins says to OpenCode that what plugins may want is installed, or
// takes that back. Where it is not, each start tries to install it, and one that
// ends before that is done leaves a lock behind, for which the next waits a minute.
func OpenCodeHasPlugins(home string, installed bool) error {
	dir := filepath.Join(home, ".config", "opencode")
	modules := filepath.Join(dir, "node_modules")
	if !installed {
		return os.Remove(modules)
	}
	const wants = `{"dependencies":{"@opencode-ai/plugin":"` + OpenCodeCurrent + `"}}`
	return errors.Join(
		os.MkdirAll(modules, 0o700),
		os.WriteFile(filepath.Join(dir, "package.json"), []byte(wants), 0o600),
		os.WriteFile(filepath.Join(dir, "package-lock.json"), []byte(`{"lockfileVersion":3,"packages":{"":`+wants+`}}`), 0o600),
	)
}
