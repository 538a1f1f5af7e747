package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/history"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/snapshots"
)

// index compares the cache with what it is a cache of, and rebuilds it if asked.
func (d *Examination) index(ctx context.Context, list []*projects.Project) error {
	if d.L.Index == nil {
		if d.request.Rebuild {
			d.Result.Rebuilt = true
			return os.RemoveAll(filepath.Clean(d.L.Home.IndexDir()))
		}
		return nil
	}
	if d.request.Rebuild {
		if err := d.L.Index.Reset(); err != nil {
			return missions.Errorf(missions.KindDamaged, "umbra daemon stop, then delete "+d.L.Home.IndexDir(), "empty the index: %w", err)
		}
		d.Result.Rebuilt = true
		return d.fill(ctx, list)
	}
	var wrong []string
	counting := map[*projects.Project]*gitstore.Differ{}
	for _, p := range list {
		counting[p] = history.Differ(p, ctx, gitstore.DiffLines, nil)
		defer counting[p].Close()
	}
	err := d.L.Index.Each(func(key string, value json.RawMessage) bool {
		if id, ok := strings.CutPrefix(key, "snapshot/"); ok && !d.indexed(ctx, counting, id, value) {
			wrong = append(wrong, id)
		}
		return ctx.Err() == nil
	})
	if err != nil {
		d.Result.Problems = append(d.Result.Problems, missions.Problem{Invariant: "I4", Message: err.Error(), Fix: "umbra doctor --rebuild"})
	}
	if len(wrong) > 0 {
		slices.Sort(wrong)
		d.Result.Problems = append(d.Result.Problems, missions.Problem{Invariant: "I4", Message: fmt.Sprintf("%d entries of the index are wrong", len(wrong)), Fix: "umbra doctor --rebuild"})
	}
	return ctx.Err()
}

// fill puts every snapshot into the index.
func (d *Examination) fill(ctx context.Context, projects []*projects.Project) error {
	for _, p := range projects {
		missions, _ := d.L.ProjectMissions(p)
		for _, m := range missions {
			for s, err := range p.Store.Snapshots(m.Tip.ID, gitstore.HistoryOptions{}) {
				if err != nil {
					return err
				}
				if _, err := d.L.snapshots.FindFacts(ctx, p, s, nil); err != nil {
					return err
				}
			}
		}
	}
	return ctx.Err()
}

// indexed reports whether an entry of the index says what the refs say. One of
// a snapshot that is no longer reachable is of no harm.
func (d *Examination) indexed(ctx context.Context, counting map[*projects.Project]*gitstore.Differ, id string, value json.RawMessage) bool {
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
		want, err := snapshots.ReadFacts(p, ctx, s, lines)
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
