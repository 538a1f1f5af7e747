package local

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/records"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/projects"
)

// remoteScene is a remote in a directory, and a user who pushes to it.
type remoteScene struct {
	*talker
	url string
}

func startRemote(t *testing.T) *remoteScene {
	t.Helper()
	c := &remoteScene{talker: startTalker(t), url: filepath.Join(t.TempDir(), "remote.git")}
	c.git("init", "-q", "--bare", c.url)
	c.addRemote(c.testBench, "office")
	return c
}

func (c *remoteScene) addRemote(b *testBench, name string) {
	c.Helper()
	if _, err := b.local.AddRemote(context.Background(), missions.AddRemoteRequest{Caller: b.caller(), Name: name, URL: c.url}); err != nil {
		c.Fatal(err)
	}
}

// other is another user, with another home and workspace, who has the remote too.
func (c *remoteScene) other(name string) *testBench {
	c.Helper()
	b := newBench(c.T)
	b.local.Adapters = projects.Agents()
	c.addRemote(b, name)
	return b
}

func (c *remoteScene) remoteGit(args ...string) string {
	c.Helper()
	return strings.TrimSpace(c.git(append([]string{"-C", c.url}, args...)...))
}

func (b *testBench) push(names ...string) missions.Transfer {
	b.Helper()
	r, err := b.local.Push(context.Background(), missions.PushRequest{Caller: b.caller(), Missions: names})
	if err != nil {
		b.Fatal(err)
	}
	return r
}

func (b *testBench) fetch() missions.Transfer {
	b.Helper()
	r, err := b.local.Fetch(context.Background(), missions.FetchRequest{Caller: b.caller()})
	if err != nil {
		b.Fatal(err)
	}
	return r
}

// states are what became of missions, by their names.
func states(r missions.Transfer) map[string]missions.TransferState {
	all := map[string]missions.TransferState{}
	for _, m := range r.Missions {
		all[m.Mission] = m.State
	}
	return all
}

// wants checks what became of the only mission of a transfer.
func (c *remoteScene) wants(r missions.Transfer, mission string, state missions.TransferState) {
	c.Helper()
	if got := states(r); len(got) != 1 || got[mission] != state {
		c.Errorf("transfer: %+v, want %s: %s", r, mission, state)
	}
}

// fsck proves a repository with Git itself.
func (c *remoteScene) fsck(dir string) {
	c.Helper()
	if out, err := exec.Command("git", "-C", dir, "fsck", "--full", "--strict").CombinedOutput(); err != nil {
		c.Errorf("git fsck of %s: %v\n%s", dir, err, out)
	}
}

// TestFetchedMissionGoesOnElsewhere: what one user has pushed another reads and forks, with
// files and conversation, and pushes the fork; nothing of the first user's is changed.
func TestFetchedMissionGoesOnElsewhere(t *testing.T) {
	t.Parallel()
	c := startRemote(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "one\n")
	c.takeTurn("second", "b.txt", "two\n")
	source := c.only()
	if r := c.push(); len(r.Missions) != 1 || r.Missions[0].State != missions.TransferNew || r.Missions[0].Objects < 4 || r.Missions[0].Bytes == 0 {
		t.Errorf("pushed: %+v", r)
	}
	c.wants(c.push(), source.Name, missions.TransferSame)
	c.fsck(c.url)

	b := c.other("work")
	theirs := "work/" + source.Name
	c.wants(b.fetch(), theirs, missions.TransferNew)
	c.wants(b.fetch(), theirs, missions.TransferSame)
	list, err := b.local.Missions(context.Background(), missions.MissionsRequest{Caller: b.caller(), Fetched: true})
	if err != nil || len(list) != 1 || list[0].Name != theirs || list[0].Remote != "work" || list[0].Workspace != "" {
		t.Errorf("listed: %+v %v", list, err)
	}
	log, err := b.local.Log(context.Background(), missions.LogRequest{Caller: b.caller(), Mission: theirs})
	if err != nil || len(log) < 3 || log[0].Address != theirs+"@2" {
		t.Errorf("log: %+v %v", log, err)
	}
	text, err := b.local.Cat(context.Background(), missions.CatRequest{Caller: b.caller(), Moment: theirs + "@1", Path: "a.txt"})
	if err != nil || string(text) != "one\n" {
		t.Errorf("cat: %q %v", text, err)
	}
	if _, err := b.local.Show(context.Background(), missions.ShowRequest{Caller: b.caller(), Moment: theirs + "@2"}); err != nil {
		t.Error(err)
	}
	for what, err := range map[string]error{
		"restored": second(b.local.Restore(context.Background(), missions.RestoreRequest{Caller: b.caller(), Moment: theirs + "@1"})),
		"removed":  second(b.local.Remove(context.Background(), missions.RemoveRequest{Caller: b.caller(), Missions: []string{theirs}})),
		"renamed":  second(b.local.Rename(context.Background(), missions.RenameRequest{Caller: b.caller(), Mission: theirs, Name: "mine"})),
		"pinned":   second(b.local.Pin(context.Background(), missions.PinRequest{Caller: b.caller(), Moment: theirs, Name: "mine"})),
	} {
		if kindOf(err) != missions.KindConflict || !strings.Contains(err.Error(), "was fetched") {
			t.Errorf("%s: %v", what, err)
		}
	}

	made, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: theirs})
	if err != nil {
		t.Fatal(err)
	}
	fork := made.Missions[0]
	if fork.Name != source.Name || len(fork.Command) != 1 || fork.Command[0] != "claude" || fork.ID == source.ID {
		t.Errorf("fork: %+v", fork)
	}
	for name, want := range map[string]string{"a.txt": "one\n", "b.txt": "two\n"} {
		if got, err := os.ReadFile(filepath.Join(fork.Workspace, name)); err != nil || string(got) != want {
			t.Errorf("%s of the fork: %q %v", name, got, err)
		}
	}
	said, err := os.ReadFile(fork.SessionPath)
	if err != nil || !strings.HasPrefix(fork.SessionPath, b.user) || !strings.Contains(string(said), "second") ||
		!strings.Contains(string(said), fork.Workspace+"/b.txt") || strings.Contains(string(said), c.dir+"/b.txt") {
		t.Errorf("conversation of the fork in %s: %v\n%s", fork.SessionPath, err, said)
	}
	if !b.push().IsWhole() {
		t.Error("the fork was not pushed")
	}
	c.wants(c.fetch(), "office/"+fork.Name, missions.TransferNew)
	c.takeTurn("third", "a.txt", "three\n")
	c.wants(c.push(), source.Name, missions.TransferUpdated)
	c.wants(b.fetch(), theirs, missions.TransferUpdated)
	c.fsck(source.ShadowRepo)
	c.fsck(fork.ShadowRepo)
	c.fsck(c.url)
	c.healthy()
	b.healthy()
}

func second[T any](_ T, err error) error { return err }

// TestPushOverwritesNothing: where the remote has what is not here, it stays, and is said;
// what no Umbra has written there stays too.
func TestPushOverwritesNothing(t *testing.T) {
	t.Parallel()
	c := startRemote(t)
	c.testBench.mission("work")
	c.write("a.txt", "one\n")
	c.snapshot("one")
	m := c.only()
	c.push()
	tree := c.remoteGit("write-tree")
	strange := c.remoteGit("commit-tree", "-m", "strange", tree)
	ours := "refs/umbra/work/agents/" + m.ID
	other := "refs/umbra/work/agents/11111111-1111-4111-8111-111111111111"
	c.remoteGit("update-ref", ours, strange)
	c.remoteGit("update-ref", "refs/umbra/work/agents/nonsense", strange)
	c.remoteGit("update-ref", other, strange)
	c.remoteGit("update-ref", strings.Replace(other, "agents", "records", 1), strange)
	c.write("a.txt", "two\n")
	c.snapshot("two")
	r := c.push()
	c.wants(r, "work", missions.TransferDiverged)
	if len(r.Left) != 1 || !strings.HasSuffix(r.Left[0].Ref, "/nonsense") || r.IsWhole() {
		t.Errorf("left: %+v", r)
	}
	if now := c.remoteGit("rev-parse", ours); now != strange {
		t.Errorf("overwritten with %s", now)
	}
	b := c.other("office")
	for _, one := range b.fetch().Missions {
		if one.State != missions.TransferRejected {
			t.Errorf("what is no mission was fetched: %+v", one)
		}
	}
	if list, err := b.local.Missions(context.Background(), missions.MissionsRequest{Caller: b.caller(), Fetched: true}); err != nil || len(list) > 0 {
		t.Errorf("listed: %+v %v", list, err)
	}
	c.healthy()
	b.healthy()
}

// TestRefusedPush: a remote that takes nothing, and one that is not there, lose nothing, and
// are named.
func TestRefusedPush(t *testing.T) {
	t.Parallel()
	c := startRemote(t)
	c.testBench.mission("work")
	hook := filepath.Join(c.url, "hooks", "pre-receive")
	if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hook, []byte("#!/bin/sh\necho closed today >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	c.wants(c.push(), "work", missions.TransferRejected)
	if err := os.Remove(hook); err != nil {
		t.Fatal(err)
	}
	c.wants(c.push(), "work", missions.TransferNew)
	if err := os.Rename(c.url, c.url+".away"); err != nil {
		t.Fatal(err)
	}
	_, err := c.local.Push(context.Background(), missions.PushRequest{Caller: c.caller()})
	if kindOf(err) != missions.KindFailed || !strings.Contains(err.Error(), "office") {
		t.Errorf("a remote that is not there: %v", err)
	}
	_, err = c.local.Fetch(context.Background(), missions.FetchRequest{Caller: c.caller()})
	if kindOf(err) != missions.KindFailed {
		t.Errorf("a remote that is not there: %v", err)
	}
	c.healthy()
}

// TestRemotesAreNamed: what is wrong about a remote is said, and removing one forgets what
// was fetched from it.
func TestRemotesAreNamed(t *testing.T) {
	t.Parallel()
	c := startRemote(t)
	c.testBench.mission("work")
	c.push()
	ctx := context.Background()
	c.addRemote(c.testBench, "office") // the same one again
	for what, err := range map[string]error{
		"another URL":  second(c.local.AddRemote(ctx, missions.AddRemoteRequest{Caller: c.caller(), Name: "office", URL: "elsewhere:work.git"})),
		"a token":      second(c.local.AddRemote(ctx, missions.AddRemoteRequest{Caller: c.caller(), Name: "x", URL: "https://ghp_" + "9aKc3Zp7Qw1Xr5Tn8Yb2Lm6Vd4Hs0JfGe3Uq@github.com/a/b.git"})),
		"an option":    second(c.local.AddRemote(ctx, missions.AddRemoteRequest{Caller: c.caller(), Name: "x", URL: "--upload-pack=x"})),
		"a bad name":   second(c.local.AddRemote(ctx, missions.AddRemoteRequest{Caller: c.caller(), Name: "a/b", URL: c.url})),
		"no such name": second(c.local.Push(ctx, missions.PushRequest{Caller: c.caller(), Remote: "home"})),
	} {
		if err == nil || missions.AsError(err).Hint == "" {
			t.Errorf("%s: %v", what, err)
		}
	}
	b := c.other("office")
	b.fetch()
	list, err := b.local.Remotes(ctx, missions.RemoteRequest{Caller: b.caller()})
	if err != nil || len(list) != 1 || list[0].URL != c.url || list[0].Project != "work" || len(list[0].Missions) != 1 {
		t.Errorf("remotes: %+v %v", list, err)
	}
	if _, err := b.local.RemoveRemote(ctx, missions.RemoteRequest{Caller: b.caller(), Name: "office"}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.local.Log(ctx, missions.LogRequest{Caller: b.caller(), Mission: "office/work"}); kindOf(err) != missions.KindNotFound {
		t.Errorf("of a removed remote: %v", err)
	}
	b.healthy()
	wrong := newBench(t)
	if _, err := wrong.local.AddRemote(ctx, missions.AddRemoteRequest{Caller: wrong.caller(), Name: "office", URL: c.url, Project: "shop"}); err != nil {
		t.Fatal(err)
	}
	if _, err := wrong.local.Fetch(ctx, missions.FetchRequest{Caller: wrong.caller()}); kindOf(err) != missions.KindNotFound || !strings.Contains(err.Error(), "but work") {
		t.Errorf("another project: %v", err)
	}
}

// TestForkOfAForkIsFetched: where only the fork of a mission was pushed, what it has
// inherited comes along, and is no mission that has lost its ref; nor is it when the remote
// was removed.
func TestForkOfAForkIsFetched(t *testing.T) {
	t.Parallel()
	c := startRemote(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "one\n")
	c.takeTurn("second", "b.txt", "two\n")
	if _, err := c.local.Fork(context.Background(), missions.ForkRequest{Caller: c.caller(), From: c.only().Name, Name: "other"}); err != nil {
		t.Fatal(err)
	}
	c.push("other")
	b := c.other("office")
	c.wants(b.fetch(), "office/other", missions.TransferNew)
	b.healthy()
	if _, err := b.local.Fork(context.Background(), missions.ForkRequest{Caller: b.caller(), From: "office/other@1", Name: "mine"}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.local.RemoveRemote(context.Background(), missions.RemoteRequest{Caller: b.caller(), Name: "office"}); err != nil {
		t.Fatal(err)
	}
	b.healthy()
}

// TestForeignMissionIsChecked: a mission whose record is another's, or says what could lead
// elsewhere on this machine, is refused; its command, configuration and variables are
// nobody's here.
func TestForeignMissionIsChecked(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	made := b.mission("work")
	m, err := b.local.MissionByID(made.ID)
	if err != nil {
		t.Fatal(err)
	}
	read := func(change func(*projects.Stored)) (*projects.Mission, error) {
		t.Helper()
		before, err := m.Project.Store.Record(m.Record)
		if err != nil {
			t.Fatal(err)
		}
		batch := m.Project.Store.NewBatch()
		defer batch.Discard()
		tree, stored := records.NewTree(m.Project.Store, before.Tree), m.Stored
		change(&stored)
		if err := projects.WriteDoc(tree, projects.MissionDoc, stored); err != nil {
			t.Fatal(err)
		}
		next := *before
		if next.Tree, err = tree.Write(batch); err != nil {
			t.Fatal(err)
		}
		id, err := m.Project.Store.WriteRecord(batch, &next)
		if err == nil {
			err = batch.Flush(context.Background())
		}
		if err != nil {
			t.Fatal(err)
		}
		return m.Project.ReadForeignMission("office", m.ID, m.Tip.ID, id)
	}
	for what, change := range map[string]func(*projects.Stored){
		"another's id":       func(s *projects.Stored) { s.ID = otherSession },
		"a name that leads":  func(s *projects.Stored) { s.Name = "../work" },
		"an agent that does": func(s *projects.Stored) { s.Agent = "../claude" },
		"a place outside":    func(s *projects.Stored) { s.Subdir = "../.." },
		"a session's path":   func(s *projects.Stored) { s.Session = "a/b" },
		"a former one's":     func(s *projects.Stored) { s.FormerSessions = []string{"/etc/passwd"} },
		"no state":           func(s *projects.Stored) { s.LifecycleJSON = []byte("{}") },
	} {
		if _, err := read(change); kindOf(err) != missions.KindDamaged {
			t.Errorf("%s: %v", what, err)
		}
	}
	got, err := read(func(s *projects.Stored) {
		s.Command, s.ResumeCommand, s.EnvNames = []string{"rm", "-rf"}, []string{"rm"}, []string{"PATH"}
		s.Config, s.ConfigFixed, s.FirstPrompt = "abc", true, "do it"
	})
	if err != nil || got.Name != "office/work" || len(got.Command)+len(got.ResumeCommand)+len(got.EnvNames) > 0 || got.Config != "" || got.FirstPrompt != "" || got.Binding.Workspace != "" {
		t.Errorf("%+v %v", got, err)
	}
	if err := got.CheckMachine(); kindOf(err) != missions.KindConflict {
		t.Errorf("to be changed: %v", err)
	}
}

// TestSecretsDoNotLeave: what looks like a secret in a file, a conversation, a prompt or a
// message is found before anything is sent, and listed without being shown; what its user
// allows is remembered.
func TestSecretsDoNotLeave(t *testing.T) {
	t.Parallel()
	c := startRemote(t)
	drawn := "9aKc3Zp7Qw1Xr5Tn8Yb2Lm6Vd4Hs0Jf"
	kept := map[string]string{ // by what holds it
		"notes.txt":    "ghp_" + drawn + "Ge3Uq",
		"conversation": "sk-ant-" + drawn,
		"deep/b.env2":  "AKIA" + "Z7QW3XR5TN2YB6LM",
	}
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "notes.txt", "token "+kept["notes.txt"]+"\n")
	c.say(c.line("user", "99999999-0000-4000-8000-000000000001", c.parent, `"it printed `+kept["conversation"]+` there"`))
	c.write("deep/b.env2", strings.Repeat("a line that is none\n", 1<<19)+kept["deep/b.env2"]+"\n")
	c.takeTurn("second", "c.txt", "two\n")
	r := c.push()
	found := map[string]missions.SecretFinding{}
	for _, f := range r.Findings {
		found[f.Path] = f
		if strings.Contains(f.Redacted, drawn[:8]) || f.Places < 1 || f.Mission != c.only().Name || !strings.HasPrefix(f.Moment, f.Mission+"@") {
			t.Errorf("finding %+v", f)
		}
	}
	for where := range kept {
		if found[where].Rule == "" {
			t.Errorf("nothing was found in %s: %+v", where, r.Findings)
		}
	}
	if out := c.remoteGit("for-each-ref"); len(r.Missions) > 0 || r.IsWhole() || out != "" {
		t.Errorf("sent all the same: %+v, %s", r, out)
	}
	var allow []string
	for _, f := range r.Findings {
		allow = append(allow, f.Rule+":"+f.Fingerprint)
	}
	push := missions.PushRequest{Caller: c.caller(), Allow: allow[1:]}
	if r, err := c.local.Push(context.Background(), push); err != nil || len(r.Findings) != 1 {
		t.Errorf("with all but one: %+v %v", r, err)
	}
	push.Allow = allow[:1] // the others are remembered
	if r, err := c.local.Push(context.Background(), push); err != nil || !r.IsWhole() {
		t.Errorf("with all: %+v %v", r, err)
	}
	c.write("notes.txt", "the same "+kept["notes.txt"]+"\n")
	c.snapshot("again")
	if r := c.push(); !r.IsWhole() {
		t.Errorf("what was allowed: %+v", r)
	}
	push.Allow = []string{"github-token"}
	if _, err := c.local.Push(context.Background(), push); kindOf(err) != missions.KindUsage {
		t.Errorf("an exception without a fingerprint: %v", err)
	}
}

// TestExportedMomentGoesOn: a file holds a moment with all before it, and what is imported is
// as if it were fetched: it is forked with its conversation, and a later file goes forward.
func TestExportedMomentGoesOn(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	ctx := context.Background()
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "one\n")
	c.takeTurn("second", "b.txt", "two\n")
	source := c.only()
	file := filepath.Join(t.TempDir(), "mail.umbra")
	export := func(moments ...string) (missions.Transfer, error) {
		return c.local.Export(ctx, missions.ExportRequest{Caller: c.caller(), Moments: moments, File: file})
	}
	if r, err := export(source.Name + "@1"); err != nil || len(r.Missions) != 1 || r.Missions[0].Objects < 4 {
		t.Fatalf("exported: %+v %v", r, err)
	}
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	request := missions.ImportFileRequest{Caller: b.caller(), File: file}
	read := func(want missions.TransferState) {
		t.Helper()
		r, err := b.local.ImportFile(ctx, request)
		if err != nil || r.Remote != "mail" || len(states(r)) != 1 || states(r)["mail/"+source.Name] != want {
			t.Errorf("imported: %+v %v, want %s", r, err, want)
		}
	}
	read(missions.TransferNew)
	read(missions.TransferSame)
	if _, err := b.local.Cat(ctx, missions.CatRequest{Caller: b.caller(), Moment: "mail/" + source.Name, Path: "b.txt"}); kindOf(err) != missions.KindNotFound {
		t.Errorf("what came after the moment: %v", err)
	}
	if _, err := export(source.Name); err != nil {
		t.Fatal(err)
	}
	read(missions.TransferUpdated)
	made, err := b.local.Fork(ctx, missions.ForkRequest{Caller: b.caller(), From: "mail/" + source.Name})
	if err != nil {
		t.Fatal(err)
	}
	said, err := os.ReadFile(made.Missions[0].SessionPath)
	if err != nil || !strings.Contains(string(said), "second") || strings.Contains(string(said), c.dir+"/b.txt") {
		t.Errorf("conversation of the fork: %v\n%s", err, said)
	}
	if _, err := b.local.Push(ctx, missions.PushRequest{Caller: b.caller()}); kindOf(err) != missions.KindNotFound {
		t.Errorf("pushed to a file: %v", err)
	}
	if _, err := export(source.Name, source.Name+"@1"); kindOf(err) != missions.KindUsage {
		t.Errorf("two moments of a mission: %v", err)
	}
	if err := os.WriteFile(file, []byte("no bundle\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := b.local.ImportFile(ctx, request); kindOf(err) != missions.KindUsage {
		t.Errorf("what is no bundle: %v", err)
	}
	b.healthy()
}
