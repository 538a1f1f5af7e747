package local

import (
	"bytes"
	"compress/zlib"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/documents"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/scripts/hazards"
)

// stored tells where in Umbra's home a text is: in a file, or in an object of a
// shadow repository, packed or not.
func (b *testBench) stored(text string) (places []string) {
	b.Helper()
	err := filepath.WalkDir(b.home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && strings.HasSuffix(path, ".git") {
			all, err := hazards.Git(path, "cat-file", "--batch-all-objects", "--batch")
			if err != nil {
				b.Fatalf("%v\n%.500s", err, all)
			}
			if strings.Contains(all, text) {
				places = append(places, "an object of "+path)
			}
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, []byte(text)) || bytes.Contains(inflated(content), []byte(text)) {
			places = append(places, path)
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return places
}

func inflated(content []byte) []byte {
	z, err := zlib.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil
	}
	out, _ := io.ReadAll(z)
	return out
}

// TestHookEnvironmentIsNotStored: agents give their hooks tokens, and users have
// keys in their shells.
func TestHookEnvironmentIsNotStored(t *testing.T) {
	const token = "s3cret-7f1e-token"
	c := startTalker(t)
	c.vars = map[string]string{
		"CLAUDE_CODE_MESSAGING_TOKEN": token, "ANTHROPIC_API_KEY": token, "AWS_SECRET_ACCESS_KEY": token, "GITHUB_TOKEN": token,
		"CLAUDE_CODE_ENTRYPOINT": "cli",
	}
	t.Setenv("OPENAI_API_KEY", token)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("the prompt that is kept", "a.txt", "one\n")
	caller := c.caller()
	caller.Env["ANTHROPIC_API_KEY"] = token
	_, err := c.local.NewMission(context.Background(), missions.NewMissionRequest{Caller: caller, Name: "other", Command: []string{"sh"}, EnvNames: []string{"ANTHROPIC_API_KEY"}})
	if err != nil {
		t.Fatal(err)
	}
	talked := c.missionBeside("other")
	c.restore(talked+"@start", func(r *missions.RestoreRequest) { r.Mission, r.All, r.Force = talked, true, true })
	if len(c.stored("the prompt that is kept")) == 0 {
		t.Error("what is stored is not found: this test shows nothing")
	}
	if places := c.stored(token); len(places) > 0 {
		t.Errorf("a value of the environment is in %q", places)
	}
}

// missionBeside is the name of the mission that is not the other.
func (b *testBench) missionBeside(other string) string {
	b.Helper()
	list, err := b.local.Missions(context.Background(), missions.MissionsRequest{Caller: b.caller()})
	if err != nil {
		b.Fatal(err)
	}
	for _, m := range list {
		if m.Name != other {
			return m.Name
		}
	}
	b.Fatal("there is no other mission")
	return ""
}

// TestSecretsAreLeftOut with their reason, unless the user's repository tracks
// them, and stay where they are through a restore.
func TestSecretsAreLeftOut(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-hunter2"
	b := newBench(t)
	b.git("init", "-q")
	b.write(".env.example", "KEY=\n")
	b.write("tracked.pem", "tracked "+secret[:3]+"\n")
	b.git("add", "-f", "tracked.pem")
	names := []string{
		".env", ".env.local", "deploy.pem", "server.key", "id_ed25519", "ID_RSA", ".netrc", ".git-credentials",
		"credentials.json", ".credentials.json", "oauth_creds.json", "sessions/4711.ab12.key", "deep/down/.pgpass",
	}
	for _, name := range names {
		b.write(name, secret)
	}
	b.mission("work")
	shown, err := b.local.Show(context.Background(), missions.ShowRequest{Caller: b.caller(), Moment: "work"})
	if err != nil {
		t.Fatal(err)
	}
	skipped := map[string]string{}
	for _, s := range shown.Skipped {
		skipped[s.Path] = string(s.Reason)
	}
	for _, name := range names {
		if skipped[name] != string(documents.ReasonSecret) {
			t.Errorf("%s is skipped as %q", name, skipped[name])
		}
	}
	if len(skipped) != len(names) || b.cat("work", ".env.example") != "KEY=\n" || !strings.HasPrefix(b.cat("work", "tracked.pem"), "tracked") {
		t.Errorf("skipped %v", skipped)
	}
	if places := b.stored(secret); len(places) > 0 {
		t.Errorf("a secret is in %q", places)
	}
	b.write("a.txt", "new\n")
	b.snapshot("new")
	b.restore("work@start")
	for _, name := range names {
		if b.read(name) != secret {
			t.Errorf("%s was touched by a restore", name)
		}
	}
}

// TestConversationsAreClosedToOthers: what Umbra writes of a conversation can be
// read by its owner alone.
func TestConversationsAreClosedToOthers(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("first", "a.txt", "one\n")
	c.takeTurn("second", "a.txt", "two\n")
	c.restore("@1")
	forked, err := c.local.Fork(context.Background(), missions.ForkRequest{Caller: c.caller(), Name: "forked"})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{c.missionBeside("forked"), "forked"} {
		m, err := c.local.Mission(context.Background(), missions.MissionRequest{Caller: c.caller(), Name: file})
		if err != nil || m.SessionPath == "" {
			t.Fatalf("%+v %v", m, err)
		}
		info, err := os.Stat(m.SessionPath)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s of %s: %v %v", m.SessionPath, file, info.Mode(), err)
		}
	}
	if len(forked.Missions) != 1 {
		t.Errorf("%+v", forked)
	}
}
