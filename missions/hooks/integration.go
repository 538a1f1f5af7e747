package hooks

import (
	"context"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/events"
)

// An integration is what umbra hooks installs for an editor or for Git. It leaves files
// alone that are not Umbra's, and says so.
type integration interface {
	install() (changed bool, err error)
	uninstall() (changed bool, err error)
	state(r *missions.HooksResult) error
}

// findIntegration finds the integration that a request names, nil if it names none, such
// as an agent.
func (in *Installer) findIntegration(ctx context.Context, r missions.HooksRequest) (integration, error) {
	if r.Name != events.HintGit {
		return in.findEditorIntegration(r)
	}
	f, err := in.findGitIntegration(ctx, r)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// runIntegration installs or uninstalls an integration, and says in which state it is then.
func runIntegration(f integration, r missions.HooksRequest, do func(integration) (bool, error), err error) (missions.HooksResult, error) {
	result := missions.HooksResult{Name: r.Name}
	if err == nil && do != nil {
		result.Changed, err = do(f)
	}
	if err != nil {
		return missions.HooksResult{}, err
	}
	return result, f.state(&result)
}
