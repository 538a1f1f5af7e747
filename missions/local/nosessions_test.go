package local

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// startSecretive is a remote that no conversation is to leave for.
func startSecretive(t *testing.T) *remoteScene {
	t.Helper()
	c := &remoteScene{talker: startTalker(t), url: filepath.Join(t.TempDir(), "remote.git")}
	c.git("init", "-q", "--bare", c.url)
	c.addSecretive()
	return c
}

func (c *remoteScene) addSecretive() {
	c.Helper()
	if _, err := c.local.AddRemote(context.Background(), missions.AddRemoteRequest{Caller: c.caller(), Name: "office", URL: c.url, NoSessions: true}); err != nil {
		c.Fatal(err)
	}
}

// saysAll is a session with a word of its own in all that is said and run.
func (c *remoteScene) saysAll() (words []string) {
	c.Helper()
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("zebraprompt begins", "a.txt", "one\n")
	c.hook("UserPromptSubmit", map[string]any{"prompt": "giraffeprompt goes on", "prompt_id": "p2"})
	c.say(c.line("assistant", "88888888-0000-4000-8000-000000000001", c.parent, `[{"type":"text","text":"hippoanswer"}]`))
	call := map[string]any{"tool_name": "Bash", "tool_use_id": "t2", "tool_input": map[string]any{"command": "make lioncommand", "description": "Build the tigerdescription"}}
	c.hook("PreToolUse", call)
	c.write("b.txt", "two\n")
	c.hook("PostToolUse", call)
	c.hook("Stop", map[string]any{"prompt_id": "p2", "last_assistant_message": "hippoanswer"})
	return []string{"zebra", "giraffe", "hippo", "lioncommand", "tiger", "okapi", "panda", "toolu_", c.session, c.user}
}

// heard are all bytes of what a repository has, by Git itself.
func (c *remoteScene) heard(repository string) string {
	c.Helper()
	return c.git("-C", repository, "cat-file", "--batch-all-objects", "--batch") + c.git("-C", repository, "for-each-ref")
}

// heardNone fails if a repository has a word, or names a commit of this home.
func (c *remoteScene) heardNone(repository string, words []string) {
	c.Helper()
	text := c.heard(repository)
	own, err := filepath.Glob(filepath.Join(c.home, "projects", "*", "shadow.git"))
	if err != nil || len(own) != 1 {
		c.Fatal(own, err)
	}
	for _, word := range append(words, strings.Fields(c.git("-C", own[0], "log", "--all", "--format=%H"))...) {
		if at := strings.Index(text, word); at >= 0 {
			c.Errorf("%q has left: %q", word, text[max(0, at-200):min(len(text), at+100)])
		}
	}
}

// TestNoConversationLeaves: of a remote without conversations others have the files of each
// snapshot, read and fork them, and no word that was said or run, now or later.
func TestNoConversationLeaves(t *testing.T) {
	t.Parallel()
	c := startSecretive(t)
	c.git("init", "-q", "-b", "okapi-branch")
	words := c.saysAll()
	source := c.only()
	if !strings.Contains(source.Name, "zebra") {
		t.Fatalf("its name is not made of its prompt: %s", source.Name)
	}
	if text := c.heard(source.ShadowRepo); !strings.Contains(text, "hippoanswer") || !strings.Contains(text, "lioncommand") || !strings.Contains(text, "okapi") {
		t.Fatal("what is looked for was not said")
	}
	made, err := c.local.Fork(t.Context(), missions.ForkRequest{Caller: c.caller(), From: source.Name + "@1", Prompt: "write the pandaprompt"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.local.Restore(t.Context(), missions.RestoreRequest{Caller: c.caller(), Moment: source.Name + "@1", Force: true}); err != nil {
		t.Fatal(err)
	}
	if r := c.push(); !r.IsWhole() || !r.NoSessions || len(r.Missions) != 2 {
		t.Fatalf("pushed: %+v", r)
	}
	c.heardNone(c.url, words)
	c.fsck(c.url)
	if r := c.push(); len(r.Missions) != 2 || states(r)[source.Name] != missions.TransferSame {
		t.Errorf("pushed again: %+v", r)
	}
	if r := c.fetch(); len(r.Missions) > 0 {
		t.Errorf("its own missions were fetched: %+v", r)
	}

	b := c.other("work")
	theirs, fork := "work/claude-"+source.ID[:8], "work/claude-"+made.Missions[0].ID[:8]
	if got := states(b.fetch()); len(got) != 2 || got[theirs] != missions.TransferNew || got[fork] != missions.TransferNew {
		t.Fatalf("fetched: %v", got)
	}
	log, err := b.local.Log(t.Context(), missions.LogRequest{Caller: b.caller(), Mission: theirs})
	if err != nil || len(log) < 5 || log[1].Address == "" {
		t.Errorf("log: %+v %v", log, err)
	}
	for _, e := range log {
		if _, err := b.local.Show(t.Context(), missions.ShowRequest{Caller: b.caller(), Moment: e.Address}); err != nil {
			t.Errorf("show %s: %v", e.Address, err)
		}
	}
	if text, err := b.local.Cat(t.Context(), missions.CatRequest{Caller: b.caller(), Moment: theirs + "@2", Path: "b.txt"}); err != nil || string(text) != "two\n" {
		t.Errorf("cat: %q %v", text, err)
	}
	view, err := b.local.Mission(t.Context(), missions.MissionRequest{Caller: b.caller(), Name: theirs})
	if err != nil || !strings.Contains(strings.Join(view.Notes, "\n"), "left out") {
		t.Errorf("shown: %+v %v", view, err)
	}
	again, err := b.local.Fork(t.Context(), missions.ForkRequest{Caller: b.caller(), From: theirs + "@2"})
	if err != nil {
		t.Fatal(err)
	}
	goes := again.Missions[0]
	if text, err := os.ReadFile(filepath.Join(goes.Workspace, "b.txt")); err != nil || string(text) != "two\n" || goes.SessionPath != "" {
		t.Errorf("fork: %q %v, session %q", text, err, goes.SessionPath)
	}
	if notes := strings.Join(again.Notes, "\n"); !strings.Contains(notes, "the conversation was left out") {
		t.Errorf("the fork does not say so: %s", notes)
	}
	stored, err := b.local.MissionByID(goes.ID)
	if err != nil || stored.ConversationLeftOut {
		t.Errorf("what the fork says itself: %v %v", stored, err)
	}

	c.takeTurn("zebraprompt ends", "c.txt", "three\n")
	if _, err := c.local.Rename(t.Context(), missions.RenameRequest{Caller: c.caller(), Mission: source.Name, Name: "typed"}); err != nil {
		t.Fatal(err)
	}
	if r := c.push("typed"); states(r)["typed"] != missions.TransferUpdated {
		t.Errorf("pushed later: %+v", r)
	}
	c.heardNone(c.url, words)
	c.fsck(c.url)
	if got := states(b.fetch()); got["work/typed"] != missions.TransferUpdated {
		t.Errorf("fetched later: %v", got)
	}
	if text, err := b.local.Cat(t.Context(), missions.CatRequest{Caller: b.caller(), Moment: "work/typed", Path: "c.txt"}); err != nil || string(text) != "three\n" {
		t.Errorf("cat: %q %v", text, err)
	}
	c.healthy()
	b.healthy()
}

// TestConversationsStayLeftOut: whether conversations leave is the remote's, and no command
// changes that in passing.
func TestConversationsStayLeftOut(t *testing.T) {
	t.Parallel()
	c := startSecretive(t)
	words := c.saysAll()
	_, err := c.local.AddRemote(t.Context(), missions.AddRemoteRequest{Caller: c.caller(), Name: "office", URL: c.url})
	c.fails("added with conversations", err, missions.KindConflict)
	c.addSecretive()
	list, err := c.local.Remotes(t.Context(), missions.RemoteRequest{Caller: c.caller()})
	if err != nil || len(list) != 1 || !list[0].NoSessions {
		t.Errorf("listed: %+v %v", list, err)
	}
	if _, err := c.local.Push(t.Context(), missions.PushRequest{Caller: c.caller(), Auto: missions.AutomaticOn}); err != nil {
		t.Fatal(err)
	}
	c.takeTurn("zebraprompt ends", "c.txt", "three\n")
	c.local.StartDaily(func(dir string) error {
		_, err := c.local.HousekeepWhenQuiet(t.Context(), dir, time.Millisecond)
		return err
	})
	if out := c.remoteGit("log", "--all", "--name-only", "--format="); !strings.Contains(out, "c.txt") {
		t.Errorf("nothing was pushed by itself: %s", out)
	}
	c.heardNone(c.url, words)
	c.removeRemote(c.testBench)
	c.addRemote(c.testBench, "office")
	c.wants(c.push(), c.only().Name, missions.TransferDiverged) // a whole one goes nowhere that has an excerpt
	c.heardNone(c.url, words)
}

// TestPrunedWithoutConversations: what was pruned since the last push is no hindrance for the
// next, nor for a remote that is empty again or was put back; and what is remembered of pushes
// is needed only after a prune.
func TestPrunedWithoutConversations(t *testing.T) {
	t.Parallel()
	c := startSecretive(t)
	m := c.testBench.mission("work")
	c.numbered(1, 3)
	c.push()
	c.git("clone", "-q", "--mirror", c.url, c.url+".before")
	c.numbered(10, 1)
	c.wants(c.push(), "work", missions.TransferUpdated)
	c.putBack(".before")
	c.wants(c.push(), "work", missions.TransferUpdated)
	c.removeRemote(c.testBench)
	c.addSecretive()
	c.wants(c.push(), "work", missions.TransferSame)
	c.numbered(20, 3)
	if r := c.pruned(1); r.Pruned() == 0 {
		t.Fatalf("nothing was pruned: %+v", r)
	}
	c.numbered(30, 1)
	c.wants(c.push(), "work", missions.TransferUpdated)
	c.fsck(c.url)
	b := c.other("work")
	c.wants(b.fetch(), "work/work", missions.TransferNew)
	c.git("init", "-q", "--bare", c.url+".empty")
	c.putBack(".empty")
	c.wants(c.push(), "work", missions.TransferNew)
	c.numbered(40, 1)
	c.wants(c.push(), "work", missions.TransferUpdated)
	c.fsck(c.url)
	c.fscked(m)
	b.healthy()
}

// putBack has another repository be the remote.
func (c *remoteScene) putBack(suffix string) {
	c.Helper()
	if err := os.RemoveAll(c.url); err != nil {
		c.Fatal(err)
	}
	if err := os.Rename(c.url+suffix, c.url); err != nil {
		c.Fatal(err)
	}
}

// TestExportWithoutConversations: a file has no word either, and secrets are looked for in what
// is in it alone.
func TestExportWithoutConversations(t *testing.T) {
	t.Parallel()
	c := startSecretive(t)
	words := c.saysAll()
	drawn := "9aKc3Zp7Qw1Xr5Tn8Yb2Lm6Vd4Hs0Jf"
	c.takeTurn("it printed sk-ant-"+drawn, "c.txt", "three\n")
	source := c.only()
	file := filepath.Join(t.TempDir(), "mail.umbra")
	request := missions.ExportRequest{Caller: c.caller(), Moments: []string{source.Name}, File: file}
	if r, err := c.local.Export(t.Context(), request); err != nil || r.IsWhole() {
		t.Errorf("the secret was not found: %+v %v", r, err)
	}
	request.NoSessions = true
	if r, err := c.local.Export(t.Context(), request); err != nil || !r.IsWhole() || !r.NoSessions {
		t.Fatalf("exported: %+v %v", r, err)
	}
	copied := filepath.Join(t.TempDir(), "copied.git")
	c.git("clone", "-q", "--mirror", file, copied)
	c.heardNone(copied, append(words, drawn))
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	if _, err := b.local.ImportFile(t.Context(), missions.ImportFileRequest{Caller: b.caller(), File: file}); err != nil {
		t.Fatal(err)
	}
	name := "mail/claude-" + source.ID[:8]
	if text, err := b.local.Cat(t.Context(), missions.CatRequest{Caller: b.caller(), Moment: name, Path: "c.txt"}); err != nil || string(text) != "three\n" {
		t.Errorf("cat: %q %v", text, err)
	}
	c.takeTurn("and then", "d.txt", "token ghp_"+drawn+"Ge3Uq\n")
	r, err := c.local.Export(t.Context(), request)
	if err != nil || len(r.Findings) != 1 || r.Findings[0].Path != "d.txt" || r.Findings[0].Moment != source.Name+"@4" {
		t.Errorf("a secret in a file: %+v %v", r, err)
	}
	b.healthy()
}
