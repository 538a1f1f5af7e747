package local

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/scripts/hazards"
	"github.com/umbra-vcs/umbra/sessions"
	"github.com/umbra-vcs/umbra/sessions/claude"
)

// promote promotes a fork.
func (b *testBench) promote(fork string, change ...func(*missions.PromoteRequest)) (missions.PromoteResult, error) {
	b.Helper()
	r := missions.PromoteRequest{Caller: b.caller(), Fork: fork}
	for _, c := range change {
		c(&r)
	}
	return b.local.Promote(context.Background(), r)
}

// promoted promotes a fork, which must succeed.
func (b *testBench) promoted(fork string, change ...func(*missions.PromoteRequest)) missions.PromoteResult {
	b.Helper()
	r, err := b.promote(fork, change...)
	if err != nil {
		b.Fatalf("promote %s: %v (%s)", fork, err, missions.AsError(err).Hint)
	}
	return r
}

// forkTalker is Claude Code in a fork of the talker's mission.
func (c *talker) forkTalker(name string) *talker {
	c.Helper()
	result, err := c.local.Fork(context.Background(), missions.ForkRequest{Caller: c.caller(), Name: name})
	if err != nil {
		c.Fatal(err)
	}
	m := result.Missions[0]
	there := *c.testBench
	there.dir = m.Workspace
	f := &talker{testBench: &there, session: m.SessionID, transcript: m.SessionPath, turn: c.turn, parent: c.parent, mission: m.ID}
	f.hook("SessionStart", map[string]any{"source": "resume"})
	return f
}

// lines is a text of ten lines, the nth of them changed.
func tenLines(n int, text string) string {
	list := strings.Split("0 1 2 3 4 5 6 7 8 9", " ")
	if n >= 0 {
		list[n] = text
	}
	return strings.Join(list, "\n") + "\n"
}

// conversation reads the mission's present conversation.
func (b *testBench) conversation(id string) (sessions.Conversation, string) {
	b.Helper()
	m, err := b.local.MissionByID(id)
	if err != nil {
		b.Fatal(err)
	}
	raw, err := os.ReadFile(m.Binding.SessionPath)
	if err != nil {
		b.Fatal(err)
	}
	talk, err := sessions.ReadConversation(claude.Adapter{}, strings.NewReader(string(raw)))
	if err != nil {
		b.Fatal(err)
	}
	return talk, string(raw)
}

// newForkedTalk is a mission one turn long, and a fork of it that went on for another.
func newForkedTalk(t *testing.T) (c, f *talker) {
	t.Helper()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", tenLines(-1, ""))
	b.write("gone.txt", "gone\n")
	b.git("init", "-q", "-b", "main")
	b.git("add", ".")
	b.git("commit", "-q", "-m", "first")
	c = newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("begin", "begun.txt", "begun\n")
	c.mission = b.only().ID
	f = c.forkTalker("other")
	f.takeTurn("try it", "a.txt", tenLines(1, "the fork's"))
	f.write("new/b.txt", "new\n")
	f.remove("gone.txt")
	return c, f
}

// TestPromote brings a fork's files and conversation home, takes that back and does it
// again. The parent went on meanwhile: that is merged.
func TestPromote(t *testing.T) {
	t.Parallel()
	naive := newBench(t)
	naive.git("init", "-q", "-b", "main")
	naive.write("a.txt", "one\n")
	naive.git("add", ".")
	naive.git("commit", "-qm", "first")
	naive.git("worktree", "add", "-q", "-b", "fork", filepath.Join(naive.user, "fork"))
	for _, dir := range []string{naive.dir, filepath.Join(naive.user, "fork")} { // the fork begins with what is not committed
		if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("two\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	naive.git("-C", filepath.Join(naive.user, "fork"), "commit", "-qam", "of the fork")
	_, failed := hazards.Git(naive.dir, "merge", "fork")
	hazards.Shown(t, hazards.H50, failed != nil, "`git merge` of a fork's branch refuses, since what both began with is not committed")

	c, f := newForkedTalk(t)
	c.takeTurn("meanwhile", "a.txt", tenLines(8, "the parent's"))
	c.write("mine.txt", "mine\n")
	before, _ := c.conversation(c.mission)

	plan := c.promoted("other", func(r *missions.PromoteRequest) { r.Preview = true })
	if plan.Done || plan.From != f.mission || len(plan.Refused) > 0 || !slices.Equal(plan.Create, []string{"new/b.txt"}) || c.read("a.txt") != tenLines(8, "the parent's") {
		t.Errorf("preview: %+v", plan)
	}
	r := c.promoted("other")
	both := strings.Replace(tenLines(8, "the parent's"), "\n1\n", "\nthe fork's\n", 1)
	if !r.Done || c.read("a.txt") != both || c.read("new/b.txt") != "new\n" || c.read("gone.txt") != "(none)" || c.read("mine.txt") != "mine\n" {
		t.Fatalf("promoted: %+v, a.txt is %q", r, c.read("a.txt"))
	}
	if !slices.Equal(r.Merged, []string{"a.txt", "mine.txt"}) || len(r.Kept) > 0 || r.FromName != "other" || r.Conversation.EventsDropped != 4 || !r.Conversation.FromFork || !slices.Equal(r.Conversation.TurnsDropped, []int{2}) || r.SafetySnapshot == "" {
		t.Errorf("promoted: %+v", r.RestoreResult)
	}
	talk, raw := c.conversation(c.mission)
	if len(talk.Turns) != 2 || talk.Turns[1].Prompt != "try it" || talk.Cwd != c.dir || strings.Contains(raw, f.dir) {
		t.Errorf("the conversation has %d turns in %s:\n%s", len(talk.Turns), talk.Cwd, raw)
	}
	c.promotedCommit(r, f)

	undone, err := c.local.Undo(t.Context(), missions.UndoRequest{Caller: c.caller(), Mission: c.mission})
	if err != nil || c.read("a.txt") != tenLines(8, "the parent's") || c.read("gone.txt") != "gone\n" || c.read("new/b.txt") != "(none)" {
		t.Errorf("undo: %+v %v", undone, err)
	}
	if talk, _ := c.conversation(c.mission); talk.ID != before.ID {
		t.Errorf("undo returned to the conversation %s, it was %s", talk.ID, before.ID)
	}
	redone, err := c.local.Redo(t.Context(), missions.UndoRequest{Caller: c.caller(), Mission: c.mission})
	if err != nil || c.read("a.txt") != both || c.read("gone.txt") != "(none)" {
		t.Errorf("redo: %+v %v", redone, err)
	}
	if talk, _ := c.conversation(c.mission); len(talk.Turns) != 2 || talk.Turns[1].Prompt != "try it" {
		t.Errorf("redo: the conversation is %+v", talk)
	}
	c.healthy()
	hazards.Held(t, hazards.H50, "a fork's files and conversation come home by a merge of snapshots, which undo takes back")
}

// promotedCommit holds the commit of a promotion against its format.
func (c *talker) promotedCommit(r missions.PromoteResult, f *talker) {
	c.Helper()
	parent, err := c.local.MissionByID(c.mission)
	if err != nil {
		c.Fatal(err)
	}
	fork, err := c.local.MissionByID(f.mission)
	if err != nil {
		c.Fatal(err)
	}
	id, err := gitstore.ParseID(r.Snapshot)
	if err != nil {
		c.Fatal(err)
	}
	s, err := parent.Project.Store.Snapshot(id)
	if err != nil {
		c.Fatal(err)
	}
	want := []string{r.SafetySnapshot, fork.Tip.ID.String()}
	var got []string
	for _, p := range s.Parents {
		got = append(got, p.String())
	}
	if !slices.Equal(got, want) || s.PromotedFrom != fork.Tip.ID || !slices.Equal(s.Triggers, []string{"promote"}) || s.Mission != c.mission {
		c.Errorf("the commit has the parents %q, wanted %q: %+v", got, want, s)
	}
	if out, err := parent.Project.Store.Git(c.Context(), "fsck", "--full", "--no-dangling"); err != nil || len(out) > 0 {
		c.Errorf("git fsck: %v\n%s", err, out)
	}
}

// TestPromoteConflict: where both changed the same lines nothing is chosen for the user.
func TestPromoteConflict(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		choice func(*missions.PromoteRequest)
		want   string
	}{
		{"the parent's", func(r *missions.PromoteRequest) { r.KeepOthers = true }, "the parent's"},
		{"the fork's", func(r *missions.PromoteRequest) { r.All = true }, "the fork's"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, _ := newForkedTalk(t)
			c.write("a.txt", tenLines(1, "the parent's"))
			_, err := c.promote("other")
			c.fails("promote", err, missions.KindConflict)
			e := missions.AsError(err)
			var plan missions.RestoreResult
			if json.Unmarshal(e.Details, &plan) != nil || len(plan.Foreign) != 1 || plan.Foreign[0].Path != "a.txt" || !strings.Contains(e.Message, "1 path was changed in ") || !strings.Contains(e.Message, "a.txt") || !strings.Contains(e.Hint, "umbra diff other@fork other") {
				t.Errorf("refused: %q (%s), %+v", e.Message, e.Hint, plan)
			}
			if c.read("new/b.txt") != "(none)" || c.read("a.txt") != tenLines(1, "the parent's") {
				t.Error("it changed something all the same")
			}
			if plan := c.promoted("other", func(r *missions.PromoteRequest) { r.Preview = true }); len(plan.Refused) != 1 {
				t.Errorf("the preview refuses %+v", plan.Refused)
			}
			r := c.promoted("other", tt.choice)
			if !r.Done || c.read("a.txt") != tenLines(1, tt.want) || c.read("new/b.txt") != "new\n" {
				t.Errorf("promoted: %+v, a.txt is %q", r, c.read("a.txt"))
			}
			c.healthy()
		})
	}
}

// TestPromoteParts promotes files or the conversation alone.
func TestPromoteParts(t *testing.T) {
	t.Parallel()
	c, _ := newForkedTalk(t)
	before, _ := c.conversation(c.mission)
	r := c.promoted("other", func(r *missions.PromoteRequest) { r.FilesOnly = true })
	if talk, _ := c.conversation(c.mission); talk.ID != before.ID || c.read("new/b.txt") != "new\n" || !r.Done {
		t.Errorf("--files-only: %+v", r)
	}
	if _, err := c.local.Undo(t.Context(), missions.UndoRequest{Caller: c.caller(), Mission: c.mission}); err != nil {
		t.Fatal(err)
	}
	r = c.promoted("other", func(r *missions.PromoteRequest) { r.ConversationOnly = true })
	if talk, _ := c.conversation(c.mission); len(talk.Turns) != 2 || c.read("new/b.txt") != "(none)" || !r.Done {
		t.Errorf("--conversation-only: %+v", r)
	}
	c.healthy()
}

// TestPromoteAgain promotes a fork that goes on after it was promoted: only what it did
// since is merged, and nothing where it did nothing.
func TestPromoteAgain(t *testing.T) {
	t.Parallel()
	c, f := newForkedTalk(t)
	first := c.promoted("other")
	if again := c.promoted("other"); !again.Done || again.Snapshot != "" || len(again.Modify)+len(again.Create)+len(again.Delete) > 0 {
		t.Errorf("the same again: %+v", again)
	}
	c.write("a.txt", strings.Replace(tenLines(1, "the fork's"), "9\n", "the parent's\n", 1))
	f.takeTurn("more", "a.txt", tenLines(1, "the fork's second"))
	second := c.promoted("other")
	if want := strings.Replace(tenLines(1, "the fork's second"), "9\n", "the parent's\n", 1); c.read("a.txt") != want || second.SessionID == first.SessionID {
		t.Errorf("promoted again: %+v, a.txt is %q", second, c.read("a.txt"))
	}
	c.healthy()
}

// TestPromoteForkOfFork brings a fork of a fork home to the fork, and both to the source.
func TestPromoteForkOfFork(t *testing.T) {
	t.Parallel()
	c, f := newForkedTalk(t)
	result, err := c.local.Fork(t.Context(), missions.ForkRequest{Caller: c.caller(), From: "other", Name: "third"})
	if err != nil {
		t.Fatal(err)
	}
	third := *c.testBench
	third.dir = result.Missions[0].Workspace
	third.write("third.txt", "third\n")
	if r := c.promoted("third", func(r *missions.PromoteRequest) { r.FilesOnly = true }); !r.Done || f.read("third.txt") != "third\n" || c.read("third.txt") != "(none)" {
		t.Errorf("to the fork: %+v", r)
	}
	if r := c.promoted("other"); !r.Done || c.read("third.txt") != "third\n" || c.read("new/b.txt") != "new\n" {
		t.Errorf("to the source: %+v", r)
	}
	c.healthy()
}

// TestPromotePlain promotes between plain directories, of a plain command.
func TestPromotePlain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	b.mission("work")
	fork := b.fork("child")
	there := *b
	there.dir = fork.Workspace
	there.write("a.txt", "two\n")
	if err := os.Mkdir(filepath.Join(there.dir, "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	r := b.promoted("child")
	if !r.Done || b.read("a.txt") != "two\n" || !b.exists("empty") || r.Branch != "" || len(r.Commits) > 0 {
		t.Errorf("promoted: %+v", r)
	}
	_, err := b.promote("child", func(r *missions.PromoteRequest) { r.Commits = true })
	b.fails("--commits without a repository", err, missions.KindConflict)
	b.healthy()
}

// commit is the id of a commit of the user's repository.
func (b *testBench) commit(rev string) string {
	b.Helper()
	return strings.TrimSpace(b.git("rev-parse", rev))
}

// TestPromoteCommits names the fork's commits, and moves the parent's branch to them if
// that is asked for and can be done.
func TestPromoteCommits(t *testing.T) {
	t.Parallel()
	c, f := newForkedTalk(t)
	first := c.commit("HEAD")
	f.git("add", "a.txt")
	f.git("commit", "-q", "-m", "of the fork")
	tip := f.commit("HEAD")
	r := c.promoted("other", func(r *missions.PromoteRequest) { r.FilesOnly = true })
	if len(r.Commits) != 1 || r.Commits[0].ID != tip || r.Commits[0].Subject != "of the fork" || r.Branch != "umbra/other" || r.MovedBranch != "" || c.commit("HEAD") != first {
		t.Errorf("promoted: %+v; HEAD is %s", r, c.commit("HEAD"))
	}
	r = c.promoted("other", func(r *missions.PromoteRequest) { r.FilesOnly, r.Commits = true, true })
	if r.MovedBranch != "main" || c.commit("main") != tip || c.git("symbolic-ref", "HEAD") != "refs/heads/main\n" {
		t.Errorf("--commits: %+v", r)
	}
	if status := c.git("status", "--porcelain", "a.txt"); status != "" {
		t.Errorf("git status: %q", status)
	}
	c.write("staged.txt", "staged\n")
	c.git("add", "staged.txt")
	f.git("commit", "-q", "--allow-empty", "-m", "more")
	if r = c.promoted("other", func(r *missions.PromoteRequest) { r.FilesOnly, r.Commits = true, true }); r.MovedBranch != "main" || c.git("status", "--porcelain", "staged.txt") != "A  staged.txt\n" {
		t.Errorf("--commits with something staged: %+v, %q", r, c.git("status", "--porcelain"))
	}
	f.git("commit", "-q", "--allow-empty", "-m", "and more")
	c.git("commit", "-q", "--allow-empty", "-m", "of the parent")
	at := c.commit("HEAD")
	f.write("late.txt", "late\n")
	_, err := c.promote("other", func(r *missions.PromoteRequest) { r.Commits = true })
	c.fails("--commits beside commits of the parent", err, missions.KindConflict)
	if c.read("late.txt") != "(none)" || c.commit("HEAD") != at {
		t.Error("it changed something all the same")
	}
	c.healthy()
}

// TestPromoteRefused holds what can't be promoted against what is said.
func TestPromoteRefused(t *testing.T) {
	t.Parallel()
	c, f := newForkedTalk(t)
	refused := func(what string, kind missions.Kind, says string, change ...func(*missions.PromoteRequest)) {
		t.Helper()
		_, err := c.promote(what, change...)
		if e := missions.AsError(err); err == nil || e.Kind != kind || !strings.Contains(e.Message+e.Hint, says) {
			t.Errorf("promote %s: %v, %s (%s); want %s with %q", what, kindOf(err), err, missions.AsError(err).Hint, kind, says)
		}
	}
	refused("nobody", missions.KindNotFound, "nobody")
	refused(c.mission, missions.KindNotFound, "its forks: other")
	refused("other", missions.KindUsage, "contradict", func(r *missions.PromoteRequest) { r.FilesOnly, r.ConversationOnly = true, true })
	refused("other", missions.KindUsage, "contradict", func(r *missions.PromoteRequest) { r.Commits, r.WhenIdle = true, true })
	f.hook("UserPromptSubmit", map[string]any{"prompt": "work", "prompt_id": "22222222-0000-4000-8000-000000000001"})
	refused("other", missions.KindBusy, "umbra mission wait other")
	f.hook("Stop", map[string]any{"prompt_id": "22222222-0000-4000-8000-000000000001", "last_assistant_message": "done"})
	c.hook("UserPromptSubmit", map[string]any{"prompt": "work", "prompt_id": "33333333-0000-4000-8000-000000000001"})
	refused("other", missions.KindBusy, "--when-idle")
	if r := c.promoted("other", func(r *missions.PromoteRequest) { r.WhenIdle = true }); !r.Queued || r.Done {
		t.Errorf("--when-idle: %+v", r)
	}
	c.hook("Stop", map[string]any{"prompt_id": "33333333-0000-4000-8000-000000000001", "last_assistant_message": "done"})
	if c.read("new/b.txt") != "new\n" {
		t.Error("it was not promoted at the end of the turn")
	}
	if _, err := c.local.Remove(t.Context(), missions.RemoveRequest{Caller: c.caller(), Missions: []string{c.mission}, Force: true}); err != nil {
		t.Fatal(err)
	}
	refused("other", missions.KindNotFound, "umbra trash restore")
	c.healthy()
}

// TestPromoteLostWorkspace: a fork whose directory is gone comes home as its newest
// snapshot has it.
func TestPromoteLostWorkspace(t *testing.T) {
	t.Parallel()
	c, f := newForkedTalk(t)
	if _, err := c.local.Snapshot(t.Context(), missions.SnapshotRequest{Caller: c.caller(), Mission: "other"}); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(f.dir); err != nil {
		t.Fatal(err)
	}
	if r := c.promoted("other"); !r.Done || c.read("new/b.txt") != "new\n" || c.read("gone.txt") != "(none)" {
		t.Errorf("promoted: %+v", r)
	}
	if talk, _ := c.conversation(c.mission); len(talk.Turns) != 2 {
		t.Errorf("the conversation is %+v", talk)
	}
}

// TestPromoteBeneathAgent promotes beneath a live agent, which is there again on the
// fork's conversation.
func TestPromoteBeneathAgent(t *testing.T) {
	t.Parallel()
	k := newKeptAgent(t)
	f := k.forkTalker("other")
	f.takeTurn("try it", "b.txt", "b\n")
	done := k.keeps()
	r := k.promoted("other")
	if !r.Done || r.Handover == nil || r.Handover.How != "relaunched" || k.read("b.txt") != "b\n" {
		t.Errorf("promoted: %+v", r)
	}
	next := <-done
	if next.Do != missions.DoRelaunch || !strings.Contains(next.Banner, "promote other; ") {
		t.Errorf("next is %+v", next)
	}
	if talk, _ := k.conversation(k.id); len(talk.Turns) != 3 || talk.Turns[2].Prompt != "try it" || talk.Cwd != k.dir {
		t.Errorf("the conversation is %+v", talk)
	}
	told := k.hook("UserPromptSubmit", map[string]any{"prompt": "go on", "session_id": k.state().Stored.Session, "transcript_path": k.state().Binding.SessionPath})
	if !strings.Contains(string(told.Output), "what mission other did is mission live's now") {
		t.Errorf("the agent is told %q", told.Output)
	}
	k.healthy()
}
