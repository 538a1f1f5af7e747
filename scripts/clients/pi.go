package clients

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
)

// preparePi tells pi of the model server. It asks nobody before a tool runs.
func preparePi(home, baseURL string) error {
	models, err := json.Marshal(map[string]any{"providers": map[string]any{"standin": map[string]any{
		"baseUrl": baseURL + "/v1", "apiKey": "dummy", "api": "openai-completions",
		"models": []any{map[string]any{"id": "model", "contextWindow": 128000}},
	}}})
	if err != nil {
		return err
	}
	dir := filepath.Join(home, ".pi", "agent")
	return errors.Join(
		os.MkdirAll(dir, 0o700),
		os.WriteFile(filepath.Join(dir, "models.json"), models, 0o600),
		os.WriteFile(filepath.Join(dir, "settings.json"), []byte(`{"defaultProvider":"standin","defaultModel":"model"}`+"\n"), 0o600),
	)
}
