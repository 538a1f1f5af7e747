// Package fixes is the loop that has an agent mend what a check or a reviewer finds: which findings it is
// handed, when it has had enough attempts, and the state that a killed loop goes on from. It
// runs neither the check nor an agent: it is handed a World that does.
package fixes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/findings"
)

// Stop is why a loop has ended.
type Stop string

// The ends of loops. All but the first leave findings.
const (
	StopFixed      Stop = "fixed"
	StopLimit      Stop = "limit"       // of attempts, by severity or in all
	StopNoProgress Stop = "no_progress" // the attempt has changed no finding
	StopAgent      Stop = "agent_failed"
)

// Fix is one loop, as it is kept between its steps.
type Fix struct {
	Mission  string        `json:"mission"` // its id
	Check    string        `json:"check,omitempty"`
	Reviewer string        `json:"reviewer,omitempty"`  // the agent that reviews, instead of a check
	ReviewID string        `json:"review_id,omitempty"` // the mission in which it reviews now
	Fixer    string        `json:"fixer,omitempty"`     // another agent than the mission's
	FixerID  string        `json:"fixer_id,omitempty"`  // the mission of that
	Limits   Limits        `json:"limits"`
	Backoff  time.Duration `json:"backoff"`
	Timeout  time.Duration `json:"timeout,omitempty"` // of the agent, in each attempt
	Attempts []Attempt     `json:"attempts"`
	// Left are the findings of the newest check.
	Left    []findings.Finding `json:"left"`
	Stopped Stop               `json:"stopped,omitempty"`
	// OneMore allows one further attempt, whatever the loop would stop for.
	OneMore bool      `json:"one_more,omitempty"`
	BeganAt time.Time `json:"at"`
}

// Attempt is one time that the agent was handed findings.
type Attempt struct {
	ID       string             `json:"id"` // of its snapshot's request
	Severity missions.Severity  `json:"severity"`
	Issues   []findings.Finding `json:"issues"`             // that the agent was handed
	Before   []findings.Finding `json:"before"`             // all that there were
	Snapshot string             `json:"snapshot,omitempty"` // "" while it was not taken
	Address  string             `json:"address,omitempty"`
	Turn     int                `json:"turn"` // that the agent had behind it
	Ended    bool               `json:"ended,omitempty"`
	Problem  string             `json:"problem,omitempty"` // why the agent did not end well
}

// World is what a loop is in.
type World interface {
	// Find runs the check, or has the reviewer look. It fails where these can't tell; no
	// finding is what ends the loop.
	Find(context.Context) ([]findings.Finding, error)
	// Prepare refuses what would hinder an attempt, before anything of it is kept.
	Prepare(context.Context, *Fix) error
	// Snapshot takes the snapshot before an attempt, unless an earlier call has taken it,
	// and returns the number of the agent's turn.
	Snapshot(ctx context.Context, id, message string, again bool) (taken missions.Entry, turn int, err error)
	// Work has the agent answer a prompt, unless it has done so since that turn, and waits
	// for its end. problem is why that was no good one; it fails where the agent was not begun.
	Work(ctx context.Context, prompt string, turn int) (problem string, err error)
	// Wait waits, or ends with the context.
	Wait(context.Context, time.Duration) error
	// Save makes the state durable.
	Save(*Fix) error
	// Begins says that an attempt begins.
	Begins(number int, a Attempt)
}

// maxBackoff is how long is waited between two attempts at most.
const maxBackoff = 5 * time.Minute

// Run makes attempts until the check passes or the loop has to stop, which Stopped says. An
// attempt that an earlier process has begun is ended first. After an error it can be called
// again, by another process too.
func (f *Fix) Run(ctx context.Context, w World) error {
	f.Stopped = ""
	for again := true; ; again = false {
		if n := len(f.Attempts); n > 0 && !f.Attempts[n-1].Ended {
			if err := f.attempt(ctx, w, again); err != nil {
				return err
			}
		}
		found, err := w.Find(ctx)
		if err != nil {
			return err
		}
		f.Left = found
		if f.Stopped = f.stop(); f.Stopped != "" {
			return w.Save(f)
		}
		if err := w.Wait(ctx, f.pause()); err != nil {
			return err
		}
		if err := w.Prepare(ctx, f); err != nil {
			return err
		}
		severity, worst := findings.Worst(found)
		f.Attempts = append(f.Attempts, Attempt{ID: missions.NewRequestID(), Severity: severity, Issues: worst, Before: found})
		f.OneMore = false
		if err := w.Save(f); err != nil {
			return err
		}
	}
}

// attempt brings the newest attempt to its end. again says that another process has begun it.
func (f *Fix) attempt(ctx context.Context, w World, again bool) error {
	n := len(f.Attempts)
	a := &f.Attempts[n-1]
	if a.Snapshot == "" {
		taken, turn, err := w.Snapshot(ctx, a.ID, fmt.Sprintf("fix attempt %d: %s", n, countOf(a.Issues)), again)
		if err != nil {
			return err
		}
		a.Snapshot, a.Address, a.Turn = taken.ID, taken.Address, turn
		if err := w.Save(f); err != nil {
			return err
		}
	}
	w.Begins(n, *a)
	problem, err := w.Work(ctx, f.prompt(), a.Turn)
	if err != nil {
		return err
	}
	if again && problem != "" {
		f.OneMore = true // it was ended with the command that had begun it
	}
	a.Ended, a.Problem = true, problem
	return w.Save(f)
}

// countOf counts findings, by the word that people read.
func countOf(list []findings.Finding) string {
	if len(list) == 1 {
		return "1 finding"
	}
	return fmt.Sprintf("%d findings", len(list))
}

// FixerMission is the id of the mission whose agent works.
func (f *Fix) FixerMission() string { return cmp.Or(f.FixerID, f.Mission) }

// stop is why the loop ends now, "" if it goes on.
func (f *Fix) stop() Stop {
	switch {
	case len(f.Left) == 0:
		return StopFixed
	case f.OneMore:
		return ""
	}
	if n := len(f.Attempts); n > 0 {
		switch last := f.Attempts[n-1]; {
		case last.Problem != "":
			return StopAgent
		case findings.AreSame(last.Before, f.Left):
			return StopNoProgress
		}
	}
	severity, _ := findings.Worst(f.Left)
	if len(f.Attempts) >= f.Limits.Total || f.attemptsAt(severity) >= f.Limits.Most[severity] {
		return StopLimit
	}
	return ""
}

// attemptsAt counts the attempts at findings of a severity.
func (f *Fix) attemptsAt(severity missions.Severity) (n int) {
	for _, a := range f.Attempts {
		if a.Severity == severity {
			n++
		}
	}
	return n
}

// pause is how long is waited before the next attempt: twice as long each time.
func (f *Fix) pause() time.Duration {
	if len(f.Attempts) == 0 {
		return 0
	}
	pause := f.Backoff
	for range len(f.Attempts) - 1 {
		if pause = 2 * pause; pause >= maxBackoff {
			break
		}
	}
	return min(pause, max(maxBackoff, f.Backoff))
}

// Read reads the loop that is kept in a file, nil if there is none.
func Read(file string) (*Fix, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	f := &Fix{}
	if err == nil {
		err = json.Unmarshal(text, f)
	}
	if err != nil {
		return nil, fmt.Errorf("read what umbra fix has kept: %w", err)
	}
	return f, nil
}

// Write makes the state durable in a file.
func (f *Fix) Write(file string) error {
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return journal.WriteFile(file, 0o600, text)
}

// Remove removes the state that is kept in a file.
func Remove(file string) error { return journal.Remove(file) }
