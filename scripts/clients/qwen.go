package clients

import (
	"errors"
	"os"
	"path/filepath"
)

// prepareQwen keeps Qwen Code from asking its model for anything beside its turns, and from
// looking for a newer version, and from writing its settings again in its own form.
func prepareQwen(home string) error {
	const settings = `{
  "$version": 4,
  "memory": {"enableManagedAutoMemory": false},
  "general": {"enableAutoUpdate": false},
  "ui": {"enableFollowupSuggestions": false},
  "tools": {"shell": {"enableInteractiveShell": true}}
}
`
	dir := filepath.Join(home, ".qwen")
	return errors.Join(
		os.MkdirAll(dir, 0o700),
		os.WriteFile(filepath.Join(dir, "settings.json"), []byte(settings), 0o600),
	)
}
