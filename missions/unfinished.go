package missions

import (
	"context"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/journal"
)

func (l *Local) recoverOperation(ctx context.Context, op *journal.Operation) error { return nil }

var errUnfinished = Errorf(KindFailed, "", "this part of Umbra is being written")

type filesPlan struct{}

func (f *filesPlan) empty() bool               { return true }
func (f *filesPlan) describe(r *RestoreResult) {}

type present struct{ tree gitstore.ID }

func (l *Local) presentSide(ctx context.Context, m *loaded) (present, error) {
	return present{}, errUnfinished
}
func (l *Local) recordedSide(p *project, s *gitstore.Snapshot) (present, error) {
	return present{}, errUnfinished
}
func (l *Local) planPaths(ctx context.Context, m *loaded, p present, t *gitstore.Snapshot, paths []string, leave map[string]string) (*filesPlan, error) {
	return nil, errUnfinished
}
func (l *Local) planInverse(ctx context.Context, m *loaded, p present, op operation) (*filesPlan, error) {
	return nil, errUnfinished
}
func (l *Local) applyFiles(ctx context.Context, m *loaded, op *operation, j *job) ([]displaced, error) {
	return nil, errUnfinished
}
func (l *Local) settle(ctx context.Context, m *loaded, op *operation) error { return nil }
func (l *Local) finishCutOff(ctx context.Context, m *loaded) error          { return nil }

type forkJob struct {
	l         *Local
	at        found
	request   ForkRequest
	id        string
	name      string
	directory string
	operation *journal.Operation
}

func (j *forkJob) begin() error                                 { return nil }
func (j *forkJob) takeAway(ctx context.Context) error           { return nil }
func (j *forkJob) makeWorkspace(ctx context.Context) error      { return nil }
func (j *forkJob) makeSession() error                           { return nil }
func (j *forkJob) publish(ctx context.Context) (*loaded, error) { return nil, errUnfinished }
func (j *forkJob) report(r *ForkResult)                         {}
func (l *Local) Remove(ctx context.Context, r RemoveRequest) (RemoveResult, error) {
	return RemoveResult{}, errUnfinished
}

var _ Service = (*Local)(nil)

func (l *Local) recreateWorkspace(ctx context.Context, m *loaded, dir string) error {
	return errUnfinished
}
