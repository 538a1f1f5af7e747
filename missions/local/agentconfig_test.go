package local

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/shadow"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions"
)

// userFiles writes the user's configuration of Claude Code.
func (b *testBench) userFiles(files map[string]string) {
	b.Helper()
	for name, text := range files {
		file := filepath.Join(b.user, ".claude", name)
		if err := errorsOf(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			b.Fatal(err)
		}
	}
}

func (b *testBench) configIn(agent, commit string) map[string]string {
	b.Helper()
	store, err := shadow.Open(agents.ConfigStoreDir(b.local.Home, agent))
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	id, err := gitstore.ParseID(commit)
	if err != nil {
		b.Fatal(err)
	}
	c, err := store.Commit(id)
	if err != nil {
		b.Fatal(err)
	}
	files := map[string]string{}
	err = store.WalkTree(c.Tree, func(name string, e gitstore.TreeEntry) error {
		if !e.Mode.IsBlob() {
			return nil
		}
		p, err := store.Blob(e.ID)
		files[name] = string(p)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return files
}

// TestConfigVersions: one commit for each change, none without, links followed,
// what is no configuration or too much of it left out, also when many begin at
// once.
func TestConfigVersions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	env := sessions.Environ{Home: b.user}
	keep := func() string {
		id, err := b.local.SaveConfigVersion(context.Background(), "claude", env)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	if id := keep(); id != "" {
		t.Errorf("nothing is version %s", id)
	}
	b.userFiles(map[string]string{
		"CLAUDE.md": "one", "skills/a/SKILL.md": "a", "skills/a/.env": "TOKEN=1", "skills/big": strings.Repeat("x", agents.MaxConfigFileBytes+1),
		".credentials.json": "hush", "projects/p/s.jsonl": "{}", "settings.json": "{broken",
	})
	root := filepath.Join(env.Home, ".claude")
	elsewhere := t.TempDir()
	if err := errorsOf(
		os.WriteFile(filepath.Join(elsewhere, "linked.md"), []byte("linked"), 0o755), os.Symlink(elsewhere, filepath.Join(root, "agents")),
		os.Symlink(root, filepath.Join(elsewhere, "circle")), os.Symlink("nowhere", filepath.Join(elsewhere, "dangling")),
	); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	ids := make([]string, 8)
	for i := range ids {
		all.Go(func() {
			id, err := b.local.SaveConfigVersion(context.Background(), "claude", env)
			if err != nil {
				t.Error(err)
			}
			ids[i] = id
		})
	}
	all.Wait()
	first := ids[0]
	for _, id := range ids {
		if id != first {
			t.Fatalf("versions %v", ids)
		}
	}
	files := b.configIn("claude", first)
	for name, want := range map[string]string{"CLAUDE.md": "one", "skills/a/SKILL.md": "a", "agents/linked.md": "linked"} {
		if files[name] != want {
			t.Errorf("%s is %q", name, files[name])
		}
	}
	for name := range files {
		if strings.Contains(name, ".env") || strings.Contains(name, "projects") || strings.Contains(name, "credentials") || name == "skills/big" || name == "settings.json" {
			t.Errorf("%s was kept", name)
		}
	}
	b.userFiles(map[string]string{"CLAUDE.md": "two"})
	second := keep()
	if second == first || keep() != second {
		t.Errorf("versions %s, %s", first, second)
	}
	for prefix, want := range map[string]string{first[:12]: first, second: second} {
		if got, err := b.local.FindConfigVersion(context.Background(), "claude", prefix); err != nil || got != want {
			t.Errorf("%s: %s, %v", prefix, got, err)
		}
	}
	if _, err := b.local.FindConfigVersion(context.Background(), "claude", "zz"); err == nil || missions.AsError(err).Kind != missions.KindNotFound {
		t.Errorf("no id: %v", err)
	}
	c, err := b.local.ConfigOfVersion(context.Background(), "claude", first, second)
	if err != nil || c == nil {
		t.Fatalf("%v, %v", c, err)
	}
	if p, err := c.Read("CLAUDE.md"); err != nil || string(p) != "one" {
		t.Errorf("read %q, %v", p, err)
	}
	if len(c.Executable) != 1 || !c.Executable["agents/linked.md"] {
		t.Errorf("can be run: %v", c.Executable)
	}
	b.userFiles(map[string]string{"commands/new.md": "new"})
	if c, err := b.local.ConfigOfVersion(context.Background(), "claude", first, keep()); err != nil || !slices.Equal(slices.Sorted(slices.Values(c.Changed)), []string{"CLAUDE.md", "commands/new.md"}) {
		t.Errorf("%+v, %v", c, err)
	}
	script := filepath.Join(elsewhere, "linked.md")
	if err := errorsOf(os.Remove(filepath.Join(root, "commands", "new.md")), os.Chmod(script, 0o644)); err != nil {
		t.Fatal(err)
	}
	if c, err := b.local.ConfigOfVersion(context.Background(), "claude", second, keep()); err != nil || !slices.Equal(c.Changed, []string{"agents/linked.md"}) {
		t.Errorf("not to be run any more: %+v, %v", c, err)
	}
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	// As it was once more: nothing needs to be passed.
	b.userFiles(map[string]string{"CLAUDE.md": "one"})
	if c, err := b.local.ConfigOfVersion(context.Background(), "claude", first, keep()); err != nil || c != nil {
		t.Errorf("%v, %v", c, err)
	}
}

// TestConfigVersionSaysWithout: a version names what was too much of it, as long as it is.
func TestConfigVersionSaysWithout(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.userFiles(map[string]string{"CLAUDE.md": "one", "rules/late.md": "late"})
	big := filepath.Join(b.user, ".claude", "skills", "big\x1b")
	keep := func() (id, message string) {
		id, err := b.local.SaveConfigVersion(context.Background(), "claude", sessions.Environ{Home: b.user})
		if err != nil {
			t.Fatal(err)
		}
		if files := b.configIn("claude", id); len(files) != 2 || files["rules/late.md"] != "late" {
			t.Errorf("kept: %v", files)
		}
		store, err := shadow.Open(agents.ConfigStoreDir(b.local.Home, "claude"))
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		c, err := agents.NewestConfigVersion(store, agents.ConfigRef("claude", filepath.Dir(filepath.Dir(big))))
		if err != nil || c.ID.String() != id {
			t.Fatalf("%v, %v", c, err)
		}
		return id, c.Message
	}
	first, before := keep()
	for i := range agents.MaxConfigBytes>>20 + 1 {
		name := filepath.Join(big, fmt.Sprint(i))
		if err := errorsOf(os.MkdirAll(big, 0o755), os.WriteFile(name, nil, 0o644), os.Truncate(name, agents.MaxConfigFileBytes)); err != nil {
			t.Fatal(err)
		}
	}
	second, message := keep()
	if want := before + "\nwithout \"skills/big\\x1b\": " + agents.ErrConfigTooLarge.Error() + "\n"; second == first || message != want {
		t.Errorf("%q, not %q", message, want)
	}
	if again, _ := keep(); again != second {
		t.Error("another version, though nothing has changed")
	}
	if c, err := b.local.ConfigOfVersion(context.Background(), "claude", first, second); err != nil || c != nil {
		t.Errorf("what is kept is the same: %+v, %v", c, err)
	}
	if err := os.RemoveAll(big); err != nil {
		t.Fatal(err)
	}
	if _, message := keep(); message != before {
		t.Errorf("when it is gone: %q", message)
	}
}

// TestAdoptedConfig: a session that was started by hand has its version too, in
// the record after it was made.
func TestAdoptedConfig(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "zero\n")
	b.userFiles(map[string]string{"CLAUDE.md": "one"})
	c := newTalker(b)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	b.local.Workers.Wait()
	c.takeTurn("do it", "a.txt", "one\n")
	if err := b.local.Close(); err != nil {
		t.Fatal(err)
	}
	after := b.again()
	list, err := after.local.Missions(context.Background(), missions.MissionsRequest{Caller: b.caller()})
	if err != nil || len(list) != 1 || list[0].Config == "" {
		t.Fatalf("%+v, %v", list, err)
	}
	m, err := after.local.MissionByID(list[0].ID)
	if err != nil || m.Stored.Config != list[0].Config || m.Live.ConfigCommit != "" {
		t.Errorf("stored %q, live %q, %v", m.Stored.Config, m.Live.ConfigCommit, err)
	}
	if files := after.configIn("claude", list[0].Config); files["CLAUDE.md"] != "one" {
		t.Errorf("%v", files)
	}
}

// TestConfigOfEachAgent: each agent's configuration is kept from where that agent
// reads it, without credentials, sessions and what settings hold of secrets.
func TestConfigOfEachAgent(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	home := t.TempDir()
	env := sessions.Environ{Home: home, Vars: map[string]string{"HOME": home, "XDG_CONFIG_HOME": filepath.Join(home, "conf")}}
	for agent, want := range map[string]map[string]string{
		"gemini": {
			".gemini/settings.json": `{"mcpServers":{"s":{"url":"https://x/?key="}},"ui":{"theme":"dark"}}`, ".gemini/GEMINI.md": "be brief",
			".gemini/commands/a/b.toml": "prompt = \"x\"", ".gemini/oauth_creds.json": "-", ".gemini/tmp/p/chats/session.jsonl": "-", ".gemini/projects.json": "-",
		},
		"opencode": {
			"conf/opencode/opencode.json": `{"provider":{"p":{"options":{"apiKey":"hush"}}},"model":"m"}`, "conf/opencode/AGENTS.md": "be brief",
			"conf/opencode/agents/a.md": "agent", "conf/opencode/command/c.md": "command", "conf/opencode/node_modules/x/y.js": "-", ".local/share/opencode/auth.json": "-",
		},
		"codex": {".codex/AGENTS.md": "be brief", ".codex/skills/s/SKILL.md": "skill", ".codex/auth.json": "-", ".codex/config.toml": "[mcp_servers]\n[mcp_servers.s]\ncommand = 'hush'\n", ".codex/sessions/x.jsonl": "-"},
	} {
		for name, text := range want {
			file := filepath.Join(home, name)
			if err := errorsOf(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		id, err := b.local.SaveConfigVersion(context.Background(), agent, env)
		if err != nil || id == "" {
			t.Errorf("%s: version %q, %v", agent, id, err)
			continue
		}
		root := b.local.Adapter(agent).(sessions.Configured).ConfigRoot(env)
		kept := b.configIn(agent, id)
		for name, text := range want {
			below, _ := filepath.Rel(root, filepath.Join(home, name))
			got, ok := kept[below]
			delete(kept, below)
			text = strings.NewReplacer("https://x/?key=", "", "hush", "").Replace(text)
			if ok != (text != "-") || ok && got != text {
				t.Errorf("%s: of %s is kept %q", agent, name, got)
			}
		}
		if len(kept) > 0 {
			t.Errorf("%s: kept too: %q", agent, kept)
		}
	}
}

// TestDoctorOfConfigs: versions that are damaged are said, and set aside.
func TestDoctorOfConfigs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	b.write("a.txt", "zero\n")
	b.mission("work")
	b.userFiles(map[string]string{"CLAUDE.md": "one"})
	env := sessions.Environ{Home: b.user}
	first, err := b.local.SaveConfigVersion(context.Background(), "claude", env)
	if err != nil {
		t.Fatal(err)
	}
	b.healthy()
	objects, err := filepath.Glob(filepath.Join(agents.ConfigStoreDir(b.local.Home, "claude"), "objects", "??", "*"))
	if err != nil || len(objects) == 0 {
		t.Fatal(objects, err)
	}
	for _, file := range objects {
		if err := errorsOf(os.Chmod(file, 0o600), os.WriteFile(file, []byte("rot"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	r, err := b.local.Doctor(context.Background(), missions.DoctorRequest{})
	if err != nil || len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Message, "configuration of claude") {
		t.Errorf("%+v, %v", r.Problems, err)
	}
	r, err = b.local.Doctor(context.Background(), missions.DoctorRequest{Fix: true})
	if err != nil || len(r.Problems) != 0 || len(r.Fixed) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	b.healthy()
	if again, err := b.local.SaveConfigVersion(context.Background(), "claude", env); err != nil || again == "" || first == "" {
		t.Errorf("%s, %v", again, err)
	}
	b.healthy()
}

// TestConfigsOfTheKilled: what killed processes leave of and in a repository of
// versions is removed or mended, by doctor and at a start, and no version is lost.
func TestConfigsOfTheKilled(t *testing.T) {
	t.Parallel()
	for name, mend := range map[string]func(*testBench) error{
		"by doctor": func(b *testBench) error {
			r, err := b.local.Doctor(context.Background(), missions.DoctorRequest{})
			if err != nil || len(r.Problems) != 2 {
				b.Errorf("doctor finds %+v, %v", r.Problems, err)
			}
			_, err = b.local.Doctor(context.Background(), missions.DoctorRequest{Fix: true})
			return err
		},
		"at a start": func(b *testBench) error { return b.local.Sweep(context.Background()) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.local.Adapters = projects.Agents()
			b.write("a.txt", "zero\n")
			b.mission("work")
			env := sessions.Environ{Home: b.user}
			var versions []string
			for _, text := range []string{"one", "two"} {
				b.userFiles(map[string]string{"CLAUDE.md": text})
				id, err := b.local.SaveConfigVersion(context.Background(), "claude", env)
				if err != nil {
					t.Fatal(err)
				}
				versions = append(versions, id)
			}
			b.healthy()
			store := agents.ConfigStoreDir(b.local.Home, "claude")
			out, err := exec.Command("git", "--git-dir", store, "repack", "-adq").CombinedOutput()
			indexes, _ := filepath.Glob(filepath.Join(store, "objects", "pack", "*.idx"))
			if err != nil || len(indexes) != 1 {
				t.Fatalf("%v %s, %v", err, out, indexes)
			}
			temporary := filepath.Join(store, "objects", "pack", "tmp_pack_1")
			unmade := filepath.Join(filepath.Dir(store), "tmp_claude.git_1")
			long := time.Now().Add(-48 * time.Hour)
			pack := strings.TrimSuffix(indexes[0], ".idx") + ".pack"
			err = errorsOf(
				os.Chmod(indexes[0], 0o600), os.Remove(indexes[0]), os.Chtimes(pack, long, long),
				os.WriteFile(temporary, nil, 0o600), os.Chtimes(temporary, long, long), os.MkdirAll(filepath.Join(unmade, "refs"), 0o700),
			)
			if err != nil {
				t.Fatal(err)
			}
			if err := mend(b); err != nil {
				t.Error(err)
			}
			b.healthy()
			there, err := os.ReadDir(filepath.Dir(store))
			if err != nil || len(there) != 1 {
				t.Errorf("beside the versions there are %v, %v", there, err)
			}
			if _, err := os.Lstat(temporary); !os.IsNotExist(err) {
				t.Errorf("a temporary file is there: %v", err)
			}
			for i, text := range []string{"one", "two"} {
				if is := b.configIn("claude", versions[i])["CLAUDE.md"]; is != text {
					t.Errorf("version %d is %q", i, is)
				}
			}
		})
	}
}

// TestNoSecretInConfigs: what looks like a secret is in no file that is kept of any
// agent's configuration, whatever kind of file, and all else of it is; a version made
// again is the same.
func TestNoSecretInConfigs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.local.Adapters = projects.Agents()
	home := t.TempDir()
	env := sessions.Environ{Home: home, Vars: map[string]string{"HOME": home}}
	secret := strings.Repeat("a7Kq2Zx9", 5)
	for name, text := range map[string]string{
		".claude/CLAUDE.md":                    "# Mine\nexport ANTHROPIC_API_KEY=sk-ant-" + secret + "\n",
		".claude/settings.json":                `{"statusLine":{"command":"echo\nghp_` + secret + `"}, "ghp_` + secret + `": 1}`,
		".claude/hooks/a.sh":                   "curl -H 'Authorization: Bearer " + secret + "' https://me:" + secret + "@host\n",
		".claude/skills/s/data.json":           `{"args": ["--token", "` + secret + `"], "x": "\ngithub_pat_` + secret + `"}`,
		".codex/config.toml":                   "notify = [\"curl\", \"a\\nghp_" + secret + "\"]\n[\"https://me:" + secret + "@host\"]\na = 1\n",
		".codex/AGENTS.md":                     "key: `" + secret + "`\n",
		".gemini/commands/c.toml":              "prompt = \"use --password " + secret + "\"\n",
		".gemini/settings.json":                `{"ui":{"footer":"xoxb-` + secret + `"}}`,
		".config/opencode/opencode.json":       `{"command":{"c":{"template":"AIza` + secret[:35] + `"}}}`,
		".config/opencode/plugin/p.ts":         `const apiKey = "` + secret + `"`,
		".config/opencode/agent/deep/agent.md": "---\ntoken: " + secret + "\n---\n",
	} {
		file := filepath.Join(home, name)
		if err := errorsOf(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for agent, count := range map[string]int{"claude": 4, "codex": 2, "gemini": 2, "opencode": 3} {
		id, err := b.local.SaveConfigVersion(context.Background(), agent, env)
		if again, aerr := b.local.SaveConfigVersion(context.Background(), agent, env); err != nil || aerr != nil || again != id {
			t.Fatalf("%s: version %s, then %s: %v, %v", agent, id, again, err, aerr)
		}
		kept := b.configIn(agent, id)
		for name, text := range kept {
			if !strings.Contains(text, "[umbra-left-out:") {
				t.Errorf("%s: nothing is left out of %s: %s", agent, name, text)
			}
		}
		if len(kept) != count {
			t.Errorf("%s: %d files are kept", agent, len(kept))
		}
	}
	if places := b.stored(secret); len(places) > 0 {
		t.Errorf("a secret is in %q", places)
	}
}
