package local

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/journal"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/restores"
)

// foreseen previews an undo or redo of the default mission.
func (b *testBench) foreseen(kind string, change ...func(*missions.UndoRequest)) missions.RestoreResult {
	b.Helper()
	r := missions.UndoRequest{Caller: b.caller(), Preview: true}
	for _, c := range change {
		c(&r)
	}
	step := b.local.Undo
	if kind == "redo" {
		step = b.local.Redo
	}
	result, err := step(context.Background(), r)
	if err != nil {
		b.Fatalf("preview of %s: %v", kind, err)
	}
	if result.Done {
		b.Errorf("the preview of %s says that it is done", kind)
	}
	return result
}

// refusals are what a preview says would stand in the way.
func refusals(r missions.RestoreResult) string {
	var list []string
	for _, e := range r.Refused {
		list = append(list, string(e.Kind)+": "+e.Message)
	}
	return strings.Join(list, "\n")
}

// The plan of an undo or a redo is what it then does, and changes nothing.
func TestForeseeUndoAndRedo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "zero\n")
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "one\n")
	c.takeTurn("second", "b.txt", "two\n")
	if r := b.restore("@1", func(r *missions.RestoreRequest) { r.Preview = true }); len(r.Refused) > 0 || r.Handover == nil || r.Handover.How != "resume" {
		t.Errorf("the plan of a restore: %s, %+v", refusals(r), r.Handover)
	}
	b.restore("@1")
	before := b.messages("")
	plan := b.foreseen("undo")
	if strings.Join(plan.Create, " ") != "b.txt" || len(plan.Refused) > 0 || plan.Handover == nil || b.read("b.txt") != "(none)" {
		t.Errorf("the plan of an undo: %+v", plan)
	}
	if after := b.messages(""); !slices.Equal(before, after) {
		t.Errorf("planning made %q of %q", after, before)
	}
	done, err := b.local.Undo(context.Background(), missions.UndoRequest{Caller: b.caller()})
	if err != nil || strings.Join(done.Create, " ") != "b.txt" {
		t.Errorf("undone: %+v %v", done, err)
	}
	if plan := b.foreseen("redo"); strings.Join(plan.Delete, " ") != "b.txt" || b.read("b.txt") != "two\n" {
		t.Errorf("the plan of a redo: %+v", plan)
	}
	_, err = b.local.Undo(context.Background(), missions.UndoRequest{Caller: b.caller(), Preview: true})
	b.fails("the plan of an undo of nothing", err, missions.KindNotFound)
	_, err = b.local.Redo(context.Background(), missions.UndoRequest{Caller: b.caller(), Preview: true, Steps: 2})
	b.fails("the plan of two steps", err, missions.KindUsage)
	b.healthy()
}

// A plan tells all that would refuse it, and what was passed over it does not.
func TestForeseeRefusals(t *testing.T) {
	t.Parallel()
	b, c := newCommitted(t)
	b.write("mine.txt", "the user's\n")
	c.takeTurn("second", "b.txt", "two\n")
	b.git("switch", "-qc", "other")
	c.hook("UserPromptSubmit", map[string]any{"prompt": "go on", "prompt_id": "x"})
	plan := func(change func(*missions.RestoreRequest)) string {
		t.Helper()
		return refusals(b.restore("@1", func(r *missions.RestoreRequest) { r.Preview = true; change(r) }))
	}
	const branch, theirs = "conflict: the repository is on branch other now and was on branch main then", "conflict: 1 path was changed by others since then"
	all := plan(func(*missions.RestoreRequest) {})
	for _, want := range []string{"is in turn 3", branch, theirs} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not among\n%s", want, all)
		}
	}
	if got := plan(func(r *missions.RestoreRequest) { r.WhenIdle = true }); strings.Contains(got, "in turn") {
		t.Errorf("what waits for the turn's end is refused: %s", got)
	}
	if got := plan(func(r *missions.RestoreRequest) { r.Force = true }); got != theirs {
		t.Errorf("with force it is refused: %s", got)
	}
	if got := plan(func(r *missions.RestoreRequest) { r.Force, r.KeepOthers = true, true }); got != "" {
		t.Errorf("with all said it is refused: %s", got)
	}
	b.git("switch", "-q", "main")
	c.hook("Stop", map[string]any{"prompt_id": "x"})
	b.restore("@1", func(r *missions.RestoreRequest) { r.All = true })
	c.takeTurn("third", "c.txt", "three\n")
	later := b.foreseen("undo")
	if got := refusals(later); !strings.Contains(got, "a turn ran since that restore") || len(later.Create) == 0 {
		t.Errorf("an undo across a turn: %s, %+v", got, later)
	}
	if got := refusals(b.foreseen("undo", func(r *missions.UndoRequest) { r.Force = true })); got != "" {
		t.Errorf("an undo with force is refused: %s", got)
	}
	c.hook("UserPromptSubmit", map[string]any{"prompt": "on", "prompt_id": "y"})
	if got := refusals(b.foreseen("undo")); !strings.Contains(got, "is in turn") {
		t.Errorf("an undo in a turn: %s", got)
	}
	c.hook("Stop", map[string]any{"prompt_id": "y"})
	b.healthy()
}

// Where a restore was cut off, a plan says what undo and redo make of it, and
// ends nothing.
func TestForeseeCutOff(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.mission("work")
	b.write("a.txt", "two\n")
	b.snapshot("second")
	b.cutOff("work", "work@start", func(w *restores.RestoreWork) error {
		return errors.Join(applied(w), w.Entry.Advance(journal.Interrupted))
	})
	for kind, want := range map[string]string{"undo": "undo takes it back", "redo": "redo finishes it"} {
		r := b.foreseen(kind, func(r *missions.UndoRequest) { r.Mission = "work" })
		if !strings.Contains(strings.Join(r.Notes, " "), want) {
			t.Errorf("the plan of %s says %q", kind, r.Notes)
		}
	}
	entries, _, err := b.local.Journal.List()
	if err != nil || len(entries) != 1 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	if phase, _ := entries[0].Phase(); phase != journal.Interrupted {
		t.Errorf("planning made it %v", phase)
	}
	if _, err := b.local.Undo(context.Background(), missions.UndoRequest{Caller: b.caller(), Mission: "work"}); err != nil || b.read("a.txt") != "two\n" {
		t.Errorf("undo: %v, a.txt is %q", err, b.read("a.txt"))
	}
	b.healthy()
}

// A plan tells that a live agent under a keeper is ended and launched again.
func TestForeseeHandover(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	r := k.restore("live@1", func(r *missions.RestoreRequest) { r.Preview = true })
	if r.Handover == nil || r.Handover.How != "relaunched" {
		t.Errorf("the plan says %+v", r.Handover)
	}
	if r := k.restore("live@1", func(r *missions.RestoreRequest) { r.Preview, r.FilesOnly = true, true }); r.Handover != nil {
		t.Errorf("where the conversation stays the plan says %+v", r.Handover)
	}
	if m := k.state(); m.Live.Handover != nil || missions.StateOf(m.Lifecycle) != missions.StateIdle {
		t.Errorf("planning made it %+v", m.Live)
	}
}
