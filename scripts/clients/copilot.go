package clients

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
)

// unpackedAt is the variable by which Copilot finds what it unpacks at its first start, which
// is here when it is installed: 235 MB that all homes share.
func unpackedAt(tree string) string {
	return "COPILOT_PKG_CACHE_HOME=" + filepath.Join(tree, "unpacked")
}

// prepareCopilot has it trust the workspaces. Of its model it is told by the environment.
func prepareCopilot(home string, workspaces []string) error {
	trusted := []string{}
	for _, workspace := range workspaces {
		real, err := filepath.EvalSymlinks(workspace)
		if err != nil {
			return err
		}
		trusted = append(trusted, real)
	}
	config, err := json.Marshal(map[string]any{"trustedFolders": trusted, "firstLaunchAt": "2026-11-28T10:00:00.000Z", "appTipShown": true})
	if err != nil {
		return err
	}
	dir := filepath.Join(home, ".copilot")
	return errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "config.json"), config, 0o600))
}
