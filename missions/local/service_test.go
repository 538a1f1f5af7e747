package local_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/local"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/servicetest"
	"github.com/umbra-vcs/umbra/missions/settings"
)

func openLocal(t testing.TB, home home.Home) missions.Service {
	t.Helper()
	local, err := local.New(local.Options{Home: home, Config: settings.Default(), Adapters: projects.Agents()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := local.Close(); err != nil {
			t.Error(err)
		}
	})
	return local
}

// TestContract holds the Service in process to its contract.
func TestContract(t *testing.T) {
	t.Parallel()
	servicetest.Run(t, openLocal)
}

// faulty is a Service with one fault each.
type faulty struct {
	missions.Service
	fault string
}

func (f faulty) Cat(ctx context.Context, r missions.CatRequest) ([]byte, error) {
	p, err := f.Service.Cat(ctx, r)
	if f.fault == "bytes as text" {
		p = []byte(strings.ToValidUTF8(string(p), "?"))
	}
	return p, err
}

func (f faulty) Rename(ctx context.Context, r missions.RenameRequest) (missions.Mission, error) {
	m, err := f.Service.Rename(ctx, r)
	if f.fault == "errors without a kind" && err != nil {
		err = errors.New(err.Error())
	}
	return m, err
}

func (f faulty) Restore(ctx context.Context, r missions.RestoreRequest) (missions.RestoreResult, error) {
	result, err := f.Service.Restore(ctx, r)
	var e *missions.Error
	if f.fault == "errors without details" && errors.As(err, &e) {
		err = &missions.Error{Kind: e.Kind, Message: e.Message, Hint: e.Hint}
	}
	return result, err
}

func (f faulty) NewMission(ctx context.Context, r missions.NewMissionRequest) (missions.Mission, error) {
	if f.fault == "no progress" {
		ctx = missions.WithNotify(ctx, func(missions.Notice) {})
	}
	return f.Service.NewMission(ctx, r)
}

func (f faulty) Wait(ctx context.Context, r missions.WaitRequest) ([]missions.Mission, error) {
	list, err := f.Service.Wait(ctx, r)
	if f.fault == "cancellation unnamed" && ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	return list, err
}

// TestContractFindsFaults shows that the suite is no rubber stamp.
func TestContractFindsFaults(t *testing.T) {
	t.Parallel()
	faults := map[string]string{
		"bytes as text":          "snapshots are taken and read",
		"errors without a kind":  "requests that make no sense are told apart",
		"errors without details": "a refusal carries its plan",
		"no progress":            "progress is told while a call runs, and not after",
		"cancellation unnamed":   "a call ends with its context",
	}
	for fault, name := range faults {
		t.Run(fault, func(t *testing.T) {
			for _, c := range servicetest.Checks() {
				if c.Name != name {
					continue
				}
				open := func(t testing.TB, home home.Home) missions.Service { return faulty{openLocal(t, home), fault} }
				if len(c.Try(t, open)) == 0 {
					t.Errorf("%q did not find it", name)
				}
			}
		})
	}
}
