package prunes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/lock"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/gitstore/upkeep"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/home"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/retention"
)

// patience is how long a pruning by itself waits for others, and one that somebody has asked for
// until it says what it waits for; then it waits for as long as longPatience.
const (
	patience     = time.Minute
	longPatience = 10 * time.Minute
	silence      = 2 * time.Second
)

// patience is how long others may be waited for now.
func (c choice) patience() time.Duration {
	switch {
	case c.left != nil:
		return *c.left
	case c.still != nil: // nobody waits for it
		return patience
	}
	return longPatience
}

// hold runs fn with the project's lock. Exclusive, no other process captures, restores or
// prunes meanwhile.
func (c choice) hold(ctx context.Context, d *projects.Desk, mode lock.Mode, fn func() error) error {
	return c.holdFile(ctx, d, lock.ProjectFile(d.Home.Dir, c.project.ID), mode, fn)
}

// alone runs fn while nobody else prunes the project, and housekeeping of it gives way.
func (c choice) alone(ctx context.Context, d *projects.Desk, fn func() error) error {
	return c.holdFile(ctx, d, lock.PruningFile(d.Home.Dir, c.project.ID), lock.Exclusive, fn)
}

func (c choice) holdFile(ctx context.Context, d *projects.Desk, path string, mode lock.Mode, fn func() error) error {
	wait := func(patience time.Duration) (*lock.Lock, error) {
		patient, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		return lock.Wait(patient, path, mode, d.Self)
	}
	var held *lock.Lock
	var err error
	if c.still != nil { // nobody waits for it
		held, err = wait(c.patience())
	} else if held, err = wait(min(silence, c.patience())); errors.Is(err, lock.ErrHeld) && ctx.Err() == nil {
		who := "another process"
		if by := (*lock.HeldError)(nil); errors.As(err, &by) && by.Holder != nil {
			who = by.Holder.String()
		}
		c.sayOnce(ctx, "waiting until "+who+" is done with "+c.project.Name)
		held, err = wait(c.patience())
	}
	if err != nil {
		return home.LockError(err)
	}
	return errors.Join(fn(), held.Release())
}

// work is a choice that is being carried out, with what was read for it: while it is marked
// everybody waits, so that little is to be left to be read then.
type work struct {
	choice
	snapshots map[gitstore.ID]readSnapshot
	records   *knownRecords
	makers    *makers
}

func newWork(c choice) work {
	return work{choice: c, snapshots: map[gitstore.ID]readSnapshot{}, records: newKnownRecords(), makers: newMakers(c.project)}
}

// plan gathers what there is, and decides.
func (pr *Pruner) plan(ctx context.Context, w work) (material, retention.Plan, error) {
	m, err := pr.gather(ctx, w.choice, w.snapshots)
	if err != nil {
		return m, retention.Plan{}, err
	}
	if err := w.makers.read(ctx, m.tips()); err != nil {
		return m, retention.Plan{}, err
	}
	plan, err := retention.Decide(m.Material, w.at)
	return m, plan, err
}

// cutting says what a plan does to the repository.
// Others are the paths that others than the mission changed in what goes, by where it is cut.
func (w work) cutting(ctx context.Context, m material, plan retention.Plan) (c shadow.Cutting, others map[gitstore.ID][]string, err error) {
	kept := func(snapshot gitstore.ID) bool { return plan.Kept[snapshot] != nil }
	chains, err := m.keepRecords(ctx, kept, w.snapshots, w.records)
	if err != nil {
		return c, nil, err
	}
	others, err = w.makers.changedByOthers(ctx, plan.Cuts)
	if err != nil {
		return c, nil, err
	}
	cuts := maps.Clone(plan.Cuts)
	maps.Copy(cuts, chains.cuts())
	return shadow.Cutting{
		Before: cuts, Kept: chains.unreached(m.refs, cuts),
		Stays: func(commit gitstore.ID) bool { return kept(commit) || chains.kept[commit] },
	}, others, nil
}

// mark marks where histories are cut. What was decided on is decided again, now that nothing
// moves: who began to rely on a snapshot since keeps it, and nothing goes that was not said
// to go.
func (pr *Pruner) mark(ctx context.Context, w work, before material, said retention.Plan) error {
	// What is read now need not be read while everybody waits, and agents have worked on meanwhile.
	const rounds, few = 5, 20
	for range rounds {
		known := len(w.snapshots)
		if _, _, err := pr.decideAgain(ctx, w, before, said); err != nil {
			return err
		}
		if len(w.snapshots)-known < few {
			break
		}
	}
	return w.hold(ctx, pr.Desk, lock.Exclusive, func() error {
		if err := pr.checkQuiet(w.choice); err != nil {
			return err
		}
		cutting, others, err := pr.decideAgain(ctx, w, before, said)
		if err != nil {
			return err
		}
		cutting.At = pr.Now()
		if err := upkeep.NoteOthers(ctx, w.project.Store, others); err != nil { // before nobody can tell any more
			return err
		}
		return shadow.Cut(ctx, w.project.Store, cutting)
	})
}

// decideAgain decides on what there is now, and keeps what was said to stay.
func (pr *Pruner) decideAgain(ctx context.Context, w work, before material, said retention.Plan) (shadow.Cutting, map[gitstore.ID][]string, error) {
	m, err := pr.gather(ctx, w.choice, w.snapshots)
	if err != nil {
		return shadow.Cutting{}, nil, err
	}
	if !maps.Equal(m.boundaries, before.boundaries) {
		return shadow.Cutting{}, nil, missions.Errorf(missions.KindBusy, "umbra prune again", "umbra doctor has cut histories of %s meanwhile", w.project.Name)
	}
	for id := range said.Kept {
		m.Claims = append(m.Claims, retention.Claim{ID: id, Reason: retention.InUse})
	}
	if err := w.makers.read(ctx, m.tips()); err != nil {
		return shadow.Cutting{}, nil, err
	}
	plan, err := retention.Decide(m.Material, w.at)
	if err != nil {
		return shadow.Cutting{}, nil, err
	}
	return w.cutting(ctx, m, plan)
}

// unreached are the records that stay and that no ref leads to.
func (c *chains) unreached(refs []gitstore.Ref, cuts map[gitstore.ID]gitstore.ID) map[gitstore.ID]bool {
	reached := map[gitstore.ID]bool{}
	for _, ref := range refs {
		switch ref.Name.Kind() {
		case gitstore.RefRecord, gitstore.RefTrashRecord, gitstore.RefFetchedRecord, gitstore.RefKeep:
		default:
			continue
		}
		if shadow.IsOwnKeep(ref) {
			continue
		}
		for id := ref.ID; !id.IsZero() && !reached[id]; {
			reached[id] = true
			if before, cut := cuts[id]; cut {
				id = before
			} else {
				id = c.before(id)
			}
		}
	}
	alone := map[gitstore.ID]bool{}
	for id := range c.kept {
		if !reached[id] {
			alone[id] = true
		}
	}
	return alone
}

// checkQuiet is asked once nobody else can begin anything.
func (pr *Pruner) checkQuiet(c choice) error {
	if c.still != nil {
		return c.still()
	}
	return pr.checkNothingInFlight()
}

// checkNothingInFlight refuses while an operation is not over: what it has written may be
// published later.
func (pr *Pruner) checkNothingInFlight() error {
	list, damaged, err := pr.Journal.List()
	if err != nil {
		return err
	}
	if len(damaged) > 0 {
		return missions.Errorf(missions.KindDamaged, "umbra doctor", "an operation can't be read: %w", damaged[0])
	}
	for _, op := range list {
		if phase, _ := op.Phase(); phase != journal.Done {
			return missions.Errorf(missions.KindBusy, "umbra status shows it; umbra prune again when it is over", "a %s is not over, and may need what is to go", op.Kind())
		}
	}
	return nil
}

// unpublished are the first snapshots of headless sessions, and their records, to which no
// ref leads yet.
func (pr *Pruner) unpublished(p *projects.Project) (roots []gitstore.ID, err error) {
	ids, err := pr.Journal.LiveMissions()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		raw, err := pr.Journal.Live(id)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var state projects.Live
		if err == nil {
			err = json.Unmarshal(raw, &state)
		}
		if err != nil {
			return nil, fmt.Errorf("the state of mission %s: %w", id, err)
		}
		if state.ProvisionalSnapshot == "" {
			continue
		}
		first, err := gitstore.ParseID(state.ProvisionalSnapshot)
		if err != nil {
			return nil, fmt.Errorf("the state of mission %s: %w", id, err)
		}
		snap, err := p.Store.Snapshot(first)
		if errors.Is(err, gitstore.ErrMissing) {
			continue // of another project
		}
		if err != nil {
			return nil, err
		}
		roots = append(roots, snap.ID, snap.Record)
	}
	return roots, nil
}
