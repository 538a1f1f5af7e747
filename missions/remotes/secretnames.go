package remotes

import (
	"path"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore/secretnames"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// secretNames are the patterns of files that are secrets: the user's, and those of each project
// file. A file is one by any of them. An agent may write a project file: a "!" there takes
// nothing out of the others.
type secretNames []secretnames.Patterns

// secretNames are those of a caller who sends missions. A project file that can't be read may
// name what is about to leave: it is refused.
func (c *Carrier) secretNames(caller missions.Caller, list []*projects.Mission) (secretNames, error) {
	config, err := c.CallerConfig(caller)
	if err != nil {
		return nil, err
	}
	names := secretNames{secretnames.Compile(config.Capture.SecretPatterns())}
	seen := map[string]bool{"": true} // what was fetched has no workspace
	for _, m := range list {
		workspace := m.Binding.Workspace
		if seen[workspace] {
			continue
		}
		seen[workspace] = true
		limits, err := config.Capture.NarrowedBy(workspace)
		if err != nil {
			return nil, missions.Errorf(missions.KindUsage, "mend the file; umbra push REMOTE MISSION sends other missions meanwhile",
				"nothing of %s leaves while the secrets of its project are not known: %w", m.Name, err)
		}
		if len(limits.NewSecrets) > 0 {
			names = append(names, secretnames.Compile(limits.NewSecrets))
		}
	}
	return names, nil
}

// match reports whether a file has the name of a secret. An archive may have that of a key.
func (n secretNames) match(file string, isArchive bool) bool {
	dir, name := path.Split(file)
	dir = strings.TrimSuffix(dir, "/")
	for _, p := range n {
		if p.Match(dir, name) && !(isArchive && p.MatchesKey(dir, name)) {
			return true
		}
	}
	return false
}
