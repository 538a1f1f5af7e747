package projects

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/missions"
)

// CheckForkRoot refuses a fork.root in which each fork would be refused without --force. A
// text that is no absolute path is left to the settings.
func CheckForkRoot(root, userHome, umbraHome string) error {
	if rest, ok := strings.CutPrefix(root, "~/"); ok {
		root = filepath.Join(userHome, rest)
	}
	if !filepath.IsAbs(root) {
		return nil
	}
	err := capture.CheckPlace(capture.RootCheck{Root: filepath.Join(root, "project-1", "fork"), Home: userHome, UmbraHome: umbraHome})
	if refused := (*capture.RootError)(nil); errors.As(err, &refused) {
		return missions.Errorf(missions.KindConflict, "name another directory", "no fork can be made in %s: %s", root, refused.Reason)
	}
	return err
}
