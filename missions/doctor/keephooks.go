package doctor

import (
	"context"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/hooks"
)

// checkHooks checks whether hooks are where they were installed.
func (d *Examination) checkHooks(ctx context.Context) {
	gone, err := d.L.hooks.ListGoneHooks()
	if err != nil {
		d.found(missions.Problem{Message: err.Error()}, func() error {
			return d.L.hooks.ChangeInstalledHooks(ctx, func(list []hooks.InstalledHooks) []hooks.InstalledHooks { return list })
		})
	}
	for _, g := range gone {
		var mend func() error
		if g.CanPutBack() {
			mend = func() error { return d.L.hooks.PutHooksBack(ctx, g) }
		}
		d.found(g.Problem(), mend)
	}
}
