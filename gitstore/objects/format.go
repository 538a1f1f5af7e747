package objects

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

// UnsupportedRepositoryError says why a repository's objects cannot be read.
type UnsupportedRepositoryError struct{ Dir, Reason string }

func (e *UnsupportedRepositoryError) Error() string {
	return fmt.Sprintf("repository %s: %s", e.Dir, e.Reason)
}

// checkObjectFormat refuses a repository whose objects are not named by SHA-1.
// It reads the one line that matters, since go-git's parser refuses some
// configurations that Git takes.
func checkObjectFormat(commonDir string) error {
	data, err := usergit.ReadFile(filepath.Join(commonDir, "config"), usergit.MaxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	inExtensions := false
	for line := range strings.Lines(string(data)) {
		line = strings.ToLower(strings.TrimSpace(line))
		if rest, ok := strings.CutPrefix(line, "["); ok {
			section, after, _ := strings.Cut(rest, "]")
			inExtensions = strings.TrimSpace(section) == "extensions"
			line = strings.TrimSpace(after)
		}
		key, value, _ := strings.Cut(line, "=")
		format := strings.Trim(strings.TrimSpace(value), `"`)
		if inExtensions && strings.TrimSpace(key) == "objectformat" && format != "sha1" {
			return &UnsupportedRepositoryError{Dir: commonDir, Reason: "its objects are named by " + format}
		}
	}
	return nil
}
