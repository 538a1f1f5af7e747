package missions

import (
	"context"

	"github.com/umbra-vcs/umbra/gitstore/journal"
)

func (l *Local) recoverRestore(ctx context.Context, op *journal.Operation) error { return nil }

var errUnfinished = Errorf(KindFailed, "", "this part of Umbra is being written")

func (l *Local) applyFiles(ctx context.Context, m *loaded, op *operation, j *job) ([]displaced, error) {
	return nil, errUnfinished
}
func (l *Local) settle(ctx context.Context, m *loaded, op *operation) error { return nil }
func (l *Local) finishCutOff(ctx context.Context, m *loaded) error          { return nil }

var _ Service = (*Local)(nil)
