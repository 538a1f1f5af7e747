package local

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/missions"
)

// found is what a search finds, newest first, all pages of a few hits: where and what.
func (c *talker) found(r missions.SearchRequest) (list []string) {
	c.Helper()
	r.Caller, r.Limit = c.caller(), 2
	for {
		result, err := c.local.Search(context.Background(), r)
		if err != nil {
			c.Fatal(err)
		}
		for _, hit := range result.Hits {
			if show, err := c.local.Show(context.Background(), missions.ShowRequest{Caller: c.caller(), Moment: hit.Address, Brief: true}); !hit.Removed && (err != nil || show.Entry.ID != hit.Snapshot) {
				c.Errorf("%s is %+v, %v; want %s", hit.Address, show.Entry.ID, err, hit.Snapshot)
			}
			_, address, _ := strings.Cut(hit.Address, "@")
			list = append(list, strings.TrimSpace(fmt.Sprintf("%s@%s %s: %s %s", hit.Mission, address, hit.In, hit.Text, hit.Exit)))
		}
		if !result.More || len(result.Hits) == 0 {
			return list
		}
		r.After = &result.Hits[len(result.Hits)-1]
	}
}

func (c *talker) wantFound(query string, want ...string) {
	c.Helper()
	c.wantFoundBy(missions.SearchRequest{Query: query}, want...)
}

func (c *talker) wantFoundBy(r missions.SearchRequest, want ...string) {
	c.Helper()
	if got := c.found(r); !slices.Equal(got, want) {
		c.Errorf("%+v:\n%s\nwant\n%s", r, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// rename gives the only mission of the bench a name.
func (c *talker) named(name string) missions.Mission {
	c.Helper()
	list, err := c.local.Missions(context.Background(), missions.MissionsRequest{Caller: c.caller()})
	if err != nil || len(list) != 1 {
		c.Fatalf("%+v %v", list, err)
	}
	m, err := c.local.Rename(context.Background(), missions.RenameRequest{Caller: c.caller(), Mission: list[0].Name, Name: name})
	if err != nil {
		c.Fatal(err)
	}
	return m
}

// TestSearch finds what was said and done in turns, whatever became of them since.
func TestSearch(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("add an audit log", "a.txt", "one\n")
	c.named("login")
	c.takeTurn("use a Database for it", "src/data.txt", "the database\n")
	c.turn++
	c.hook("UserPromptSubmit", map[string]any{"prompt": "test it", "prompt_id": "p3"})
	c.say(
		c.line("user", "u1", c.parent, `"test it"`),
		c.line("assistant", "u2", "u1", `[{"type":"tool_use","id":"t9","name":"Bash","input":{"command":"cd src &&\ngo test -run Audit ./...","description":"Run the slow checks"}}]`),
		c.line("user", "u3", "u2", `[{"type":"tool_result","tool_use_id":"t9","is_error":true,"content":"Exit code 3\nFAIL"}]`),
		fmt.Sprintf(`{"type":"attachment","uuid":"u4","parentUuid":"u3","timestamp":"2026-01-01T00:00:03.500Z","cwd":%q,"sessionId":%q,"attachment":{"type":"queued_command","prompt":"and the audits of old","commandMode":"prompt"}}`, c.dir, c.session),
		c.line("assistant", "u5", "u4", `[{"type":"text","text":"It failed.\nAudit tests are red: \"42\"."}]`),
	)
	c.parent = "u5"
	c.hook("Stop", map[string]any{"prompt_id": "p3", "last_assistant_message": "It failed."})

	c.wantFound("AUDIT", "login@3 prompts: and the audits of old", "login@3 answers: Audit tests are red: \"42\".", "login@3 commands: Bash: go test -run Audit ./... 3", "login@1.0 prompts: add an audit log")
	c.wantFound("audit log", "login@1.0 prompts: add an audit log")
	c.wantFound(`"Database" use`, "login@2.0 prompts: use a Database for it")
	c.wantFound(`"database"`)
	c.wantFound("data.txt", "login@2 paths: src/data.txt", "login@2 tools: Write: "+c.dir+"/src/data.txt")
	c.wantFoundBy(missions.SearchRequest{Query: "database", In: []missions.SearchPlace{missions.SearchFiles}}, "login@2 files: the database")
	c.wantFoundBy(missions.SearchRequest{Query: "audit", In: []missions.SearchPlace{missions.SearchTools}}, "login@3 commands: Bash: go test -run Audit ./... 3")
	c.wantFound(`"slow checks"`, "login@3 commands: Bash: Run the slow checks 3")
	c.wantFoundBy(missions.SearchRequest{Query: "exit 3"}, "login@3 commands: Bash: exit 3 3")
	c.wantFound("fail", "login@3 answers: It failed.")
	c.wantFoundBy(missions.SearchRequest{Query: "fail", In: []missions.SearchPlace{missions.SearchOutput}}, "login@3 output: Bash: FAIL 3")
	c.wantFoundBy(missions.SearchRequest{Query: "audit", Agent: "codex"})
	c.wantFoundBy(missions.SearchRequest{Query: "audit", Since: "2027-01-01"})

	// What a restore took back is there, and a fork shares what was said before it.
	if _, err := c.local.Restore(context.Background(), missions.RestoreRequest{Caller: c.caller(), Moment: "login@1"}); err != nil {
		t.Fatal(err)
	}
	c.wantFound("database", "login@2.0 prompts: use a Database for it")
	f := c.forkTalker("other")
	f.takeTurn("audit the fork", "b.txt", "b\n")
	c.wantFoundBy(missions.SearchRequest{Query: "audit", In: []missions.SearchPlace{missions.SearchPrompts}},
		"other@4.0 prompts: audit the fork", "login@3 prompts: and the audits of old", "login@1.0 prompts: add an audit log")
	c.wantFoundBy(missions.SearchRequest{Query: "audit", Mission: "other"}, "other@4.0 prompts: audit the fork")

	// In the trash too.
	if _, err := c.local.Remove(context.Background(), missions.RemoveRequest{Caller: c.caller(), Missions: []string{"other"}, Force: true}); err != nil {
		t.Fatal(err)
	}
	c.wantFoundBy(missions.SearchRequest{Query: "audit", Mission: "other"}, "other@4.0 prompts: audit the fork")
}

// TestSearchOutput: what a call gave back is found where it is asked for, at the first moment
// that has it and not at that of the call.
func TestSearchOutput(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("begin", "a.txt", "one\n")
	c.named("login")
	c.hook("UserPromptSubmit", map[string]any{"prompt": "test it"})
	c.say(
		c.line("user", "u1", c.parent, `"test it"`),
		c.line("assistant", "u2", "u1", `[{"type":"tool_use","id":"t9","name":"Bash","input":{"command":"make"}}]`),
	)
	c.write("b.txt", "two\n")
	if _, err := c.local.Snapshot(context.Background(), missions.SnapshotRequest{Caller: c.caller(), Message: "it runs"}); err != nil {
		t.Fatal(err)
	}
	c.say(
		c.line("user", "u3", "u2", `[{"type":"tool_result","tool_use_id":"t9","content":[{"type":"text","text":"compiling\nno rule for gizmo, token ghp_`+drawn+`"}]}]`),
		c.line("assistant", "u5", "u3", `[{"type":"text","text":"It failed."}]`),
	)
	c.hook("Stop", map[string]any{"last_assistant_message": "It failed."})
	c.wantFound("make", "login@2.1 commands: Bash: make")
	c.wantFound("gizmo")
	c.wantFoundBy(missions.SearchRequest{Query: "gizmo", In: []missions.SearchPlace{missions.SearchOutput}}, "login@2 output: Bash: no rule for gizmo, token [umbra-left-out:github-token]")
}

// TestSearchKeepsSecrets: a hit shows no secret, though it is found by it.
func TestSearchKeepsSecrets(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.hook("SessionStart", map[string]any{"source": "startup"})
	secret := "ghp_" + drawn
	c.takeTurn("push it with "+secret, "a.txt", "one\n")
	c.named("login")
	for _, hit := range c.found(missions.SearchRequest{Query: "push"}) {
		if strings.Contains(hit, secret) || !strings.Contains(hit, "push it with") {
			t.Errorf("found %s", hit)
		}
	}
	if n := len(c.found(missions.SearchRequest{Query: secret})); n != 1 {
		t.Errorf("%d hits", n)
	}
	// A line of a key is known for one by the lines around it alone.
	body := strings.Repeat("MIIEpAIBAAKCAQEAqfAabcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJ\n", 6)
	c.takeTurn("make a key", "notes.txt", "-----BEGIN RSA PRIVATE KEY-----\n"+body+"-----END RSA PRIVATE KEY-----\n")
	hits := c.found(missions.SearchRequest{Query: "miiepaibaa", In: []missions.SearchPlace{missions.SearchFiles}})
	if len(hits) != 1 || strings.Contains(hits[0], "MIIEpAIBAA") {
		t.Errorf("found %q", hits)
	}
}

// TestSearchBesideADamagedObject: a file that can't be read hides no other one.
func TestSearchBesideADamagedObject(t *testing.T) {
	t.Parallel()
	c := startTalker(t)
	c.write("a1.txt", "needle one\n")
	c.write("a2.txt", "needle two\n")
	c.write("b.txt", "needle three\n")
	c.hook("SessionStart", map[string]any{"source": "startup"})
	c.takeTurn("go on", "c.txt", "c\n")
	m := c.named("login")
	for _, lost := range []string{"needle one\n", "needle two\n"} {
		id, err := gitstore.HashBlob(strings.NewReader(lost), int64(len(lost)))
		if err != nil {
			t.Fatal(err)
		}
		c.loseObject(m, id.String())
	}
	told := 0
	ctx := missions.WithNotify(context.Background(), func(n missions.Notice) {
		if strings.Contains(n.Text, "can't be searched whole") {
			told++
		}
	})
	result, err := c.local.Search(ctx, missions.SearchRequest{Caller: c.caller(), Query: "needle", In: []missions.SearchPlace{missions.SearchFiles}})
	if err != nil || len(result.Hits) != 1 || result.Hits[0].Path != "b.txt" || told != 1 {
		t.Errorf("%+v, %v, told %d times", result.Hits, err, told)
	}
}
