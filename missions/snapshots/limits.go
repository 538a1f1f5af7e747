package snapshots

import (
	"path/filepath"

	"github.com/umbra-vcs/umbra/gitstore/capture"
	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/gitstore/secretnames"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/settings"
)

// missionLimits is NarrowedBy for a mission that has begun. From then on a project file
// can't turn capture off (H25), and its budget does not count. A project file that
// can't be read leaves the limits as they were; status shows why.
func missionLimits(c settings.Capture, workspace string, before *settings.Limits) settings.Limits {
	narrow, err := c.NarrowedBy(workspace)
	if err != nil && before != nil {
		return *before
	}
	narrow.MaxFiles, narrow.MaxBytes = c.MaxFiles, c.MaxBytes
	return narrow
}

// captureSettings are the limits as a capture takes them.
func captureSettings(n settings.Limits) capture.Settings {
	return capture.Settings{
		SizeCap: n.MaxFileSize, FileBudget: n.MaxFiles, ByteBudget: n.MaxBytes, Secrets: n.SecretPatterns(),
		NewSizeCap: n.NewFileSize, NewSecrets: n.NewSecrets,
	}
}

// isLeftOutByProject reports whether a skipped path would have been captured without
// the project file.
func isLeftOutByProject(c settings.Capture, s documents.Skipped) bool {
	switch s.Reason {
	case documents.ReasonSize:
		return s.Size <= c.MaxFileSize
	case documents.ReasonSecret:
		return !secretnames.IsSecret(c.SecretPatterns(), s.Path)
	}
	return false
}

// maxLeftOutPaths is how many paths are named of what is left out.
const maxLeftOutPaths = 5

// LeftOutFiles lists what a mission's newest snapshot lacks because of the project
// file, nil if nothing. What can't be read is for doctor to say.
func (tk *Taker) LeftOutFiles(m *projects.Mission) *missions.LeftOutFiles {
	out := &missions.LeftOutFiles{Mission: m.Name, File: filepath.Join(m.Binding.Workspace, settings.ProjectFile), Paths: []string{}}
	for _, s := range recordedFiles(m) {
		if !isLeftOutByProject(tk.CurrentConfig().Capture, s) {
			continue
		}
		if out.Files++; out.Files <= maxLeftOutPaths {
			out.Paths = append(out.Paths, s.Path)
		}
	}
	if out.Files == 0 {
		return nil
	}
	return out
}
