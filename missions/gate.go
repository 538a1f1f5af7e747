package missions

import "context"

// Gate is a Service that refuses what would write while nothing may be written
// (Space.Low), before it begins, and lets everything else through: whoever serves
// one, or uses one itself, asks through it. An agent's events go through, since the
// agent waits for an answer: their snapshots are refused where they are taken. So
// does what makes room, or notes an agent's end, unless nothing can be written at all.
func Gate(s Service, space *Space) Service { return gate{s, space} }

type gate struct {
	Service
	space *Space
}

// growing carries out what takes room.
func growing[Request, Result any](ctx context.Context, g gate, r Request, do func(context.Context, Request) (Result, error)) (Result, error) {
	if err := g.space.Low(); err != nil {
		return *new(Result), err
	}
	return do(ctx, r)
}

// changing carries out what changes the home and takes no room.
func changing[Request, Result any](ctx context.Context, g gate, r Request, do func(context.Context, Request) (Result, error)) (Result, error) {
	if err := g.space.home.ReadOnly(); err != nil {
		return *new(Result), err
	}
	return do(ctx, r)
}

func (g gate) NewMission(ctx context.Context, r NewMissionRequest) (Mission, error) {
	return growing(ctx, g, r, g.Service.NewMission)
}

func (g gate) Fork(ctx context.Context, r ForkRequest) (ForkResult, error) {
	return growing(ctx, g, r, g.Service.Fork)
}

func (g gate) Launch(ctx context.Context, r LaunchRequest) (Launch, error) {
	return growing(ctx, g, r, g.Service.Launch)
}

func (g gate) Rename(ctx context.Context, r RenameRequest) (Mission, error) {
	return growing(ctx, g, r, g.Service.Rename)
}

func (g gate) Unremove(ctx context.Context, r UnremoveRequest) (Mission, error) {
	return growing(ctx, g, r, g.Service.Unremove)
}

func (g gate) MoveProject(ctx context.Context, r MoveProjectRequest) (Project, error) {
	return growing(ctx, g, r, g.Service.MoveProject)
}

func (g gate) Snapshot(ctx context.Context, r SnapshotRequest) (Entry, error) {
	return growing(ctx, g, r, g.Service.Snapshot)
}

func (g gate) Pin(ctx context.Context, r PinRequest) (Pin, error) {
	return growing(ctx, g, r, g.Service.Pin)
}

func (g gate) Unpin(ctx context.Context, r PinRequest) (Pin, error) {
	return growing(ctx, g, r, g.Service.Unpin)
}

func (g gate) Restore(ctx context.Context, r RestoreRequest) (RestoreResult, error) {
	if r.Preview {
		return g.Service.Restore(ctx, r)
	}
	return growing(ctx, g, r, g.Service.Restore)
}

func (g gate) Undo(ctx context.Context, r UndoRequest) (RestoreResult, error) {
	if r.Preview {
		return g.Service.Undo(ctx, r)
	}
	return growing(ctx, g, r, g.Service.Undo)
}

func (g gate) Redo(ctx context.Context, r UndoRequest) (RestoreResult, error) {
	if r.Preview {
		return g.Service.Redo(ctx, r)
	}
	return growing(ctx, g, r, g.Service.Redo)
}

func (g gate) Cancel(ctx context.Context, r CancelRequest) (Canceled, error) {
	return changing(ctx, g, r, g.Service.Cancel)
}

func (g gate) Remove(ctx context.Context, r RemoveRequest) (RemoveResult, error) {
	if r.Preview {
		return g.Service.Remove(ctx, r)
	}
	return changing(ctx, g, r, g.Service.Remove)
}

func (g gate) Stop(ctx context.Context, r StopRequest) ([]Mission, error) {
	return changing(ctx, g, r, g.Service.Stop)
}

func (g gate) Trash(ctx context.Context, r TrashRequest) (TrashResult, error) {
	if !r.Empty {
		return g.Service.Trash(ctx, r)
	}
	return changing(ctx, g, r, g.Service.Trash)
}

func (g gate) Doctor(ctx context.Context, r DoctorRequest) (DoctorResult, error) {
	if !r.Fix && !r.Rebuild {
		return g.Service.Doctor(ctx, r)
	}
	return changing(ctx, g, r, g.Service.Doctor)
}
