package local

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// startSealed is a remote that all is encrypted for, with a key that was made for it.
func startSealed(t *testing.T) *remoteScene {
	t.Helper()
	c := &remoteScene{talker: startTalker(t), url: filepath.Join(t.TempDir(), "remote.git")}
	c.git("init", "-q", "--bare", c.url)
	if r, err := c.addSealed(c.testBench, "office", c.keyFile()); err != nil || !r.KeyMade {
		t.Fatalf("added: %+v %v", r, err)
	}
	return c
}

func (c *remoteScene) keyFile() string { return filepath.Join(c.user, "umbra.key") }

func (c *remoteScene) addSealed(b *testBench, name, key string) (missions.Remote, error) {
	return b.local.AddRemote(context.Background(), missions.AddRemoteRequest{Caller: b.caller(), Name: name, URL: c.url, KeyFile: key})
}

// otherSealed is another user, who has the remote with that key.
func (c *remoteScene) otherSealed(name, key string) *testBench {
	c.Helper()
	b := newBench(c.T)
	b.local.Adapters = projects.Agents()
	if _, err := c.addSealed(b, name, key); err != nil {
		c.Fatal(err)
	}
	return b
}

// TestEncryptedRemote: a remote has one ref and nothing that can be read, not even a name; who
// has the key reads and forks all of it, and pushes there too.
func TestEncryptedRemote(t *testing.T) {
	t.Parallel()
	c := startSealed(t)
	words := append(c.saysAll(), "a.txt", "bundle", "refs/umbra/work/agents")
	source := c.only()
	c.wants(c.push(), source.Name, missions.TransferNew)
	c.wants(c.push(), source.Name, missions.TransferSame)
	c.heardNone(c.url, append(words, source.ID))
	c.fsck(c.url)
	if refs := c.remoteGit("for-each-ref", "--format=%(refname)"); refs != "refs/umbra/work/sealed" {
		t.Errorf("refs there: %s", refs)
	}
	if n := c.remoteGit("rev-list", "--count", "--all"); n != "1" {
		t.Errorf("%s pushes, want one", n)
	}

	b := c.otherSealed("work", c.keyFile())
	theirs := "work/" + source.Name
	c.wants(b.fetch(), theirs, missions.TransferNew)
	c.wants(b.fetch(), theirs, missions.TransferSame)
	if text, err := b.local.Cat(t.Context(), missions.CatRequest{Caller: b.caller(), Moment: theirs + "@1", Path: "a.txt"}); err != nil || string(text) != "one\n" {
		t.Errorf("cat: %q %v", text, err)
	}
	made, err := b.local.Fork(t.Context(), missions.ForkRequest{Caller: b.caller(), From: theirs, Name: "child"})
	if err != nil {
		t.Fatal(err)
	}
	if said, err := os.ReadFile(made.Missions[0].SessionPath); err != nil || !strings.Contains(string(said), "giraffe") && !strings.Contains(string(said), "zebra") {
		t.Errorf("conversation of the fork: %v\n%s", err, said)
	}
	c.wants(b.push(), "child", missions.TransferNew) // of a snapshot that is there
	c.wants(c.fetch(), "office/child", missions.TransferNew)
	c.takeTurn("zebraprompt ends", "c.txt", "three\n")
	c.wants(c.push(), source.Name, missions.TransferUpdated)
	c.wants(b.fetch(), theirs, missions.TransferUpdated)
	if text, err := b.local.Cat(t.Context(), missions.CatRequest{Caller: b.caller(), Moment: theirs, Path: "c.txt"}); err != nil || string(text) != "three\n" {
		t.Errorf("cat: %q %v", text, err)
	}
	c.heardNone(c.url, append(words, source.ID))
	c.fsck(c.url)
	c.fsck(source.ShadowRepo)
	d := c.otherSealed("late", c.keyFile())
	if got := states(d.fetch()); len(got) != 2 {
		t.Errorf("fetched late: %v", got)
	}
	for _, b := range []*testBench{c.testBench, b, d} {
		b.healthy()
	}
}

// TestEncryptedRemoteInDoubt: without the key, or where what is there can't be read or was put
// back, nothing is sent, overwritten or taken over, and nobody pushes in clear by mistake.
func TestEncryptedRemoteInDoubt(t *testing.T) {
	t.Parallel()
	c := startSealed(t)
	c.testBench.mission("work")
	c.numbered(1, 1)
	c.push()
	before := c.remoteGit("for-each-ref")
	both := func(what string, b *testBench, kind missions.Kind, says string) {
		t.Helper()
		at := c.remoteGit("for-each-ref")
		_, pushed := b.local.Push(t.Context(), missions.PushRequest{Caller: b.caller()})
		_, fetched := b.local.Fetch(t.Context(), missions.FetchRequest{Caller: b.caller()})
		for verb, err := range map[string]error{"push": pushed, "fetch": fetched} {
			if kindOf(err) != kind || !strings.Contains(err.Error(), says) {
				t.Errorf("%s %s: %v", verb, what, err)
			}
		}
		if now := c.remoteGit("for-each-ref"); now != at {
			t.Errorf("%s: the remote had %s, and has %s", what, at, now)
		}
	}
	other := c.otherSealed("work", filepath.Join(t.TempDir(), "another.key"))
	other.mission("mine")
	both("with another key", other, missions.KindConflict, "another key")
	clear := c.other("work")
	clear.mission("mine")
	both("in clear", clear, missions.KindConflict, "encrypted")
	if _, err := c.addSealed(c.testBench, "inside", filepath.Join(c.dir, "key")); kindOf(err) != missions.KindUsage {
		t.Errorf("a key in the workspace: %v", err)
	}
	if _, err := c.addSealed(c.testBench, "office", ""); kindOf(err) != missions.KindConflict {
		t.Errorf("added again without a key: %v", err)
	}

	key, err := os.ReadFile(c.keyFile())
	if err != nil {
		t.Fatal(err)
	}
	for says, text := range map[string]string{"is not there": "", "no file of age identities": "none\n"} {
		kind := missions.KindUsage
		if err := os.WriteFile(c.keyFile(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if text == "" {
			kind = missions.KindNotFound
			if err := os.Remove(c.keyFile()); err != nil {
				t.Fatal(err)
			}
		}
		both("with a key that "+says, c.testBench, kind, says)
		if err := os.WriteFile(c.keyFile(), key, 0o600); err != nil {
			t.Fatal(err)
		}
	}

	b := c.otherSealed("late", c.keyFile())
	b.fetch()
	c.numbered(10, 1)
	c.remoteGit("config", "receive.denyNonFastForwards", "true")
	c.git("-C", c.url, "update-ref", "refs/umbra/work/sealed", c.junk("no age file"))
	both("with garbage", b, missions.KindDamaged, "can't be read")
	c.git("-C", c.url, "update-ref", "refs/umbra/work/sealed", c.remoteGit("commit-tree", "-m", "x", c.remoteGit("mktree")))
	both("with another chain", b, missions.KindConflict, "put an older state back")
	c.git("-C", c.url, "update-ref", "refs/umbra/work/sealed", strings.Fields(before)[0])
	c.wants(c.push(), "work", missions.TransferUpdated)
	two := c.remoteGit("rev-parse", "refs/umbra/work/sealed")
	c.git("-C", c.url, "update-ref", "refs/umbra/work/sealed", c.remoteGit("commit-tree", "-m", "x", "-p", two, two+"^^{tree}"))
	both("with an older push behind others", c.otherSealed("later", c.keyFile()), missions.KindDamaged, "put behind others")
	c.git("-C", c.url, "update-ref", "-d", "refs/umbra/work/sealed")
	both("with nothing any more", c.testBench, missions.KindConflict, "put an older state back")
	c.git("-C", c.url, "update-ref", "refs/umbra/work/sealed", two)
	c.git("-C", c.url, "update-ref", "refs/umbra/work/agents/0c9c58c3-4a4e-4e6f-8a80-4d4c2b1f0a11", two)
	both("beside missions in clear", c.testBench, missions.KindConflict, "anybody reads there")
	c.git("-C", c.url, "update-ref", "-d", "refs/umbra/work/agents/0c9c58c3-4a4e-4e6f-8a80-4d4c2b1f0a11")
	c.healthy()
}

// junk is a link of the chain with a file that nobody has sealed.
func (c *remoteScene) junk(text string) string {
	c.Helper()
	file := filepath.Join(c.T.TempDir(), "junk")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		c.Fatal(err)
	}
	index := file + ".index"
	sh := "cd " + c.url + " && export GIT_INDEX_FILE=" + index + " && git update-index --add --cacheinfo 100644,$(git hash-object -w " + file + "),file && " +
		"git commit-tree -m x -p refs/umbra/work/sealed $(git write-tree)"
	return strings.TrimSpace(c.git("-c", "alias.sh=!"+sh, "sh"))
}

// TestEncryptedAndPruned: what was pruned since the last push is no hindrance for the next one;
// a mission that nobody could read whole is left, and the others are sent.
func TestEncryptedAndPruned(t *testing.T) {
	t.Parallel()
	c := startSealed(t)
	m := c.testBench.mission("work")
	c.numbered(1, 3)
	c.push()
	b := c.otherSealed("work", c.keyFile())
	b.fetch()
	c.numbered(10, 4)
	if r := c.pruned(1); r.Pruned() == 0 {
		t.Fatalf("nothing was pruned: %+v", r)
	}
	c.wants(c.push(), "work", missions.TransferUpdated)
	c.wants(b.fetch(), "work/work", missions.TransferUpdated)
	c.git("init", "-q", "--bare", c.url+".empty")
	c.putBack(".empty")
	if _, err := c.local.Push(t.Context(), missions.PushRequest{Caller: c.caller(), Remote: "office"}); missions.AsError(err).Kind != missions.KindConflict {
		t.Errorf("an empty one in its place: %v", err)
	}
	again := missions.AddRemoteRequest{Caller: c.caller(), Name: "office", URL: c.url, KeyFile: c.keyFile()}
	if _, err := c.local.RemoveRemote(t.Context(), missions.RemoteRequest{Caller: c.caller(), Name: "office"}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.local.AddRemote(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	r := c.push()
	c.wants(r, "work", missions.TransferRejected)
	if len(r.Missions) == 1 && !strings.Contains(r.Missions[0].Reason, "pruned") {
		t.Errorf("%+v", r)
	}
	add := missions.AddRemoteRequest{Caller: c.caller(), Name: "files", URL: c.url, Project: "files", KeyFile: c.keyFile(), NoSessions: true}
	if _, err := c.local.AddRemote(t.Context(), add); err != nil {
		t.Fatal(err)
	}
	hook := filepath.Join(c.url, "hooks", "pre-receive")
	if err := os.WriteFile(hook, []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	push := func(want missions.TransferState) {
		t.Helper()
		r, err := c.local.Push(t.Context(), missions.PushRequest{Caller: c.caller(), Remote: "files"})
		if err != nil || states(r)["work"] != want {
			t.Errorf("pushed: %+v %v, want %s", r, err, want)
		}
	}
	push(missions.TransferRejected) // as where somebody else has pushed meanwhile
	if err := os.Remove(hook); err != nil {
		t.Fatal(err)
	}
	push(missions.TransferNew)
	push(missions.TransferSame)
	c.numbered(20, 1)
	push(missions.TransferUpdated)
	d := newBench(t)
	add.Caller, add.Name = d.caller(), "work"
	if _, err := d.local.AddRemote(t.Context(), add); err != nil {
		t.Fatal(err)
	}
	c.wants(d.fetch(), "work/work", missions.TransferNew)
	c.fscked(m)
	b.healthy()
	d.healthy()
}
