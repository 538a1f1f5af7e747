package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/umbra-vcs/umbra/gitstore/secretnames"
	"github.com/umbra-vcs/umbra/gitstore/usergit"
)

// Limits are what captures in a workspace are limited by: the user's
// configuration, and what the workspace's own project file makes of it. Since an
// agent may write that file, it takes nothing out of snapshots that they hold.
type Limits struct {
	Capture              // the user's; the budgets are those in force
	NewFileSize int64    // of files that no snapshot holds yet
	NewSecrets  []string // besides, of such files
}

// maxProjectFile is more than a project file can say.
const maxProjectFile = 1 << 20

// NarrowedBy returns the limits with the project file of a workspace, which may
// only make them smaller. After an error they are the user's alone.
func (c Capture) NarrowedBy(workspace string) (Limits, error) {
	out := Limits{Capture: c, NewFileSize: c.MaxFileSize}
	file := filepath.Join(workspace, ProjectFile)
	p, err := usergit.ReadFile(file, maxProjectFile)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return out, nil
	}
	if err != nil {
		return out, fmt.Errorf("read %s: %w", file, err)
	}
	var own Config
	if _, err = readConfig(p, projectKeys(), &own); err == nil {
		err = secretnames.Check(own.Capture.Secrets)
	}
	if err != nil {
		return out, wrong("a project file may set capture.max_file_size, max_files, max_bytes and secrets", "%s: %w", file, err)
	}
	out.NewFileSize = smaller(c.MaxFileSize, own.Capture.MaxFileSize)
	out.MaxFiles = smaller(c.MaxFiles, own.Capture.MaxFiles)
	out.MaxBytes = smaller(c.MaxBytes, own.Capture.MaxBytes)
	out.NewSecrets = own.Capture.Secrets
	return out, nil
}

// smaller is the smaller limit, where zero sets none.
func smaller[N int | int64](a, b N) N {
	if b <= 0 || (a > 0 && a < b) {
		return a
	}
	return b
}

// Narrowest are the limits of files that no snapshot holds yet.
func (n Limits) Narrowest() Capture {
	c := n.Capture
	c.MaxFileSize, c.Secrets = n.NewFileSize, slices.Concat(c.Secrets, n.NewSecrets)
	return c
}
