package restore

import (
	"context"
	"errors"
	"fmt"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/gitstore/treepath"
)

// Recovery is what became of an operation whose process was killed.
type Recovery string

// The recoveries.
const (
	// Forward: everything is done that had been planned; the entry is in phase
	// Applied, and the caller goes on from there.
	Forward Recovery = "forward"
	// Back: everything is as before. The caller finishes the entry.
	Back Recovery = "back"
	// Interrupted: people have gone on working meanwhile. Nothing was touched,
	// and what is in quarantine stays. The entry is in phase Interrupted;
	// FinishForward and TakeBack end it, as people choose.
	Interrupted Recovery = "interrupted"
	// Over: the entry is in phase Done; only Settle is left.
	Over Recovery = "over"
)

// Recover ends an operation whose process was killed. If every planned path is
// as it was or as it is to be, and undisturbed says that all other paths are as
// S holds them, it goes forward; or back, if staging had not ended or going
// forward fails, as on a full disk (Outcome.Cause says why then). Undisturbed may be asked by means of
// Strangers. Recover can itself be killed at any instant and run again.
func (w *Work) Recover(ctx context.Context, undisturbed func(context.Context) (bool, error)) (Recovery, *Outcome, error) {
	r, err := w.begin()
	if err != nil {
		return "", nil, err
	}
	defer r.end()
	if r.slots, err = r.inventory(); err != nil {
		return "", nil, err
	}
	switch phase, _ := w.Entry.Phase(); phase {
	case journal.Done:
		return Over, r.result(), nil
	case journal.Interrupted:
		return Interrupted, r.result(), nil
	case journal.Staging:
		return Back, r.result(), r.unstage()
	case journal.Applied:
		return r.applied()
	}
	ok, err := r.asPlanned()
	if err == nil && ok {
		ok, err = undisturbed(ctx)
	}
	if err != nil {
		return "", nil, err
	}
	return r.recover(ctx, ok)
}

func (r *run) applied() (Recovery, *Outcome, error) {
	for i := range r.Document.Plan.Changes {
		at, err := r.where(i)
		if err != nil {
			return "", nil, err
		}
		why := ReasonChanged
		switch at {
		case atTarget:
			r.setDone(i)
			continue
		case atSource:
			if isLog(r.change(i)) && r.change(i).To == nil {
				r.setDone(i) // made since, by whoever has opened the database
				continue
			}
			if obstacle := obstacleTo(r, i); obstacle != "" {
				why = Reason(obstacle)
			}
		}
		r.setLeft(i, why)
	}
	if err := r.judge(); err != nil {
		return "", nil, err
	}
	return Forward, r.result(), nil
}

func (r *run) recover(ctx context.Context, ok bool) (Recovery, *Outcome, error) {
	phase, _ := r.Entry.Phase()
	if phase == journal.Staged {
		// Nothing has been changed yet, so that there is nothing to ask about.
		if !ok {
			return Back, r.result(), r.unstage()
		}
		if err := r.Entry.Advance(journal.Applying); err != nil {
			return "", nil, err
		}
	}
	if !ok {
		if err := r.Entry.Advance(journal.Interrupted); err != nil {
			return "", nil, err
		}
		return Interrupted, r.result(), nil
	}
	r.careful, r.resumed = true, true
	outcome, err := r.carryOut(ctx)
	if err == nil {
		return Forward, outcome, nil
	}
	var failure *Failure
	if errors.As(err, &failure) && failure.Back == nil {
		failure.Outcome.Cause = failure.Cause
		return Back, failure.Outcome, nil
	}
	return "", nil, err
}

// asPlanned tells whether every planned path is at its source or its target.
func (r *run) asPlanned() (bool, error) {
	for i := range r.Document.Plan.Changes {
		at, err := r.where(i)
		if err != nil || at == elsewhere {
			return false, err
		}
	}
	return true, nil
}

// FinishForward goes on with an operation that was interrupted: paths that are
// still as S holds them become what T holds, the others are left. It ends in
// phase Applied, or as Apply does.
func (w *Work) FinishForward(ctx context.Context) (*Outcome, error) {
	r, err := w.begin()
	if err != nil {
		return nil, err
	}
	defer r.end()
	if r.slots, err = r.inventory(); err != nil {
		return nil, err
	}
	if phase, _ := w.Entry.Phase(); phase != journal.Applying {
		if err := w.Entry.Advance(journal.Applying); err != nil {
			return nil, err
		}
	}
	r.careful, r.resumed = true, true
	return r.carryOut(ctx)
}

// TakeBack ends an operation that was interrupted, or one in phase Applying or
// Applied, by going back: paths that are as T holds them become what they were
// before, the others are left. The caller finishes the entry.
func (w *Work) TakeBack() (*Outcome, error) {
	r, err := w.begin()
	if err != nil {
		return nil, err
	}
	defer r.end()
	if err := r.backward(); err != nil {
		return nil, fmt.Errorf("take back operation %s: %w", w.Entry.ID(), err)
	}
	return r.result(), nil
}

// Strangers lists the captured paths that are in another state than S, though
// the operation did not plan to change them: present is a capture of the
// workspace as the killed process left it. What the plan keeps counts only if
// its content is another: ignore files that were put back hide and reveal it.
func (d *Document) Strangers(objects Objects, disk Disk, present gitstore.ID) ([]string, error) {
	var out []string
	err := objects.DiffTrees(d.Plan.From, present, func(c gitstore.Change) error {
		if d.renamed(c.Path) {
			return nil
		}
		if _, planned := d.Plan.change(c.Path); planned {
			return nil
		}
		if _, kept := d.Plan.Covers(c.Path); kept {
			if c.From.ID.IsZero() {
				return nil
			}
			now, err := inspect(disk, c.Path)
			if err != nil {
				return err
			}
			then := State{Mode: c.From.Mode, Blob: c.From.ID}
			if now.kind == content && now.state.holds(&then) {
				return nil
			}
		}
		out = append(out, c.Path)
		return nil
	})
	return out, err
}

// renamed tells whether only the spelling of a path, or of a directory above,
// is changed by the plan.
func (d *Document) renamed(path string) bool {
	for _, r := range d.Plan.Renames {
		if treepath.Covers(r.From, path) || treepath.Covers(r.To, path) {
			return true
		}
	}
	return false
}
