package missions

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
)

// index compares the cache with what it is a cache of, and rebuilds it if asked.
func (d *examination) index(ctx context.Context, projects []*project) error {
	if d.l.index == nil {
		if d.request.Rebuild {
			d.result.Rebuilt = true
			return os.RemoveAll(filepath.Clean(d.l.home.IndexDir()))
		}
		return nil
	}
	if d.request.Rebuild {
		if err := d.l.index.Reset(); err != nil {
			return Errorf(KindDamaged, "umbra daemon stop, then delete "+d.l.home.IndexDir(), "empty the index: %w", err)
		}
		d.result.Rebuilt = true
		return d.fill(ctx, projects)
	}
	var wrong []string
	counting := map[*project]*gitstore.Differ{}
	for _, p := range projects {
		counting[p] = p.differ(ctx, gitstore.DiffLines, nil)
		defer counting[p].Close()
	}
	err := d.l.index.Each(func(key string, value json.RawMessage) bool {
		if id, ok := strings.CutPrefix(key, "snapshot/"); ok && !d.indexed(ctx, counting, id, value) {
			wrong = append(wrong, id)
		}
		return ctx.Err() == nil
	})
	if err != nil {
		d.result.Problems = append(d.result.Problems, Problem{Invariant: "I4", Message: err.Error(), Fix: "umbra doctor --rebuild"})
	}
	if len(wrong) > 0 {
		slices.Sort(wrong)
		d.result.Problems = append(d.result.Problems, Problem{Invariant: "I4", Message: fmt.Sprintf("%d entries of the index are wrong", len(wrong)), Fix: "umbra doctor --rebuild"})
	}
	return ctx.Err()
}

// fill puts every snapshot into the index.
func (d *examination) fill(ctx context.Context, projects []*project) error {
	for _, p := range projects {
		missions, _ := d.l.missionsOf(p)
		for _, m := range missions {
			for s, err := range p.store.Snapshots(m.tip.ID, gitstore.HistoryOptions{}) {
				if err != nil {
					return err
				}
				if _, err := d.l.facts(ctx, p, s, nil); err != nil {
					return err
				}
			}
		}
	}
	return ctx.Err()
}

// indexed reports whether an entry of the index says what the refs say. One of
// a snapshot that is no longer reachable is of no harm.
func (d *examination) indexed(ctx context.Context, counting map[*project]*gitstore.Differ, id string, value json.RawMessage) bool {
	snapshot, err := gitstore.ParseID(id)
	if err != nil {
		return false
	}
	var have facts
	if json.Unmarshal(value, &have) != nil {
		return false
	}
	for p, lines := range counting {
		s, err := p.store.Snapshot(snapshot)
		if err != nil {
			continue
		}
		if !have.Lined {
			lines = nil
		}
		want, err := p.facts(ctx, s, lines)
		if err != nil {
			return false
		}
		if want.unrecorded || !s.Lost.IsZero() {
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
