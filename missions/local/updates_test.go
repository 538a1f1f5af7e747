package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/fork"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// family is a mission of two turns whose agent is Claude Code, and a fork of it.
type family struct {
	*talker
	fork     *talker
	id, name string // the parent's
}

func newFamily(t *testing.T) *family {
	t.Helper()
	c := startTalker(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "one\n")
	c.takeTurn("second", "a.txt", "two\n")
	f := &family{talker: c, id: c.only().ID, name: c.only().Name}
	r, err := c.local.Fork(t.Context(), missions.ForkRequest{Caller: c.caller(), Name: "try"})
	if err != nil {
		t.Fatal(err)
	}
	f.fork = talkerOf(c, r.Missions[0])
	f.fork.turn = 100
	return f
}

// answers has one turn of an agent that says something.
func (c *talker) answers(prompt, answer string) {
	c.Helper()
	c.turn++
	id := fmt.Sprintf("%08d-0000-4000-8000-000000000009", c.turn)
	c.hook("UserPromptSubmit", map[string]any{"prompt": prompt, "prompt_id": id})
	c.say(c.line("user", id, c.parent, fmt.Sprintf("%q", prompt)), c.line("assistant", id+"a", id, fmt.Sprintf(`[{"type":"text","text":%q}]`, answer)))
	c.parent = id + "a"
	c.hook("Stop", map[string]any{"prompt_id": id, "last_assistant_message": answer})
}

// reports has the fork report, and returns the update.
func (f *family) reports(text string) missions.Update {
	f.Helper()
	r, err := f.local.Report(context.Background(), missions.ReportRequest{Caller: f.caller(), Fork: "try", Text: text})
	if err != nil {
		f.Fatal(err)
	}
	return r.Update
}

// given is what the agent of a mission is told with its next prompt, and what its user is
// shown.
type given struct{ Context, Notice string }

// prompted has the parent's agent prompted.
func (f *family) prompted(prompt string) given {
	f.Helper()
	f.turn++
	id := fmt.Sprintf("%08d-0000-4000-8000-000000000009", f.turn)
	return readGiven(f.T, f.hook("UserPromptSubmit", map[string]any{"prompt": prompt, "prompt_id": id}).Output)
}

// shows has the conversation show a context, if there is any, and the turn end with stop.
func (f *family) shows(context string, stop bool) {
	f.Helper()
	id := fmt.Sprintf("%08d-0000-4000-8000-000000000009", f.turn)
	f.say(f.line("user", id, f.parent, `"go"`))
	if context != "" {
		f.say(f.told(context))
	}
	f.say(f.line("assistant", id+"a", id, `[{"type":"text","text":"done"}]`))
	f.parent = id + "a"
	if stop {
		f.hook("Stop", map[string]any{"prompt_id": id, "last_assistant_message": "done"})
	}
}

func readGiven(t *testing.T, output []byte) (g given) {
	t.Helper()
	if len(output) == 0 {
		return g
	}
	var reply struct {
		SystemMessage      string
		Context            string
		HookSpecificOutput struct{ AdditionalContext string }
	}
	if err := json.Unmarshal(output, &reply); err != nil {
		t.Fatalf("%s: %v", output, err)
	}
	return given{reply.Context + reply.HookSpecificOutput.AdditionalContext, reply.SystemMessage}
}

// updates are those of the parent: "" for one that waits, else when it came or was cleared.
func (f *family) updates(all bool) []missions.Update {
	f.Helper()
	list, err := f.local.Updates(context.Background(), missions.UpdatesRequest{Caller: f.caller(), Mission: f.name, All: all})
	if err != nil {
		f.Fatal(err)
	}
	return list
}

// waits checks how many updates wait for the parent, and that a view says so.
func (f *family) waits(want int) {
	f.Helper()
	if list := f.updates(false); len(list) != want {
		f.Errorf("%d updates wait, want %d: %+v", len(list), want, list)
	}
	if v := f.view(); v.PendingUpdates != want {
		f.Errorf("the mission says that %d wait, want %d", v.PendingUpdates, want)
	}
}

// dies has the daemon die, and another begin.
func (f *family) dies() {
	f.Helper()
	f.testBench = f.again()
	f.local.Adapters = projects.Agents()
}

// follow has the parent's agent go on in the conversation that a restore has given it.
func (f *family) follow() {
	f.Helper()
	m, err := f.local.MissionByID(f.id)
	if err != nil {
		f.Fatal(err)
	}
	f.session, f.transcript, f.parent = m.Stored.Session, m.Binding.SessionPath, ""
}

// waitingDir is where the updates wait for the parent.
func (f *family) waitingDir() string {
	f.Helper()
	m, err := f.local.MissionByID(f.id)
	if err != nil {
		f.Fatal(err)
	}
	return filepath.Join(m.Project.Dir, projects.UpdatesDir, "waiting", m.ID)
}

// TestReport brings what a fork's agent has answered last to its parent's agent, with the
// next prompt, once.
func TestReport(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	f.fork.answers("try\tthe other\nway", "The cause is a race.\n\nMend: lock first.")
	f.answers("third", "hm")
	u := f.reports("")
	if u.From != "try" || u.Mission != f.name || u.Kind != missions.UpdateReport || u.Topic != "try the other way" || u.SinceTurn != 2 || u.Since.IsZero() || !u.Waits() {
		t.Errorf("reported %+v", u)
	}
	f.waits(1)
	g := f.prompted("fourth")
	for _, part := range []string{
		"[umbra-update " + u.ID + "] mission try reports", `about "try the other way"`, "after turn 2", "1 turn.",
		"\n| The cause is a race.\n| \n| Mend: lock first.\n[end of update]", "not words of your user",
	} {
		if !strings.Contains(g.Context, part) {
			t.Errorf("the agent is told\n%s\nwithout %q", g.Context, part)
		}
	}
	if !strings.Contains(g.Notice, "mission try reports") || !strings.Contains(g.Notice, "| Mend: lock first.") || strings.Contains(g.Notice, u.ID) {
		t.Errorf("the user sees\n%s", g.Notice)
	}
	f.shows(g.Context, true)
	f.waits(0)
	if list := f.updates(true); len(list) != 1 || list[0].DeliveredAt.IsZero() || list[0].Text != u.Text {
		t.Errorf("all updates: %+v", list)
	}
	if g := f.prompted("fifth"); g != (given{}) {
		t.Errorf("with the prompt after it: %+v", g)
	}
	f.healthy()
}

// TestUpdateOutlivesKills delivers an update once, whatever is killed at whichever step.
func TestUpdateOutlivesKills(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	u := f.reports("found it")
	f.dies() // queued
	f.waits(1)
	if g := f.prompted("lost"); !strings.Contains(g.Context, u.ID) {
		t.Errorf("after a kill the agent is told %q", g.Context)
	}
	f.dies() // the hook is killed before it prints: the conversation has nothing
	f.shows("", true)
	f.waits(1)
	g := f.prompted("again")
	if !strings.Contains(g.Context, u.ID) {
		t.Errorf("what the conversation does not show is not told again: %q", g.Context)
	}
	f.shows(g.Context, false)
	f.dies() // in the conversation, and not noted
	f.waits(0)
	if g := f.prompted("after"); g != (given{}) {
		t.Errorf("what the conversation shows is told again: %+v", g)
	}
	// Noted, and not yet taken out of the queue.
	waiting := filepath.Join(f.waitingDir(), u.ID+".json")
	content, err := os.ReadFile(strings.Replace(waiting, "/waiting/", "/told/", 1))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(waiting, content, 0o600); err != nil {
		t.Fatal(err)
	}
	f.dies()
	f.waits(0)
	if g := f.prompted("at last"); g != (given{}) {
		t.Errorf("what was told is told again: %+v", g)
	}
	if list := f.updates(true); len(list) != 1 {
		t.Errorf("all updates: %+v", list)
	}
	f.healthy()
}

// TestUpdateAndRestore: a restore that takes an update out of the conversation has it wait
// again, and an undo has not. What was left with /clear stays left.
func TestUpdateAndRestore(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	f.hook("SessionEnd", map[string]any{"reason": "other"})
	u := f.reports("found it")
	f.waits(1) // a closed mission is told when it goes on
	g := f.prompted("third")
	f.shows(g.Context, true)
	f.waits(0)
	f.restore(f.name+"@2", func(r *missions.RestoreRequest) { r.Force = true })
	f.waits(1)
	if _, err := f.local.Undo(t.Context(), missions.UndoRequest{Caller: f.caller(), Mission: f.name, Force: true}); err != nil {
		t.Fatal(err)
	}
	f.waits(0)
	f.follow()
	if g := f.prompted("back"); strings.Contains(g.Context, u.ID) {
		t.Errorf("in the conversation that shows it: %q", g.Context)
	}
	f.shows("", true)
	f.takeTurn("write", "a.txt", "three\n")
	f.restore(f.name+"@2", func(r *missions.RestoreRequest) { r.Force = true })
	f.follow()
	g = f.prompted("forth")
	if !strings.Contains(g.Context, u.ID) || !strings.Contains(g.Context, "put files that you may remember back") {
		t.Errorf("in the conversation that shows it no longer: %q", g.Context)
	}
	f.shows(g.Context, true)
	f.switchTo(otherSession)
	f.hook("SessionStart", map[string]any{"source": "clear"})
	f.answers("anew", "hm")
	anew := f.view().HeadAddress
	f.answers("on", "hm")
	f.restore(anew, func(r *missions.RestoreRequest) { r.Force = true })
	f.waits(0)
	f.healthy()
}

func (f *family) view() missions.Mission {
	f.Helper()
	m, err := f.local.Mission(context.Background(), missions.MissionRequest{Caller: f.caller(), Name: f.name})
	if err != nil {
		f.Fatal(err)
	}
	return m
}

// TestUpdateAndPromotion: a mission's agent is not told what it has said itself, as the fork
// that was promoted; when that is undone, it is. What the fork was told, it has been told.
func TestUpdateAndPromotion(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	m, err := f.local.MissionByID(f.id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.local.Queue(m, missions.Update{From: "other", Kind: missions.UpdateMerged, Text: "merged it"}); err != nil {
		t.Fatal(err)
	}
	r, err := f.local.Fork(t.Context(), missions.ForkRequest{Caller: f.caller(), From: f.name, Name: "best"})
	if err != nil {
		t.Fatal(err)
	}
	best := &family{talker: talkerOf(f.talker, r.Missions[0]), id: r.Missions[0].ID, name: "best"}
	best.turn = 200
	g := best.prompted("go")
	if !strings.Contains(g.Context, "merged it") {
		t.Fatalf("the fork is told %q", g.Context)
	}
	best.shows(g.Context, true)
	if _, err := f.local.Report(t.Context(), missions.ReportRequest{Caller: f.caller(), Fork: "best", Text: "found it"}); err != nil {
		t.Fatal(err)
	}
	f.reports("found something else")
	f.waits(3)
	if _, err := f.local.Promote(t.Context(), missions.PromoteRequest{Caller: f.caller(), Fork: "best", Force: true}); err != nil {
		t.Fatal(err)
	}
	f.waits(1)
	if list := f.updates(false); len(list) != 1 || list[0].From != "try" {
		t.Errorf("after a promotion there waits %+v", list)
	}
	for _, u := range f.updates(true) {
		if u.Own != (u.Text == "found it") {
			t.Errorf("its agent has said this itself: %v, of %q", u.Own, u.Text)
		}
	}
	if _, err := f.local.Undo(t.Context(), missions.UndoRequest{Caller: f.caller(), Mission: f.name, Force: true}); err != nil {
		t.Fatal(err)
	}
	f.waits(3)
	if _, err := f.local.Report(t.Context(), missions.ReportRequest{Caller: f.caller(), Fork: "best", Text: "found more since"}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.local.Redo(t.Context(), missions.UndoRequest{Caller: f.caller(), Mission: f.name, Force: true}); err != nil {
		t.Fatal(err)
	}
	expect := func(when string, want ...string) {
		t.Helper()
		var waiting []string
		for _, u := range f.updates(false) {
			waiting = append(waiting, u.Text)
		}
		if !slices.Equal(waiting, want) {
			t.Errorf("%s there waits %q, want %q", when, waiting, want)
		}
	}
	expect("after a redo", "found something else", "found more since")
	f.follow()
	promoted := f.view().HeadAddress
	f.answers("on", "hm")
	f.restore(promoted, func(r *missions.RestoreRequest) { r.Force = true })
	expect("in a copy of the promoted conversation", "found something else", "found more since")
	f.restore(f.name+"@2", func(r *missions.RestoreRequest) { r.Force = true })
	expect("in the conversation from before the fork", "merged it", "found it", "found something else", "found more since")
	f.healthy()
}

// forked is a fork of a moment, whose agent has answered once.
func (f *family) forked(moment, name string) *family {
	f.Helper()
	r, err := f.local.Fork(context.Background(), missions.ForkRequest{Caller: f.caller(), From: moment, Name: name})
	if err != nil {
		f.Fatal(err)
	}
	fork := &family{talker: talkerOf(f.talker, r.Missions[0]), id: r.Missions[0].ID, name: name}
	fork.turn = f.turn + 100
	fork.answers("go", "the answer of "+name)
	return fork
}

func (f *family) promotes(fork string) {
	f.Helper()
	if _, err := f.local.Promote(context.Background(), missions.PromoteRequest{Caller: f.caller(), Fork: fork, Force: true}); err != nil {
		f.Fatal(err)
	}
}

// TestUpdateAndLaterPromotions: what a mission's agent has said itself, as a promoted fork, it
// is not told after the promotion of another fork, which goes on from that. Nor is it where the
// fork has come by its conversation through a fork of its own.
func TestUpdateAndLaterPromotions(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	f.fork.answers("try", "it works")
	f.reports("")
	f.promotes("try")
	f.waits(0)
	promoted := f.view().HeadAddress
	f.forked(f.name, "second")
	f.promotes("second")
	f.waits(0)
	if third := f.forked(f.name, "third").view(); third.PendingUpdates != 0 {
		t.Errorf("%d updates wait for a fork made then", third.PendingUpdates)
	}

	before := func(r *missions.RestoreRequest) { r.Force = true }
	f.restore(f.name+"@2", before)
	f.waits(1)
	past := f.forked(promoted, "past")
	past.restore("past@2", before) // from before the promotion: nobody has said it there
	f.promotes("past")
	f.waits(1)
	past.restore(promoted, before)
	f.promotes("past")
	f.waits(0)

	near := f.forked(f.name, "near")
	if _, err := f.local.Report(t.Context(), missions.ReportRequest{Caller: f.caller(), Fork: "near"}); err != nil {
		t.Fatal(err)
	}
	f.waits(1)
	f.promotes("near")
	f.waits(0)
	near.forked("near", "far")
	f.promotes("far")
	f.promotes("near")
	f.waits(0)
	f.healthy()
}

// TestForkPeeks: a fork is told what waits for its source, which is told it all the same;
// and a fork that could not be made leaves nothing.
func TestForkPeeks(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	u := f.reports("found it")
	sync := f.local.SyncForks
	f.local.SyncForks = func([]*fork.Made) (int, error) { return 0, errors.New("no room") }
	if _, err := f.local.Fork(t.Context(), missions.ForkRequest{Caller: f.caller(), From: f.name, Name: "failed"}); err == nil {
		t.Error("the fork was made")
	}
	if left, err := os.ReadDir(filepath.Dir(f.waitingDir())); err != nil || len(left) != 1 {
		t.Errorf("a fork that failed leaves %v %v", left, err)
	}
	f.local.SyncForks = sync
	r, err := f.local.Fork(t.Context(), missions.ForkRequest{Caller: f.caller(), From: f.name, Name: "second"})
	if err != nil {
		t.Fatal(err)
	}
	if r.Missions[0].PendingUpdates != 1 {
		t.Errorf("the fork: %+v", r.Missions[0])
	}
	second := family{talker: talkerOf(f.talker, r.Missions[0]), name: "second"}
	g := second.prompted("go")
	if !strings.Contains(g.Context, u.ID) || !strings.Contains(g.Context, "It is for the mission that you were forked from") {
		t.Errorf("the fork is told %q", g.Context)
	}
	second.shows(g.Context, true)
	second.waits(0)
	f.waits(1)
	past, err := f.local.Fork(t.Context(), missions.ForkRequest{Caller: f.caller(), From: f.name + "@1", Name: "past"})
	if err != nil || past.Missions[0].PendingUpdates != 0 {
		t.Errorf("a fork of a past moment: %+v %v", past.Missions, err)
	}
	if g := f.prompted("third"); !strings.Contains(g.Context, u.ID) {
		t.Errorf("the source is told %q", g.Context)
	}
	f.healthy()
}

// TestReportRefused says why, and what to type.
func TestReportRefused(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	refused := func(what string, r missions.ReportRequest, kind missions.Kind, part string) {
		t.Helper()
		r.Caller = f.caller()
		_, err := f.local.Report(t.Context(), r)
		if e := missions.AsError(err); err == nil || e.Kind != kind || !strings.Contains(e.Message, part) || e.Hint == "" {
			t.Errorf("%s: %v (%+v)", what, err, e)
		}
	}
	refused("not a fork", missions.ReportRequest{Fork: f.name, Text: "x"}, missions.KindNotFound, "is not a fork")
	refused("unknown", missions.ReportRequest{Fork: "none", Text: "x"}, missions.KindNotFound, "none")
	refused("nothing was said", missions.ReportRequest{Fork: "try"}, missions.KindNotFound, "nothing to report")
	refused("only what is not seen", missions.ReportRequest{Fork: "try", Text: "\x1b\u202e\n"}, missions.KindNotFound, "nothing to report")
	refused("too long", missions.ReportRequest{Fork: "try", Text: strings.Repeat("x", missions.MaxUpdateBytes+1)}, missions.KindUsage, "too long")
	refused("a foreign id", missions.ReportRequest{Fork: "try", Text: "x", ID: "../x"}, missions.KindUsage, "no id")
	refused("what no fork tells", missions.ReportRequest{Fork: "try", Text: "x", Kind: missions.UpdateRestored}, missions.KindUsage, "nothing that a fork reports")
	refused("a check that says nothing", missions.ReportRequest{Fork: "try", Kind: missions.UpdateChecked}, missions.KindUsage, "no text")
	f.fork.hook("UserPromptSubmit", map[string]any{"prompt": "go", "prompt_id": "p1"})
	refused("in a turn", missions.ReportRequest{Fork: "try"}, missions.KindBusy, "has not answered yet")
	again := missions.ReportRequest{Caller: f.caller(), Fork: "try", Text: "x", ID: missions.NewRequestID()}
	for range 2 {
		if _, err := f.local.Report(t.Context(), again); err != nil {
			t.Error(err)
		}
	}
	f.waits(1)
	if _, err := f.local.Remove(t.Context(), missions.RemoveRequest{Caller: f.caller(), Missions: []string{f.name}, Force: true}); err != nil {
		t.Fatal(err)
	}
	refused("the parent is gone", missions.ReportRequest{Fork: "try", Text: "x"}, missions.KindNotFound, "trash")
}
