package hooks

import (
	"context"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/events"
)

// A fitting is what umbra hooks installs that is not an agent's: for an editor,
// or for Git. What it finds that is not Umbra's it leaves alone, and says so.
type integration interface {
	install() (changed bool, err error)
	uninstall() (changed bool, err error)
	state(r *missions.HooksResult) error
}

// findIntegration finds what a request names; nil is an agent's, or nothing.
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

// runIntegration does something with a fitting, and says how it is then.
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
