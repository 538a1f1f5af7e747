package clients

import (
	"os"
	"path/filepath"
)

// prepareGemini writes settings.json: the key as the way to sign in, every folder
// trusted, and nothing sent elsewhere.
func prepareGemini(home string) error {
	const settings = `{
  "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
  "telemetry": {"enabled": false},
  "privacy": {"usageStatisticsEnabled": false},
  "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false}
}
`
	dir := filepath.Join(home, ".gemini")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "settings.json"), []byte(settings), 0o600)
}
