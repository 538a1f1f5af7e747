package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/diff"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/comparisons"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// checkIndex compares the cache with what it is a cache of, and rebuilds it if asked.
func (x *Examination) checkIndex(ctx context.Context, list []*projects.Project) error {
	if x.Examiner.Index == nil {
		if x.request.Rebuild {
			x.Result.Rebuilt = true
			return os.RemoveAll(filepath.Clean(x.Examiner.Home.IndexDir()))
		}
		return nil
	}
	if x.request.Rebuild {
		if err := x.Examiner.Index.Reset(); err != nil {
			return missions.Errorf(missions.KindDamaged, "umbra daemon stop, then delete "+x.Examiner.Home.IndexDir(), "empty the index: %w", err)
		}
		x.Result.Rebuilt = true
		return x.fillIndex(ctx, list)
	}
	var wrong []string
	counting := map[*projects.Project]*diff.Differ{}
	for _, p := range list {
		counting[p] = comparisons.Differ(ctx, p, diff.Lines, nil)
		defer counting[p].Close()
	}
	err := x.Examiner.Index.Each(func(key string, value json.RawMessage) bool {
		if id, ok := strings.CutPrefix(key, "snapshot/"); ok && !x.isEntryRight(ctx, counting, id, value) {
			wrong = append(wrong, id)
		}
		return ctx.Err() == nil
	})
	if err != nil {
		x.Result.Problems = append(x.Result.Problems, missions.Problem{Invariant: "I4", Message: err.Error(), Fix: "umbra doctor --rebuild"})
	}
	if len(wrong) > 0 {
		slices.Sort(wrong)
		x.Result.Problems = append(x.Result.Problems, missions.Problem{Invariant: "I4", Message: fmt.Sprintf("%d entries of the index are wrong", len(wrong)), Fix: "umbra doctor --rebuild"})
	}
	return ctx.Err()
}

// fillIndex puts every snapshot into the index.
func (x *Examination) fillIndex(ctx context.Context, projects []*projects.Project) error {
	for _, p := range projects {
		missions, _ := x.Examiner.ProjectMissions(p)
		for _, m := range missions {
			for s, err := range p.Store.Snapshots(m.Tip.ID, shadow.HistoryOptions{}) {
				if err != nil {
					return err
				}
				if _, err := x.Examiner.rooms.Snapshots.FindFacts(ctx, p, s, nil); err != nil {
					return err
				}
			}
		}
	}
	return ctx.Err()
}

// isEntryRight reports whether an entry of the index says what the refs say. One of
// a snapshot that is no longer reachable is of no harm.
func (x *Examination) isEntryRight(ctx context.Context, counting map[*projects.Project]*diff.Differ, id string, value json.RawMessage) bool {
	snapshot, err := gitstore.ParseID(id)
	if err != nil {
		return false
	}
	var have snapshots.EntryFacts
	if json.Unmarshal(value, &have) != nil {
		return false
	}
	for p, lines := range counting {
		s, err := p.Store.Snapshot(snapshot)
		if err != nil {
			continue
		}
		if !have.HasLines {
			lines = nil
		}
		want, err := snapshots.ReadFacts(ctx, p, s, lines)
		if err != nil {
			return false
		}
		if want.RecordLost || !s.Lost.IsZero() {
			continue // the index knows more than is left
		}
		a, err := json.Marshal(want)
		if err != nil {
			return false
		}
		b, err := json.Marshal(have)
		return err == nil && string(a) == string(b)
	}
	return true
}

// FillIndex puts new snapshots into the index, so that the first log after a long turn is
// as fast as any. If it is cut off, the next call continues.
func (e *Examiner) FillIndex(ctx context.Context) error {
	if e.Index == nil {
		return nil
	}
	all, _ := e.AllProjects()
	var errs []error
	for _, p := range all {
		list, _ := e.ProjectMissions(p)
		for _, m := range list {
			errs = append(errs, e.indexMission(ctx, m))
		}
	}
	return errors.Join(errs...)
}

// indexMission goes from the oldest snapshot to the newest, so that the newest that
// is known says where to go on.
func (e *Examiner) indexMission(ctx context.Context, m *projects.Mission) error {
	var unknown []*gitstore.Snapshot
	for s, err := range m.Project.SnapshotCache.WalkHistory(m.Project.Store, m.Tip.ID) {
		if err != nil {
			return err
		}
		if _, ok := e.rooms.Snapshots.IndexedFacts(s.ID, true); ok {
			break
		}
		unknown = append(unknown, s)
	}
	lines := comparisons.Differ(ctx, m.Project, diff.Lines, nil)
	defer lines.Close()
	for _, s := range slices.Backward(unknown) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := e.rooms.Snapshots.FindFacts(ctx, m.Project, s, lines); err != nil {
			return err
		}
	}
	return nil
}
