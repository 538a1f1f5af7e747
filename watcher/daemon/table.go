package daemon

import (
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/watcher/api"
)

// table is every method of the Service as it is served.
func table() map[string]method {
	return map[string]method{
		api.NewMission:     growing(missions.Service.NewMission),
		api.Fork:           growing(missions.Service.Fork),
		api.Missions:       plain(missions.Service.Missions),
		api.Mission:        plain(missions.Service.Mission),
		api.Launch:         growing(missions.Service.Launch),
		api.Keep:           plain(missions.Service.Keep),
		api.Wait:           plain(missions.Service.Wait),
		api.Stop:           plain(missions.Service.Stop),
		api.Rename:         growing(missions.Service.Rename),
		api.Remove:         plain(missions.Service.Remove),
		api.Unremove:       growing(missions.Service.Unremove),
		api.Trash:          plain(missions.Service.Trash),
		api.Projects:       plain(missions.Service.Projects),
		api.MoveProject:    growing(missions.Service.MoveProject),
		api.Snapshot:       growing(missions.Service.Snapshot),
		api.Pin:            growing(missions.Service.Pin),
		api.Unpin:          growing(missions.Service.Unpin),
		api.Pins:           plain(missions.Service.Pins),
		api.Log:            plain(missions.Service.Log),
		api.Show:           plain(missions.Service.Show),
		api.Cat:            plain(missions.Service.Cat),
		api.Diff:           plain(missions.Service.Diff),
		api.Restore:        growing(missions.Service.Restore),
		api.Undo:           growing(missions.Service.Undo),
		api.Redo:           growing(missions.Service.Redo),
		api.Cancel:         plain(missions.Service.Cancel),
		api.Resolve:        plain(missions.Service.Resolve),
		api.Hook:           growing(missions.Service.Hook),
		api.InstallHooks:   plain(missions.Service.InstallHooks),
		api.UninstallHooks: plain(missions.Service.UninstallHooks),
		api.HooksStatus:    plain(missions.Service.HooksStatus),
		api.HooksList:      plain(missions.Service.HooksList),
		api.Status:         plain(missions.Service.Status),
		api.Doctor:         plain(missions.Service.Doctor),
		api.Usage:          plain(missions.Service.Usage),
	}
}
