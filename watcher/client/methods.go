package client

import (
	"context"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/watcher/api"
)

var _ missions.Service = (*Client)(nil)

// NewMission implements missions.Service.
func (c *Client) NewMission(ctx context.Context, r missions.NewMissionRequest) (missions.Mission, error) {
	return call[missions.NewMissionRequest, missions.Mission](ctx, c, api.NewMission, r)
}

// Fork implements missions.Service.
func (c *Client) Fork(ctx context.Context, r missions.ForkRequest) (missions.ForkResult, error) {
	return call[missions.ForkRequest, missions.ForkResult](ctx, c, api.Fork, r)
}

// Missions implements missions.Service.
func (c *Client) Missions(ctx context.Context, r missions.MissionsRequest) ([]missions.Mission, error) {
	return call[missions.MissionsRequest, []missions.Mission](ctx, c, api.Missions, r)
}

// Mission implements missions.Service.
func (c *Client) Mission(ctx context.Context, r missions.MissionRequest) (missions.Mission, error) {
	return call[missions.MissionRequest, missions.Mission](ctx, c, api.Mission, r)
}

// Launch implements missions.Service.
func (c *Client) Launch(ctx context.Context, r missions.LaunchRequest) (missions.Launch, error) {
	return call[missions.LaunchRequest, missions.Launch](ctx, c, api.Launch, r)
}

// Keep implements missions.Service.
func (c *Client) Keep(ctx context.Context, r missions.KeepRequest) (missions.Next, error) {
	return call[missions.KeepRequest, missions.Next](ctx, c, api.Keep, r)
}

// Wait implements missions.Service.
func (c *Client) Wait(ctx context.Context, r missions.WaitRequest) ([]missions.Mission, error) {
	return call[missions.WaitRequest, []missions.Mission](ctx, c, api.Wait, r)
}

// Stop implements missions.Service.
func (c *Client) Stop(ctx context.Context, r missions.StopRequest) ([]missions.Mission, error) {
	return call[missions.StopRequest, []missions.Mission](ctx, c, api.Stop, r)
}

// Rename implements missions.Service.
func (c *Client) Rename(ctx context.Context, r missions.RenameRequest) (missions.Mission, error) {
	return call[missions.RenameRequest, missions.Mission](ctx, c, api.Rename, r)
}

// Remove implements missions.Service.
func (c *Client) Remove(ctx context.Context, r missions.RemoveRequest) (missions.RemoveResult, error) {
	return call[missions.RemoveRequest, missions.RemoveResult](ctx, c, api.Remove, r)
}

// Unremove implements missions.Service.
func (c *Client) Unremove(ctx context.Context, r missions.UnremoveRequest) (missions.Mission, error) {
	return call[missions.UnremoveRequest, missions.Mission](ctx, c, api.Unremove, r)
}

// Trash implements missions.Service.
func (c *Client) Trash(ctx context.Context, r missions.TrashRequest) (missions.TrashResult, error) {
	return call[missions.TrashRequest, missions.TrashResult](ctx, c, api.Trash, r)
}

// Projects implements missions.Service.
func (c *Client) Projects(ctx context.Context, r missions.ProjectsRequest) ([]missions.Project, error) {
	return call[missions.ProjectsRequest, []missions.Project](ctx, c, api.Projects, r)
}

// MoveProject implements missions.Service.
func (c *Client) MoveProject(ctx context.Context, r missions.MoveProjectRequest) (missions.Project, error) {
	return call[missions.MoveProjectRequest, missions.Project](ctx, c, api.MoveProject, r)
}

// Snapshot implements missions.Service.
func (c *Client) Snapshot(ctx context.Context, r missions.SnapshotRequest) (missions.Entry, error) {
	if r.ID == "" {
		r.ID = missions.NewRequestID()
	}
	return call[missions.SnapshotRequest, missions.Entry](ctx, c, api.Snapshot, r)
}

// Pin implements missions.Service.
func (c *Client) Pin(ctx context.Context, r missions.PinRequest) (missions.Pin, error) {
	return call[missions.PinRequest, missions.Pin](ctx, c, api.Pin, r)
}

// Unpin implements missions.Service.
func (c *Client) Unpin(ctx context.Context, r missions.PinRequest) (missions.Pin, error) {
	return call[missions.PinRequest, missions.Pin](ctx, c, api.Unpin, r)
}

// Pins implements missions.Service.
func (c *Client) Pins(ctx context.Context, r missions.PinsRequest) ([]missions.Pin, error) {
	return call[missions.PinsRequest, []missions.Pin](ctx, c, api.Pins, r)
}

// Log implements missions.Service.
func (c *Client) Log(ctx context.Context, r missions.LogRequest) ([]missions.Entry, error) {
	return call[missions.LogRequest, []missions.Entry](ctx, c, api.Log, r)
}

// Show implements missions.Service.
func (c *Client) Show(ctx context.Context, r missions.ShowRequest) (missions.Shown, error) {
	return call[missions.ShowRequest, missions.Shown](ctx, c, api.Show, r)
}

// Cat implements missions.Service.
func (c *Client) Cat(ctx context.Context, r missions.CatRequest) ([]byte, error) {
	return call[missions.CatRequest, []byte](ctx, c, api.Cat, r)
}

// Diff implements missions.Service.
func (c *Client) Diff(ctx context.Context, r missions.DiffRequest) (missions.Difference, error) {
	return call[missions.DiffRequest, missions.Difference](ctx, c, api.Diff, r)
}

// Restore implements missions.Service.
func (c *Client) Restore(ctx context.Context, r missions.RestoreRequest) (missions.RestoreResult, error) {
	return call[missions.RestoreRequest, missions.RestoreResult](ctx, c, api.Restore, r)
}

// Undo implements missions.Service.
func (c *Client) Undo(ctx context.Context, r missions.UndoRequest) (missions.RestoreResult, error) {
	return call[missions.UndoRequest, missions.RestoreResult](ctx, c, api.Undo, r)
}

// Redo implements missions.Service.
func (c *Client) Redo(ctx context.Context, r missions.UndoRequest) (missions.RestoreResult, error) {
	return call[missions.UndoRequest, missions.RestoreResult](ctx, c, api.Redo, r)
}

// Cancel implements missions.Service.
func (c *Client) Cancel(ctx context.Context, r missions.CancelRequest) (missions.Canceled, error) {
	return call[missions.CancelRequest, missions.Canceled](ctx, c, api.Cancel, r)
}

// Resolve implements missions.Service.
func (c *Client) Resolve(ctx context.Context, r missions.ResolveRequest) (missions.Resolved, error) {
	return call[missions.ResolveRequest, missions.Resolved](ctx, c, api.Resolve, r)
}

// Hook implements missions.Service.
func (c *Client) Hook(ctx context.Context, r missions.HookRequest) (missions.HookResult, error) {
	return call[missions.HookRequest, missions.HookResult](ctx, c, api.Hook, r)
}

// InstallHooks implements missions.Service.
func (c *Client) InstallHooks(ctx context.Context, r missions.HooksRequest) (missions.HooksResult, error) {
	return call[missions.HooksRequest, missions.HooksResult](ctx, c, api.InstallHooks, r)
}

// UninstallHooks implements missions.Service.
func (c *Client) UninstallHooks(ctx context.Context, r missions.HooksRequest) (missions.HooksResult, error) {
	return call[missions.HooksRequest, missions.HooksResult](ctx, c, api.UninstallHooks, r)
}

// HooksStatus implements missions.Service.
func (c *Client) HooksStatus(ctx context.Context, r missions.HooksRequest) (missions.HooksResult, error) {
	return call[missions.HooksRequest, missions.HooksResult](ctx, c, api.HooksStatus, r)
}

// HooksList implements missions.Service.
func (c *Client) HooksList(ctx context.Context, r missions.HooksListRequest) ([]missions.HooksResult, error) {
	return call[missions.HooksListRequest, []missions.HooksResult](ctx, c, api.HooksList, r)
}

// Status implements missions.Service.
func (c *Client) Status(ctx context.Context, r missions.StatusRequest) (missions.Status, error) {
	return call[missions.StatusRequest, missions.Status](ctx, c, api.Status, r)
}

// Doctor implements missions.Service.
func (c *Client) Doctor(ctx context.Context, r missions.DoctorRequest) (missions.DoctorResult, error) {
	return call[missions.DoctorRequest, missions.DoctorResult](ctx, c, api.Doctor, r)
}

// Usage implements missions.Service.
func (c *Client) Usage(ctx context.Context, r missions.UsageRequest) (missions.Usage, error) {
	return call[missions.UsageRequest, missions.Usage](ctx, c, api.Usage, r)
}
